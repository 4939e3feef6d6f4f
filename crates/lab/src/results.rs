//! The results of a training.

use headlight_experiment::evaluate::evaluate;
use headlight_experiment::metrics::{EvalMetrics, PAGE};
use headlight_experiment::outcome::{FEWEST_JUDGED, is_learned};
use headlight_experiment::train::{Progress, train};
use headlight_experiment::{Engine, Experiment, FusedEngine};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::message::{Answer, Message};
use crate::weights::safetensors;

/// Trains all steps without keeping anything; the answer is the results, and the seed.
pub(crate) fn summary(experiment: &Experiment) -> Answer {
    let mut engine = FusedEngine::new(experiment)?;
    let start = Progress::default();
    train(experiment, &mut engine, start, || false, &mut ())?;
    let mut results = results(experiment, &mut engine, experiment.steps())?;
    results["seed"] = json!(experiment.config.seed);
    Ok(Message::of(&results, Vec::new()))
}

/// What a model is after so many steps, as in a row of a sweep: its hash, its metrics, and the attention of `[CLS]` in the
/// last layer, mean over heads and training samples of class 0, and of all others. Samples that each step draws are
/// measured as there.
pub(crate) fn results(
    experiment: &Experiment,
    engine: &mut FusedEngine<'_>,
    step: usize,
) -> Answer<Value> {
    let n_classes = experiment.config.data.n_classes;
    let splits = &experiment.splits;
    let train = experiment.training_samples(step)?;
    let train = evaluate(engine, &train, n_classes, None);
    let train = train.ok_or("the dataset has no training samples")?;
    let held_out = evaluate(engine, &splits.held_out, n_classes, None);
    let bytes = safetensors(&experiment.config, &engine.weights())?;
    let shown = held_out.as_ref().filter(|_| experiment.is_fresh());
    let shown = shown.unwrap_or(&train);
    let judged = held_out.as_ref().unwrap_or(&train);
    let learned_from = experiment.config.report.learned;
    let learned = splits.judging_samples().len() >= FEWEST_JUDGED
        && is_learned(|metric| judged.metrics[metric], learned_from);
    Ok(json!({
        "weights_sha256": format!("{:x}", Sha256::digest(bytes)),
        "step": step,
        "train": metrics(&train.metrics),
        "held_out": held_out.as_ref().map(|held_out| metrics(&held_out.metrics)),
        "attention": { "positive": shown.attention_positive, "negative": shown.attention_negative },
        "learned": learned,
        "learned_from": learned_from,
    }))
}

/// The metrics that the page shows, by their names.
pub(crate) fn metrics(metrics: &EvalMetrics) -> Value {
    let shown = PAGE.iter().map(|(metric, _)| *metric);
    shown
        .map(|metric| (metric.info().name, metrics[metric]))
        .collect()
}
