//! The numbers that are compared with a reference run, before and after training.

use headlight_data::{Batches, Dataset};
use headlight_dump::Array;
use headlight_experiment::{Engine, Predictions};

use super::compare::{Bound, Comparison, compare};
use super::run::Reference;
use crate::Failure;
use crate::sessions::dumping::{Model, Origin, dump};
use crate::sessions::session::Session;

/// Compares the forward pass with the recorded weights, and the engine's gradient of the first batch.
///
/// # Errors
/// When the recorded weights do not match the config, or this build has no Burn.
pub fn compare_at_start(
    reference: &Reference,
    session: &Session,
    engine: &mut dyn Engine,
) -> Result<Vec<Comparison>, Failure> {
    let (config, train) = (&session.experiment.config, &session.experiment.splits.train);
    let indices = reference.samples.iter().map(|&sample| sample as usize);
    let samples = session.shown_samples(indices.collect());
    let mut comparisons = Vec::new();
    let initial = (&reference.initial, &reference.initial_forward);
    let trained = (&reference.trained, &reference.trained_forward);
    for (weights, (parameters, recorded)) in
        [("initial weights", initial), ("final weights", trained)]
    {
        let model = Model { config, parameters };
        let ours = dump(model, &samples, Origin::default(), &session.device)?;
        let mut forward = |what: &str, ours: &[f32], theirs: &[f32], bound: Bound| {
            let what = format!("{what}, {weights}");
            comparisons.push(compare("forward", what, ours, theirs, bound));
        };
        let (scores, weights) = (&ours.arrays[Array::Scores], &ours.arrays[Array::Weights]);
        forward("attention scores", scores, &recorded.scores, Bound::SCORES);
        forward(
            "attention weights",
            weights,
            &recorded.weights,
            Bound::WEIGHTS,
        );
        forward(
            "context",
            &ours.arrays[Array::Context],
            &recorded.context,
            Bound::CONTEXT,
        );
        forward("logits", &ours.logits, &recorded.logits, Bound::LOGITS);
    }
    let order = &reference.order[0];
    let first = &order[..config.training.batch_size.min(order.len())];
    let gradient = engine.gradient(train, first);
    for (ours, theirs) in gradient.iter().zip(&reference.gradient) {
        let (what, bound) = (theirs.name.clone(), Bound::GRADIENT);
        let (ours, theirs) = (&ours.values, &theirs.values);
        comparisons.push(compare("gradient", what, ours, theirs, bound));
    }
    Ok(comparisons)
}

/// Compares `ours`, the losses of this run's steps, and, if it trained as long as the reference run, its final
/// probabilities.
pub fn compare_at_end(
    reference: &Reference,
    train: &Dataset,
    engine: &mut dyn Engine,
    ours: &[f32],
) -> Vec<Comparison> {
    let what = format!("losses of {} steps", ours.len());
    let theirs = &reference.losses[..ours.len()];
    let mut comparisons = vec![compare("training", what, ours, theirs, Bound::LOSS)];
    if ours.len() < reference.losses.len() {
        return comparisons;
    }
    let mut ours: Vec<f32> = Vec::with_capacity(train.len());
    let mut predictions = Predictions::default();
    for samples in Batches::in_order(train, engine.samples_per_pass()).iter() {
        engine.predict(train, samples, &mut predictions);
        ours.extend(predictions.probabilities.iter().map(|&p| p as f32));
    }
    let what = format!("final probabilities of {} samples", train.len());
    let theirs = &reference.probabilities;
    comparisons.push(compare("training", what, &ours, theirs, Bound::PROBABILITY));
    comparisons
}
