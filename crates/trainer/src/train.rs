//! The training loop.

use crate::Failure;
use crate::config::TrainingConfig;
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
    /// Mean of the batches' losses since the epoch began, as Keras reports it.
    pub epoch_loss: Option<f64>,
}

/// How training ended, short of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All epochs are done.
    Finished,
    /// A signal with this number asked to stop; the step under way was finished.
    Interrupted(i32),
}

/// Looks on while a model is trained.
pub trait Observer {
    /// Called before the first step and after each.
    ///
    /// # Errors
    /// Stops training, as when a file cannot be written.
    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<(), Failure>;
}

/// Trains the engine's model.
///
/// # Errors
/// When the loss is no longer a number, or the observer fails.
pub fn train(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    signals: &Signals,
    observer: &mut dyn Observer,
) -> Result<Ending, Failure> {
    let config = &experiment.config.training;
    let train = &experiment.splits.train;
    let mut progress = Progress {
        at_epoch_end: true,
        ..Progress::default()
    };
    observer.step(progress, engine)?;

    for epoch in 1..=config.epochs {
        let batches = experiment.batches(epoch);
        let mut losses = Mean::default();
        for (index, batch) in batches.iter().enumerate() {
            let loss = engine.step(train, batch);
            progress.step += 1;
            losses.add(loss);
            if !loss.is_finite() {
                return Err(diverged(loss, epoch, progress.step, config));
            }
            progress.at_epoch_end = index + 1 == batches.len();
            if progress.at_epoch_end {
                progress.epoch = epoch;
            }
            progress.loss = Some(loss);
            progress.epoch_loss = losses.value();
            observer.step(progress, engine)?;
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
        train_loss: progress.epoch_loss,
        train: train.metrics,
        held_out: held_out.map(|held_out| held_out.metrics),
    })
}

fn diverged(loss: f64, epoch: usize, step: usize, config: &TrainingConfig) -> Failure {
    Failure::Diverged(format!(
        "training diverged: the loss became {loss} in epoch {epoch} at step {step}; \
         try a training.learning_rate below {:e}",
        config.learning_rate
    ))
}

/// A running mean.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
