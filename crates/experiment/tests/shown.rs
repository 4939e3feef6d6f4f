//! The position whose attention is shown, and predictions with interventions.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

mod common;

use common::{experiment, parse};
use headlight_data::{ClsPlace, Dataset};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Intervention;
use headlight_experiment::{Changed, Predictions, Predictor};

fn config(changes: &[&str]) -> ExperimentConfig {
    parse(changes).unwrap()
}

#[test]
fn padding_is_not_shown_for_the_mean() {
    let (none, mean) = ("data.cls=none", "model.pooling=mean");
    let padding = "model.attention.padding_token=8";
    let last = config(&[none, "model.pooling=last", padding]);
    assert!(!last.reads_mean() && last.mean_note().is_none());
    assert_eq!(
        (last.shown_position(&[1, 2, 8]), &*last.shown_reader()),
        (2, "position 2")
    );
    let padded = config(&[none, mean, padding]);
    assert!(padded.reads_mean() && padded.mean_note().is_some());
    assert_eq!(padded.shown_position(&[1, 2, 8]), 1);
    assert_eq!(padded.shown_position(&[1, 2, 3]), 2);
    assert_eq!(padded.shown_position(&[8, 8, 8]), 2);
    assert_eq!(padded.shown_reader(), "the last token");
    let unpadded = config(&[none, mean]);
    assert_eq!(
        (
            unpadded.shown_position(&[1, 2, 8]),
            &*unpadded.shown_reader()
        ),
        (2, "position 2")
    );
    let with_cls = config(&[mean, padding]);
    assert_eq!(
        (
            with_cls.shown_position(&[0, 1, 8, 8]),
            &*with_cls.shown_reader()
        ),
        (0, "[CLS]")
    );
}

#[test]
fn predictions_with_interventions_are_those_of_each_sample() {
    let changes = [
        "data.n_classes=3",
        "data.rule={ kind = \"count\", token = 7 }",
    ];
    let experiment = experiment(config(&changes), &[]);
    let mut samples = Dataset::empty(3, ClsPlace::First);
    samples.push(&[0, 7, 2, 3], 1);
    samples.push(&[0, 4, 5, 6], 0);
    samples.push(&[0, 7, 7, 1], 2);
    let predicted = |dataset: &Dataset, chosen: &[u32], interventions: &[Intervention]| {
        let start = &experiment.start;
        let mut changed = Changed::new(&experiment.config, start, dataset, interventions).unwrap();
        let mut predictions = Predictions::default();
        changed.predict(dataset, chosen, &mut predictions);
        predictions
    };
    let whole = predicted(&samples, &[2, 0], &[]);
    for (place, sample) in [2, 0].into_iter().enumerate() {
        let mut alone = Dataset::empty(3, ClsPlace::First);
        alone.push(samples.tokens(sample), samples.label(sample));
        let own = predicted(&alone, &[0], &[]);
        assert_eq!(whole.logits[3 * place..][..3], own.logits);
        assert_eq!(whole.probabilities[3 * place..][..3], own.probabilities);
        assert_eq!(whole.losses[place], own.losses[0]);
        assert_eq!(whole.attention[4 * place..][..4], own.attention);
    }
    let without = [Intervention::RemoveHead { layer: 0, head: 0 }];
    assert_ne!(predicted(&samples, &[2, 0], &without).logits, whole.logits);
}
