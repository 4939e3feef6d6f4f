//! A config together with its samples and the initial weights.

use std::sync::Arc;

use headlight_architecture::Parameter;
use headlight_data::{Batches, Dataset, FreshSamples, Splits, Stream, TokenDropout};

use crate::Error;
use crate::config::{ATTENTION_LIMIT, ExperimentConfig};

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

impl Experiment {
    /// Combines a config with its samples, weighs those of training, and takes initial weights, which the seed draws if none are
    /// given.
    ///
    /// # Errors
    /// When the model or a training step would be too large, no training sample counts, or the weights that the config starts from are
    /// not given.
    pub fn new(
        config: ExperimentConfig,
        mut splits: Arc<Splits>,
        start: Option<Vec<Parameter>>,
    ) -> Result<Self, Error> {
        let sized = config.check_size();
        sized.map_err(|invalid| Error::Input(format!("`{}`: {}", invalid.key, invalid.message)))?;
        check_step_size(&config, &splits.train)?;
        let batch_size = config.training.batch_size;
        let fresh = FreshSamples::new(&config.data, &splits.held_out, batch_size, config.seed);
        if start.is_none() && config.training.start.is_some() {
            let message = "`training.start`: this program cannot read the file; remove the key, or use `headlight train`";
            return Err(Error::Input(message.to_owned()));
        }
        if config.training.class_weights.is_some() {
            weigh(&mut Arc::make_mut(&mut splits).train, &config)?;
        }
        let mut weights = splits.train.weights().unwrap_or(&[1.0]).iter();
        // Given weights may be of a model that is not trained on these samples.
        if start.is_none() && weights.all(|&weight| weight == 0.0) {
            let message = "all training samples have the weight 0; change training.class_weights or data.sample_weight";
            return Err(Error::Input(message.to_owned()));
        }
        let start = start.unwrap_or_else(|| {
            let rng = &mut Stream::Weights.boxed_rng(config.seed, 0);
            config.model.initial_parameters(config.inputs(), rng)
        });
        Ok(Self {
            config,
            splits,
            start,
            order: None,
            fresh,
        })
    }

    /// With the order of samples of a recorded run. `[epoch][sample]`
    #[must_use]
    pub fn with_order(self, order: Vec<Vec<u32>>) -> Self {
        Self {
            order: Some(order),
            ..self
        }
    }

    /// Checks that the samples of `[dump]` exist, and that `training.keep_best` can be measured.
    ///
    /// # Errors
    /// Names the key.
    pub fn check_recording(&self) -> Result<(), Error> {
        let (config, shown) = (&self.config, self.splits.displayed_samples());
        let mut dumped = config.dump.samples.iter();
        if let Some(sample) = dumped.find(|&&sample| sample >= shown.len()) {
            return Err(Error::Input(format!(
                "`dump.samples`: there is no sample {sample}; the {} samples go from 0 to {}",
                self.splits.displayed_name(),
                shown.len().saturating_sub(1)
            )));
        }
        match config.training.keep_best {
            Some(measure) if measure.is_held_out() && self.splits.held_out.is_empty() => {
                Err(Error::Input(format!(
                    "`training.keep_best = \"{}\"` measures held-out samples, and there are none; set data.held_out to 1 or more \
                     (by default a fifth of a file of texts, so at least 5 texts), or choose a criterion of training samples, \
                     such as \"loss\"",
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
            Some(order) => Batches::of_order(order[epoch - 1].clone(), batch_size),
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
    (ATTENTION_LIMIT / config.attention_weights().max(1)).clamp(1, 500)
}

/// Multiplies the weight of each answer by that of its class, if the config has some.
pub(crate) fn weigh(train: &mut Dataset, config: &ExperimentConfig) -> Result<(), Error> {
    let Some(of_classes) = &config.training.class_weights else {
        return Ok(());
    };
    let weights = of_classes.list(&config.data, train);
    let weights =
        weights.map_err(|invalid| Error::Input(invalid.within("training").to_string()))?;
    // A label that does not count has no class.
    train.weigh(|_, label| weights.get(label as usize).copied().unwrap_or(1.0));
    Ok(())
}

/// Refuses batches whose attention weights would not fit into memory: for each layer, training holds
/// several tensors of their size.
fn check_step_size(config: &ExperimentConfig, train: &Dataset) -> Result<(), Error> {
    let batch = match config.training.batch_size {
        size if config.data.is_fresh() => size,
        most => most.min(train.len()),
    };
    let weights = config
        .attention_weights()
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
