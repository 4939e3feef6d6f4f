//! The training loop.

mod divergence;

use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::engine::Engine;
use crate::evaluate::evaluate;
use crate::experiment::Experiment;
use crate::metrics::StepMetrics;
use crate::signals::Signals;

/// Where training stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Epochs finished.
    pub epoch: usize,
    /// Steps taken.
    pub step: usize,
    /// Whether an epoch has just begun or ended.
    pub at_epoch_end: bool,
    /// The loss of the last step's batch, before that step.
    pub loss: Option<f64>,
    /// The batches' losses since the epoch began, whose mean Keras reports.
    pub losses: Mean,
}

/// What an observer wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another step.
    Step,
    /// No more of them.
    Stop,
}

/// How training ended, short of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All epochs are done.
    Finished,
    /// The observer had seen enough.
    Stopped,
    /// A signal with this number asked to stop; the step under way was finished.
    Interrupted(i32),
}

/// Looks on while a model is trained.
pub trait Observer {
    /// Called before the first step and after each.
    ///
    /// # Errors
    /// Stops training, as when a file cannot be written.
    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Failure>;
}

/// Trains the engine's model from where it stands, which `start` says.
///
/// # Errors
/// When the loss is no longer a number, or the observer fails.
pub fn train(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    signals: &Signals,
    start: Progress,
    observer: &mut dyn Observer,
) -> Result<Ending, Failure> {
    let train = &experiment.splits.train;
    let steps = experiment.steps_per_epoch();
    let mut progress = start;
    if progress.step == 0 {
        progress.at_epoch_end = true;
        if observer.step(progress, engine)? == Next::Stop {
            return Ok(Ending::Stopped);
        }
    }

    for epoch in progress.step / steps + 1..=experiment.config.training.epochs {
        let batches = experiment.batches(epoch);
        let taken = progress.step % steps;
        if taken == 0 {
            progress.losses = Mean::default();
        }
        // What the epoch starts from, to find out later what went wrong in it.
        let before = engine.state();
        let diverged = |engine: &mut dyn Engine, reason: &str, good: usize| {
            let good: Vec<&[u32]> = batches.iter().take(good).skip(taken).collect();
            let gradient = divergence::last_gradient(engine, train, &before, &good);
            Failure::Diverged(format!(
                "training diverged: {reason}{gradient}; try a training.learning_rate below {:e}",
                experiment.config.training.learning_rate
            ))
        };
        for (index, batch) in batches.iter().enumerate().skip(taken) {
            let loss = engine.step(train, batch);
            progress.step += 1;
            progress.losses.add(loss);
            if !loss.is_finite() {
                let step = progress.step;
                let reason = format!("the loss became {loss} in epoch {epoch} at step {step}");
                return Err(diverged(engine, &reason, index));
            }
            progress.at_epoch_end = index + 1 == batches.len();
            if progress.at_epoch_end {
                progress.epoch = epoch;
            }
            progress.loss = Some(loss);
            let next = match observer.step(progress, engine) {
                Err(Failure::Diverged(reason)) => return Err(diverged(engine, &reason, index + 1)),
                other => other?,
            };
            if next == Next::Stop {
                return Ok(Ending::Stopped);
            }
            if progress.step == experiment.steps() {
                break;
            }
            if let Some(signal) = signals.received() {
                return Ok(Ending::Interrupted(signal));
            }
        }
    }
    Ok(Ending::Finished)
}

/// Whether something done every so many steps is due; every 0 steps means never.
pub fn due(every: usize, step: usize) -> bool {
    every > 0 && step.is_multiple_of(every)
}

/// Evaluates the model as it is.
///
/// # Errors
/// When there are no training samples.
pub fn measure(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    progress: Progress,
) -> Result<StepMetrics, Failure> {
    let rule = experiment.config.data.rule.as_ref();
    let train = evaluate(engine, &experiment.splits.train, rule)
        .ok_or_else(|| Failure::Input("there are no training samples".to_owned()))?;
    let held_out = evaluate(engine, &experiment.splits.held_out, rule);
    Ok(StepMetrics {
        epoch: progress.epoch,
        step: progress.step,
        train_loss: progress.losses.value(),
        train: train.metrics,
        held_out: held_out.map(|held_out| held_out.metrics),
    })
}

/// A running mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean, where there is anything.
    pub fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
