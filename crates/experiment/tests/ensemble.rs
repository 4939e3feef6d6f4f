//! The mean of several models, against the predictions of each.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{dataset, experiment, parse};
use headlight_experiment::{Ensemble, FusedEngine, Predictions, Predictor};

#[test]
fn the_mean_is_that_of_the_members() {
    for n_classes in [2, 3] {
        let rule = "data.rule={kind=\"count\", token=1}";
        let classes = format!("data.n_classes={n_classes}");
        let of = |seed: u64| {
            let seed = format!("seed={seed}");
            experiment(parse(&[rule, &classes, &seed]).unwrap(), &[])
        };
        let experiments = [of(1), of(2), of(3)];
        let samples = dataset(&[true, false, true, false, true]);
        let chosen = [4, 0, 2, 1];
        let mut each = Vec::new();
        for experiment in &experiments {
            let mut found = Predictions::default();
            let mut engine = FusedEngine::new(experiment).unwrap();
            engine.predict(&samples, &chosen, &mut found);
            each.push(found);
        }
        let mut ensemble = Ensemble::default();
        for experiment in &experiments {
            ensemble.add(&mut FusedEngine::new(experiment).unwrap(), &samples);
        }
        let mut found = Predictions::default();
        ensemble.predict(&samples, &chosen, &mut found);

        let mean = |values: fn(&Predictions) -> &Vec<f64>| -> Vec<f64> {
            let count = values(&each[0]).len();
            let sum = |index: usize| each.iter().map(|own| values(own)[index]).sum::<f64>();
            (0..count).map(|index| sum(index) / 3.0).collect()
        };
        let close = |ours: &[f64], theirs: &[f64]| {
            assert_eq!(ours.len(), theirs.len());
            let pairs = ours.iter().zip(theirs);
            assert!(
                pairs.clone().all(|(a, b)| (a - b).abs() < 1e-6),
                "{ours:?} {theirs:?}"
            );
        };
        close(&found.probabilities, &mean(|own| &own.probabilities));
        let logits: Vec<f64> = match n_classes {
            2 => found
                .probabilities
                .iter()
                .map(|p| (p / (1.0 - p)).ln())
                .collect(),
            _ => found.probabilities.iter().map(|p| p.ln()).collect(),
        };
        close(&found.logits, &logits);
    }
}
