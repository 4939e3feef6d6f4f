//! The training loop.

use burn::tensor::{Device, Tensor};
use headlight_data::Batch;
use headlight_model::TransformerClassifier;

use crate::Failure;
use crate::config::TrainingConfig;
use crate::evaluate::evaluate;
use crate::experiment::{Experiment, inference, label_tensor, token_tensor};
use crate::metrics::StepMetrics;
use crate::optimizer::{Adam, Lookup};
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
    /// Called before the first step and after each. The model is on the training device.
    ///
    /// # Errors
    /// Stops training, as when a file cannot be written.
    fn step(&mut self, progress: Progress, model: &TransformerClassifier) -> Result<(), Failure>;

    /// Called with each evaluation.
    ///
    /// # Errors
    /// Stops training, as when a file cannot be written.
    fn evaluated(&mut self, metrics: &StepMetrics) -> Result<(), Failure>;
}

/// Trains the experiment's model in place.
///
/// # Errors
/// When the loss is no longer a number, or the observer fails.
pub fn train(
    experiment: &mut Experiment,
    signals: &Signals,
    observer: &mut dyn Observer,
) -> Result<Ending, Failure> {
    let config = experiment.config.training.clone();
    let device = experiment.device.device.clone().autodiff();
    let mut adam = Adam::new(&config);
    let mut progress = Progress {
        at_epoch_end: true,
        ..Progress::default()
    };
    observer.step(progress, &experiment.model)?;
    observer.evaluated(&measure(experiment, progress, None)?)?;

    for epoch in 1..=config.epochs {
        let batches = experiment.batches(epoch);
        let mut losses = Mean::default();
        for (index, samples) in batches.iter().enumerate() {
            let batch = Batch::gather(&experiment.splits.train, samples);
            let loss = train_step(&mut experiment.model, &mut adam, &batch, &device);
            progress.step += 1;
            losses.add(loss);
            if !loss.is_finite() {
                return Err(diverged(loss, epoch, progress.step, &config));
            }
            progress.at_epoch_end = index + 1 == batches.len();
            if progress.at_epoch_end {
                progress.epoch = epoch;
            }
            progress.loss = Some(loss);
            observer.step(progress, &experiment.model)?;
            if progress.at_epoch_end || due(config.evaluate_every, progress.step) {
                observer.evaluated(&measure(experiment, progress, losses.value())?)?;
            }
            if let Some(signal) = signals.received() {
                return Ok(Ending::Interrupted(signal));
            }
        }
    }
    Ok(Ending::Finished)
}

/// One step of gradient descent; returns the batch's loss before it.
pub fn train_step(
    model: &mut TransformerClassifier,
    adam: &mut Adam,
    batch: &Batch,
    device: &Device,
) -> f64 {
    let tokens = token_tensor(batch, device); // [batch, position]
    // A leaf of its own, so that the gradient of each occurrence of a token is kept.
    let rows = model
        .embedding
        .token_rows(tokens.clone())
        .detach()
        .require_grad(); // [batch, position, d_model]
    let logits = model.forward_rows(rows.clone()).logits; // [batch]
    let loss = binary_cross_entropy(logits, label_tensor(batch, device)); // [1]
    let gradients = loss.backward();
    *model = adam.step(model.clone(), gradients, &Lookup { tokens, rows });
    loss.into_scalar::<f64>()
}

/// Mean binary cross-entropy from logits `z` and targets `y`:
/// `max(z, 0) - z y + log(1 + exp(-|z|))`, as TensorFlow's
/// `sigmoid_cross_entropy_with_logits` has it.
///
/// # Shapes
/// - logits, targets: `[batch]`
/// - output: `[1]`
pub fn binary_cross_entropy(logits: Tensor<1>, targets: Tensor<1>) -> Tensor<1> {
    let linear = logits.clone().clamp_min(0.0) - logits.clone() * targets; // [batch]
    (linear + logits.abs().neg().exp().log1p()).mean()
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
    progress: Progress,
    train_loss: Option<f64>,
) -> Result<StepMetrics, Failure> {
    let Experiment {
        config,
        splits,
        model,
        device,
        ..
    } = experiment;
    let model = inference(model);
    let train = evaluate(&model, &splits.train, config, &device.device)
        .ok_or_else(|| Failure::Input("there are no training samples".to_owned()))?;
    Ok(StepMetrics {
        epoch: progress.epoch,
        step: progress.step,
        train_loss,
        train,
        held_out: evaluate(&model, &splits.held_out, config, &device.device),
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
