//! Predictions with interventions.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use crate::common::{experiment, parse};
use headlight_analysis::ModelWithInterventions;
use headlight_data::{ClsPlace, Dataset};
use headlight_experiment::evaluate::predict_each;
use headlight_experiment::fused::Intervention;
use headlight_experiment::{Error, Predictions, Predictor};

#[test]
fn predictions_with_interventions_are_those_of_each_sample() {
    let changes = [
        "data.n_classes=3",
        "data.rule={ kind = \"count\", token = 7 }",
    ];
    let experiment = experiment(parse(&changes).unwrap(), &[]);
    let mut samples = Dataset::empty(3, ClsPlace::First);
    samples.push(&[0, 7, 2, 3], 1);
    samples.push(&[0, 4, 5, 6], 0);
    samples.push(&[0, 7, 7, 1], 2);
    let predicted = |dataset: &Dataset, chosen: &[u32], interventions: &[Intervention]| {
        let start = &experiment.start;
        let mut changed =
            ModelWithInterventions::new(&experiment.config, start, dataset, interventions).unwrap();
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
    let start = &experiment.start;
    let mut model = ModelWithInterventions::new(&experiment.config, start, &samples, &[]).unwrap();
    let mut logits = Vec::new();
    predict_each(&mut model, &samples, |found| {
        logits.extend_from_slice(found.logits);
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(logits, predicted(&samples, &[0, 1, 2], &[]).logits);
    let without = [Intervention::AblateHead { layer: 0, head: 0 }];
    assert_ne!(predicted(&samples, &[2, 0], &without).logits, whole.logits);
}
