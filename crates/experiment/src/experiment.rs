//! A config together with its samples and the initial weights.

use std::sync::Arc;

use headlight_architecture::Parameter;
use headlight_data::{Batches, Dataset, FreshSamples, Splits, Stream, TokenDropout};

use crate::Error;
use crate::config::ExperimentConfig;

/// The most parameters of a model. They take 1 GiB, and each of Adam's two moments takes another.
const PARAMETER_LIMIT: u128 = 1 << 28;

/// The most attention weights per layer in one forward pass without gradients.
const ATTENTION_LIMIT: usize = 1 << 24;

/// The most attention weights in one training step, over all layers.
const STEP_LIMIT: usize = 1 << 26;

/// A config, its samples, and the initial weights.
#[derive(Debug)]
pub struct Experiment {
    /// The config that it was built from.
    pub config: ExperimentConfig,
    /// Training and held-out samples.
    pub splits: Arc<Splits>,
    /// Initial weights, in the model's order.
    pub start: Vec<Parameter>,
    /// The order of samples per epoch, if it does not come from the seed.
    pub(crate) order: Option<Vec<Vec<u32>>>,
    /// What draws the samples of each step, if the config asks for it.
    pub(crate) fresh: Option<FreshSamples>,
}

/// Initial weights and batch order of a recorded run, which replace those of the seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Initial weights, in the model's order.
    pub start: Vec<Parameter>,
    /// The order of samples in each epoch. `[epoch][sample]`
    pub order: Vec<Vec<u32>>,
}

impl Experiment {
    /// Combines a config with its samples, and draws the initial weights unless a replay gives them.
    ///
    /// # Errors
    /// When the model or a training step would be too large.
    pub fn new(
        config: ExperimentConfig,
        splits: Arc<Splits>,
        replay: Option<Replay>,
    ) -> Result<Self, Error> {
        check_model_size(&config)?;
        check_step_size(&config, &splits.train)?;
        let batch_size = config.training.batch_size;
        let fresh = FreshSamples::new(&config.data, &splits.held_out, batch_size, config.seed);
        let (start, order) = replay.map(|replay| (replay.start, replay.order)).unzip();
        let start = start.unwrap_or_else(|| {
            let rng = &mut Stream::Weights.any_rng(config.seed, 0);
            config.model.initial_parameters(config.inputs(), rng)
        });
        Ok(Self {
            config,
            splits,
            start,
            order,
            fresh,
        })
    }

    /// Checks that the samples of `[dump]` exist, and that `training.keep_best` can be measured.
    ///
    /// # Errors
    /// Names the key.
    pub fn check_recording(&self) -> Result<(), Error> {
        let (config, shown) = (&self.config, self.splits.shown());
        let mut dumped = config.dump.samples.iter();
        if let Some(sample) = dumped.find(|&&sample| sample >= shown.len()) {
            return Err(Error::Input(format!(
                "`dump.samples`: there is no sample {sample}; the {} samples go from 0 to {}",
                self.splits.shown_name(),
                shown.len().saturating_sub(1)
            )));
        }
        match config.training.keep_best {
            Some(measure) if measure.is_held_out() && self.splits.held_out.is_empty() => {
                Err(Error::Input(format!(
                    "no samples are held out, and `training.keep_best = \"{}\"` measures them; set data.held_out to 1 or more \
                     (without it, a fifth of a file of texts is held out, so give 5 texts or more), or measure training samples",
                    measure.name()
                )))
            }
            _ => Ok(()),
        }
    }

    /// The batches of an epoch, counted from 1.
    pub fn batches(&self, epoch: usize) -> Batches {
        let batch_size = self.config.training.batch_size;
        match &self.order {
            Some(order) => Batches::given(order[epoch - 1].clone(), batch_size),
            None => Batches::shuffled(&self.splits.train, batch_size, self.config.seed, epoch),
        }
    }

    /// What leaves tokens out of the samples of each step, if the config asks for it.
    pub fn token_dropout(&self) -> Option<TokenDropout> {
        let (share, seed) = (self.config.training.token_dropout, self.config.seed);
        let padding = self.config.model.attention.padding_token?;
        (share > 0.0).then(|| TokenDropout::new(share, padding, seed))
    }

