//! The results of a training.

use headlight_experiment::evaluate::evaluate;
use headlight_experiment::metrics::{EvalMetrics, PAGE};
use headlight_experiment::outcome::is_learned;
use headlight_experiment::train::{Next, Observer, Progress, train};
use headlight_experiment::{Engine, Error, Experiment, FusedEngine};
use sha2::{Digest, Sha256};

use crate::json::Object;
use crate::message::Message;
use crate::weights::safetensors;

/// Trains all steps without keeping anything; the answer is the results, and the seed.
///
/// # Errors
/// When training diverges.
pub(crate) fn summary(experiment: &Experiment) -> Result<Message, String> {
    let told = |error: Error| error.to_string();
    let mut engine = FusedEngine::new(experiment).map_err(told)?;
    let never = || false;
    let mut last = Last(0);
    train(
        experiment,
        &mut engine,
        Progress::default(),
        never,
        &mut last,
    )
    .map_err(told)?;
    let results = results(experiment, &mut engine, last.0)?;
    let results = results.with("seed", &experiment.config.seed);
    Ok(Message::of(&results, Vec::new()))
}

/// What a model is after so many steps, as in a row of a sweep: its hash, its metrics, and the attention of `[CLS]` in the
/// last block, mean over heads and training samples of class 0, and of all others. Samples that each step draws are
/// measured as there.
///
/// # Errors
/// When there are no training samples.
pub(crate) fn results(
    experiment: &Experiment,
    engine: &mut FusedEngine<'_>,
    step: usize,
) -> Result<Object, String> {
    let n_classes = experiment.config.data.n_classes;
    let splits = &experiment.splits;
    let train = experiment.trained_on(step);
    let train = train.map_err(|error| error.to_string())?;
    let train = evaluate(engine, &train, n_classes, None);
    let train = train.ok_or("the dataset has no training samples")?;
    let held_out = evaluate(engine, &splits.held_out, n_classes, None);
    let bytes = safetensors(&experiment.config, &engine.weights());
    let shown = held_out.as_ref().filter(|_| experiment.is_fresh());
    let shown = shown.unwrap_or(&train);
    let attention = Object::default()
        .with("positive", &shown.attention_positive)
        .with("negative", &shown.attention_negative);
    let judged = held_out.as_ref().unwrap_or(&train);
    let learned_from = experiment.config.report.learned;
    let learned = is_learned(|metric| judged.metrics[metric], learned_from);
    let held_out = held_out.map(|held_out| metrics(&held_out.metrics));
    Ok(Object::default()
        .with("weights_sha256", &format!("{:x}", Sha256::digest(bytes)))
        .with("step", &step)
        .with("train", &metrics(&train.metrics))
        .with("held_out", &held_out)
        .with("attention", &attention)
        .with("learned", &learned)
        .with("learned_from", &learned_from))
}

pub(crate) fn metrics(metrics: &EvalMetrics) -> Object {
    let shown = PAGE.iter().map(|(metric, _)| *metric);
    shown.fold(Object::default(), |object, metric| {
        object.with(metric.info().name, &metrics[metric])
    })
}

/// Counts steps.
struct Last(usize);

impl Observer for Last {
    type Failure = Error;

    fn step(&mut self, progress: Progress, _engine: &mut dyn Engine) -> Result<Next, Error> {
        self.0 = progress.step;
        Ok(Next::Step)
    }
}
