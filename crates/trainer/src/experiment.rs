//! The one place where data and model meet.

use std::sync::Arc;

use burn::tensor::{Device, Int, Tensor, TensorData};
use headlight_data::{Batch, Batches, CLS, DataError, Dataset, Splits, Stream};
use headlight_model::{Inputs, Parameter, TransformerClassifier};

use crate::Failure;
use crate::config::ExperimentConfig;
use crate::devices::OpenDevice;
use crate::reference::Reference;

/// A dataset, the weights that a model of its vocabulary and length starts from, and a device.
#[derive(Debug)]
pub struct Experiment {
    /// What it was built from.
    pub config: ExperimentConfig,
    /// Training and held-out samples.
    pub splits: Arc<Splits>,
    /// Initial weights, in the model's order.
    pub start: Vec<Parameter>,
    /// Where tensors live.
    pub device: OpenDevice,
    /// The recorded run that is repeated.
    pub reference: Option<Reference>,
}

impl Experiment {
    /// Makes the dataset and the initial weights.
    ///
    /// # Errors
    /// When the dataset cannot be made, the device cannot be opened, or `[dump]` names a sample
    /// that there is not.
    pub fn new(config: ExperimentConfig) -> Result<Self, Failure> {
        let splits = Arc::new(dataset(&config)?);
        check_dumped_samples(&config, &splits.train)?;
        check_watched(&config, &splits)?;
        let device = config.compute.device.open()?;
        Self::with(config, splits, device)
    }

    /// An experiment on a dataset that is there already.
    ///
    /// # Errors
    /// When the model or its training would be too large.
    pub fn with(
        config: ExperimentConfig,
        splits: Arc<Splits>,
        device: OpenDevice,
    ) -> Result<Self, Failure> {
        check_size(&config)?;
        check_step(&config, &splits.train)?;
        let mut start = config
            .model
            .initial_parameters(inputs(&config), &mut Stream::Weights.rng(config.seed));
        let reference = match &config.reference {
            None => None,
            Some(path) => Some(Reference::load(path, &start, &config, &splits.train)?),
        };
        if let Some(reference) = &reference {
            start = reference.start().to_vec();
        }
        Ok(Self {
            config,
            splits,
            start,
            device,
            reference,
        })
    }

    /// The batches of an epoch, counted from 1: the seed's, or those of the recorded run.
    pub fn batches(&self, epoch: usize) -> Batches {
        let batch_size = self.config.training.batch_size;
        match &self.reference {
            Some(reference) => Batches::given(reference.order(epoch).to_vec(), batch_size),
            None => Batches::shuffled(&self.splits.train, batch_size, self.config.seed, epoch),
        }
    }

    /// Batches of an epoch.
    pub fn steps_per_epoch(&self) -> usize {
        let samples = self.splits.train.len();
        samples.div_ceil(self.config.training.batch_size).max(1)
    }

    /// Steps of the whole training.
    pub fn steps(&self) -> usize {
        self.steps_per_epoch()
            .saturating_mul(self.config.training.epochs)
    }

    /// The model at its start, on a device.
    ///
    /// # Errors
    /// When it would be too large.
    pub fn start_on(&self, device: &Device) -> Result<TransformerClassifier, Failure> {
        with(init_model(&self.config, device)?, &self.start)
    }
}

/// A model with other parameters.
///
/// # Errors
/// When they are not this model's.
pub fn with(
    model: TransformerClassifier,
    parameters: &[Parameter],
) -> Result<TransformerClassifier, Failure> {
    model
        .with_parameters(parameters.to_vec())
        .map_err(|mismatch| Failure::Input(mismatch.to_string()))
}

/// The dataset of a config.
///
/// # Errors
/// When it cannot be made or read.
pub fn dataset(config: &ExperimentConfig) -> Result<Splits, Failure> {
    config.data.splits().map_err(|error| {
        Failure::Input(match error {
            DataError::Config(invalid) => format!("`data.{}`: {invalid}", invalid.key),
            DataError::File(error) => error.to_string(),
        })
    })
}

/// The largest model, in parameters: 1 GiB of them, and as much again for each of Adam's moments.
const PARAMETER_LIMIT: u128 = 1 << 28;

/// The most attention weights a block that one forward pass without gradients may hold.
const ATTENTION_LIMIT: usize = 1 << 24;

/// The most attention weights that a training step may hold, over all blocks.
const STEP_LIMIT: usize = 1 << 26;

/// A fresh model, its vocabulary and length being the dataset's.
///
/// # Errors
/// When it would be too large for this instrument.
pub fn init_model(
    config: &ExperimentConfig,
    device: &Device,
) -> Result<TransformerClassifier, Failure> {
    check_size(config)?;
    Ok(config.model.init(
        inputs(config),
        &mut Stream::Weights.rng(config.seed),
        device,
    ))
}

