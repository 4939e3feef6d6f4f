//! The training loop.

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::Error;
use crate::evaluate::evaluate;
use crate::experiment::Experiment;
use crate::feed::Feed;
use crate::metrics::StepMetrics;
use crate::test_sets::test_metrics;

/// The progress of training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Epochs finished; 0 if each step draws its own samples.
    pub epoch: usize,
    /// Steps taken.
    pub step: usize,
    /// Whether training is between two epochs, or before the first or after the last.
    pub at_epoch_end: bool,
    /// The loss of the last step's batch, computed before that step changed the weights.
    pub loss: Option<f64>,
    /// The mean of the batches' losses since the epoch began; Keras reports the same mean. Without epochs, the last loss.
    pub losses: RunningMean,
}

/// What an observer decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Training continues.
    Step,
    /// Training stops.
    Stop,
}

/// How training without an error ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps are taken.
    Finished,
    /// The observer stopped it.
    Stopped,
    /// It was interrupted, after the current step was finished.
    Interrupted,
}

/// Observes a model during training.
pub trait Observer {
    /// The error of the observer or of training itself.
    type Failure: From<Error>;

    /// Called before the first step and after each.
    ///
    /// # Errors
    /// Any error stops training, for example a file that cannot be written.
    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Self::Failure>;
}

/// Observes nothing: training takes all its steps.
impl Observer for () {
    type Failure = Error;

    fn step(&mut self, _progress: Progress, _engine: &mut dyn Engine) -> Result<Next, Error> {
        Ok(Next::Step)
    }
}

/// Trains the engine's model, starting at `start`, until all steps are taken, the observer stops it, or
/// `interrupted` returns true.
///
/// # Errors
/// When the loss, or the state after the last step, becomes NaN or infinite, or the observer fails.
pub fn train<O: Observer>(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    start: Progress,
    interrupted: impl Fn() -> bool,
    observer: &mut O,
) -> Result<Ending, O::Failure> {
    let per_epoch = experiment.steps_per_epoch();
    let mut feed = Feed::new(experiment);
    let mut progress = start;
    if progress.step == 0 {
        progress.at_epoch_end = true;
        if observer.step(progress, engine)? == Next::Stop {
            return Ok(Ending::Stopped);
        }
    }

    while progress.step < experiment.steps() {
        if progress.step.is_multiple_of(per_epoch) || experiment.is_fresh() {
            progress.losses = RunningMean::default();
        }
        let rate = experiment.learning_rate(progress.step);
        let (samples, batch) = feed.batch(progress.step)?;
        let loss = engine.step(samples, batch, rate);
        progress.step += 1;
        progress.losses.add(loss);
        if !loss.is_finite() {
            let step = progress.step;
            let place = match (step - 1) / per_epoch + 1 {
                _ if experiment.is_fresh() => String::new(),
                epoch => format!(" in epoch {epoch}"),
            };
            let reason = format!("the loss became {loss}{place} at step {step}");
            return Err(experiment.diverged(&reason).into());
        }
        progress.epoch = progress.step / per_epoch;
        progress.at_epoch_end = progress.step.is_multiple_of(per_epoch);
        progress.loss = Some(loss);
        if observer.step(progress, engine)? == Next::Stop {
            return Ok(Ending::Stopped);
        }
        if progress.step < experiment.steps() && interrupted() {
            return Ok(Ending::Interrupted);
        }
    }
    // The loss of a step says nothing about the weights and moments after it.
    if let Some(name) = engine.state().not_finite() {
        let reason = format!("{name} is no longer finite after the last step");
        return Err(experiment.diverged(&reason).into());
    }
    Ok(Ending::Finished)
}

/// Whether an action that is taken every `every` steps is due after `step`; `every` 0 means never.
pub fn is_due_every(every: usize, step: usize) -> bool {
    every > 0 && step.is_multiple_of(every)
}

/// Whether the model is evaluated at this point of training.
pub fn evaluation_is_due(experiment: &Experiment, progress: Progress) -> bool {
    let (training, step) = (&experiment.config.training, progress.step);
    let is_chosen = match training.chosen_steps() {
        Some(chosen) => chosen(step),
        None => progress.at_epoch_end || is_due_every(training.evaluate_every, step),
    };
    is_chosen || step == experiment.steps()
}

/// Evaluates the current model on the samples that it is trained on, and on held-out ones.
///
/// # Errors
/// When there are no training samples.
pub fn measure(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    progress: Progress,
) -> Result<StepMetrics, Error> {
    let config = &experiment.config;
    let n_classes = config.data.n_classes;
    let train = experiment.training_samples(progress.step)?;
    let train = evaluate(engine, &train, n_classes, Some(config))
        .ok_or_else(|| Error::Input("the dataset has no training samples".to_owned()))?;
    let held_out = evaluate(engine, &experiment.splits.held_out, n_classes, Some(config));
    Ok(StepMetrics {
        epoch: progress.epoch,
        step: progress.step,
        train_loss: progress.losses.value(),
        train: train.metrics,
        held_out: held_out.map(|held_out| held_out.metrics),
        tests: test_metrics(experiment, engine, |test| {
            progress.step == experiment.steps() || !test.at_end
        })?,
        weight_norm: config.training.norms.then(|| norm(&engine.weights())),
        gradient_norm: engine
            .gradient_norm()
            .filter(|_| config.training.norms && progress.step > 0),
    })
}

/// The Euclidean norm of all weights together.
fn norm(weights: &[f32]) -> f64 {
    let squares = weights.iter().map(|&weight| f64::from(weight).powi(2));
    squares.sum::<f64>().sqrt()
}

/// A running mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunningMean {
    sum: f64,
    count: usize,
}

impl RunningMean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean; `None` before the first value.
    pub fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