    /// Batches per epoch; `usize::MAX` if each step draws its own samples, so that no epoch ends.
    pub fn steps_per_epoch(&self) -> usize {
        if self.is_fresh() {
            return usize::MAX;
        }
        self.config
            .training
            .steps_per_epoch(self.splits.train.len())
    }

    /// Steps of the whole training.
    pub fn steps(&self) -> usize {
        self.config.training.total_steps(self.steps_per_epoch())
    }

    /// Epochs of the whole training, the last of which may end early.
    pub fn epochs(&self) -> usize {
        self.steps().div_ceil(self.steps_per_epoch())
    }

    /// What a reader should know of keys of `[training]` that name steps after the last one.
    pub fn unreached_steps(&self) -> Option<String> {
        let (training, steps) = (&self.config.training, self.steps());
        let warmup = training.warmup_steps;
        if warmup >= steps {
            return Some(format!(
                "training ends after {steps} steps, within its warm-up (training.warmup_steps = {warmup})"
            ));
        }
        let mut chosen = training.evaluate_at.iter();
        chosen.find(|&&step| step > steps).map(|step| {
            format!("training ends after {steps} steps, so step {step} of training.evaluate_at is not evaluated")
        })
    }

    /// The learning rate of the step after `step` steps.
    pub fn learning_rate(&self, step: usize) -> f64 {
        self.config.training.learning_rate_at(step, self.steps())
    }

    /// The error for training that diverged for `reason`.
    pub fn diverged(&self, reason: &str) -> Error {
        Error::Diverged(format!(
            "training diverged: {reason}; try a training.learning_rate below {:e}",
            self.config.training.learning_rate
        ))
    }
}

/// How many samples one forward pass without gradients takes: the longer the samples, the fewer.
pub fn samples_per_pass(config: &ExperimentConfig) -> usize {
    (ATTENTION_LIMIT / attention_weights(config).max(1)).clamp(1, 500)
}

/// Refuses models that are too large.
///
/// # Errors
/// Names the keys to lower.
pub fn check_model_size(config: &ExperimentConfig) -> Result<(), Error> {
    let model = &config.model;
    let (d_model, n_layers) = (model.d_model as u128, model.n_layers as u128);
    let rows = u128::from(config.data.vocab_size) + config.data.seq_len as u128 + 1;
    let heads = model.n_heads as u128 * model.d_head() as u128;
    let block = d_model * (4 * heads + 2 * model.d_ff as u128);
    let hidden = model.classifier_hidden as u128 * (d_model + config.data.n_classes as u128);
    let parameters = rows * d_model + n_layers * block + hidden;
    if parameters > PARAMETER_LIMIT {
        return Err(Error::Input(format!(
            "the model would have about {parameters} parameters, more than {PARAMETER_LIMIT}; \
             lower data.vocab_size, model.d_model, model.d_head, model.d_ff, model.classifier_hidden or model.n_layers"
        )));
    }
    let weights = attention_weights(config);
    if weights > ATTENTION_LIMIT {
        return Err(Error::Input(format!(
            "the attention of one sample would have {weights} attention weights per layer, more than \
             {ATTENTION_LIMIT}; lower data.seq_len or model.n_heads"
        )));
    }
    Ok(())
}

/// Refuses batches whose attention weights would not fit into memory: for each layer, training holds
/// several tensors of their size.
fn check_step_size(config: &ExperimentConfig, train: &Dataset) -> Result<(), Error> {
    let batch = match config.training.batch_size {
        own if config.data.is_fresh() => own,
        most => most.min(train.len()),
    };
    let weights = attention_weights(config)
        .saturating_mul(batch)
        .saturating_mul(config.model.n_layers);
    if weights <= STEP_LIMIT {
        return Ok(());
    }
    Err(Error::Input(format!(
        "`training.batch_size`: a batch of {batch} would have {weights} attention weights, more than {STEP_LIMIT}; \
         lower it, data.seq_len, model.n_heads or model.n_layers"
    )))
}

/// Attention weights of a sample per layer.
fn attention_weights(config: &ExperimentConfig) -> usize {
    let positions = config.data.seq_len.saturating_add(1);
    let pairs = positions.saturating_mul(positions);
    pairs.saturating_mul(config.model.n_heads)
}