/// What a config's model must know of its samples.
pub fn inputs(config: &ExperimentConfig) -> Inputs {
    let data = &config.data;
    Inputs {
        vocab_size: data.vocab_size as usize,
        positions: data.seq_len + 1,
        cls_position: data.cls.position(data.seq_len),
    }
}

/// Refuses models that are too large for this instrument.
fn check_size(config: &ExperimentConfig) -> Result<(), Failure> {
    let (d_model, n_layers) = (config.model.d_model as u128, config.model.n_layers as u128);
    let rows = u128::from(config.data.vocab_size) + config.data.seq_len as u128 + 1;
    let feed_forward = 2 * d_model * config.model.d_ff as u128;
    let parameters = rows * d_model + n_layers * (4 * d_model * d_model + feed_forward);
    if parameters > PARAMETER_LIMIT {
        return Err(Failure::Input(format!(
            "the model would have {parameters} parameters, more than {PARAMETER_LIMIT}; \
             lower data.vocab_size, model.d_model, model.d_ff or model.n_layers"
        )));
    }
    if attention_weights(config) > ATTENTION_LIMIT {
        return Err(Failure::Input(format!(
            "a sample's attention would have {} weights a block; lower data.seq_len or model.n_heads",
            attention_weights(config)
        )));
    }
    Ok(())
}

/// Samples that one forward pass without gradients takes: fewer where they are long.
pub fn samples_at_once(config: &ExperimentConfig) -> usize {
    (ATTENTION_LIMIT / attention_weights(config).max(1)).clamp(1, 500)
}

fn attention_weights(config: &ExperimentConfig) -> usize {
    let positions = config.data.seq_len.saturating_add(1);
    positions
        .saturating_mul(positions)
        .saturating_mul(config.model.n_heads)
}

/// A tensor's values on the host, row-major.
pub fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// A batch's tokens on a device. `[batch, position]`
pub fn token_tensor(batch: &Batch, device: &Device) -> Tensor<2, Int> {
    let shape = [batch.len(), batch.positions];
    Tensor::from_data(TensorData::new(batch.tokens.clone(), shape), device)
}

/// A batch's labels on a device. `[batch]`
pub fn label_tensor(batch: &Batch, device: &Device) -> Tensor<1> {
    Tensor::from_data(TensorData::new(batch.labels.clone(), [batch.len()]), device)
}

/// Checks that a sample is one of the config's length and vocabulary.
///
/// # Errors
/// Says what does not fit.
pub fn fits(tokens: &[u32], config: &ExperimentConfig) -> Result<(), String> {
    let positions = config.data.seq_len + 1;
    if tokens.len() != positions {
        return Err(format!(
            "{} tokens; this model takes {positions}: [CLS] = 0 and {} more",
            tokens.len(),
            positions - 1
        ));
    }
    let cls_position = config.data.cls.position(config.data.seq_len);
    if tokens[cls_position] != CLS {
        return Err(format!(
            "the {} token is {}; it must be [CLS] = 0",
            config.data.cls.name(),
            tokens[cls_position]
        ));
    }
    let last = config.data.vocab_size - 1;
    let mut others = tokens.iter().enumerate();
    match others
        .find(|&(position, &token)| position != cls_position && (token == CLS || token > last))
    {
        None => Ok(()),
        Some((_, token)) => Err(format!(
            "token {token} is outside the vocabulary; beside [CLS] = 0 tokens are 1 to {last}"
        )),
    }
}

/// Refuses batches whose attention would not fit into memory: training holds several tensors of its
/// size a block.
fn check_step(config: &ExperimentConfig, train: &Dataset) -> Result<(), Failure> {
    let batch = config.training.batch_size.min(train.len());
    let weights = attention_weights(config)
        .saturating_mul(batch)
        .saturating_mul(config.model.n_layers);
    if weights <= STEP_LIMIT {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "`training.batch_size`: a batch of {batch} would have {weights} attention weights, more than {STEP_LIMIT}; \
         lower it, data.seq_len, model.n_heads or model.n_layers"
    )))
}

fn check_watched(config: &ExperimentConfig, splits: &Splits) -> Result<(), Failure> {
    match config.training.keep_best {
        Some(measure) if measure.is_held_out() && splits.held_out.is_empty() => {
            Err(Failure::Input(format!(
                "`training.keep_best`: there are no held-out samples to measure {} on; \
                 set data.held_out, or watch the training samples",
                measure.name()
            )))
        }
        _ => Ok(()),
    }
}

fn check_dumped_samples(config: &ExperimentConfig, train: &Dataset) -> Result<(), Failure> {
    let missing = config
        .dump
        .samples
        .iter()
        .find(|&&sample| sample >= train.len());
    missing.map_or(Ok(()), |sample| {
        Err(Failure::Input(format!(
            "`dump.samples`: there is no sample {sample}; the {} training samples count from 0",
            train.len()
        )))
    })
}
