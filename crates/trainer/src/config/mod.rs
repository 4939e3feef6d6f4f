//! What an experiment is: data, model, training, what to record, and where to compute.

mod source;

use std::path::{Path, PathBuf};

use headlight_data::{DatasetConfig, Source};
use headlight_model::ModelConfig;
use serde::{Deserialize, Serialize};

pub use source::{load, load_changed, parse};

use crate::Failure;
use crate::devices::DeviceName;
use crate::engine::EngineName;

/// A whole experiment, as a TOML file describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentConfig {
    /// Seed of the initial weights and of the batch order.
    #[serde(default)]
    pub seed: u64,
    /// A recorded run to repeat: its initial weights and batch order are taken instead of the
    /// seed's, and its figures are compared with this run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<PathBuf>,
    /// What is learned from.
    pub data: DatasetConfig,
    /// What learns.
    pub model: ModelConfig,
    /// How it learns.
    pub training: TrainingConfig,
    /// What is recorded of its attention.
    #[serde(default)]
    pub dump: DumpConfig,
    /// When a run is saved so that it can go on from there.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
    /// Where it is computed.
    #[serde(default)]
    pub compute: ComputeConfig,
}

/// The `[training]` section: epochs, batches, and Adam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// Passes over the training samples, reshuffled for each.
    pub epochs: usize,
    /// Samples a step.
    #[serde(default = "TrainingConfig::default_batch_size")]
    pub batch_size: usize,
    /// Adam's step size.
    #[serde(default = "TrainingConfig::default_learning_rate")]
    pub learning_rate: f64,
    /// Decay of Adam's mean of gradients.
    #[serde(default = "TrainingConfig::default_beta_1")]
    pub beta_1: f64,
    /// Decay of Adam's mean of squared gradients.
    #[serde(default = "TrainingConfig::default_beta_2")]
    pub beta_2: f64,
    /// Added to the root of Adam's mean of squared gradients.
    #[serde(default = "TrainingConfig::default_epsilon")]
    pub epsilon: f64,
    /// How a token that occurs several times in a batch enters Adam's mean of squares.
    #[serde(default)]
    pub token_second_moment: TokenSecondMoment,
    /// Steps between evaluations within an epoch; 0 evaluates at the end of epochs only.
    #[serde(default)]
    pub evaluate_every: usize,
    /// The measurement whose best model is kept as `best.safetensors`; none is kept without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_best: Option<Measure>,
    /// Evaluations in a row without a better `keep_best` after which training stops; 0 never stops.
    #[serde(default)]
    pub patience: usize,
}

/// A measurement that tells better models from worse; the names are those of `metrics.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Cross-entropy over the training samples.
    Loss,
    /// Accuracy over the training samples.
    Accuracy,
    /// F1 over the training samples.
    F1,
    /// Cross-entropy over the held-out samples.
    HeldOutLoss,
    /// Accuracy over the held-out samples.
    HeldOutAccuracy,
    /// F1 over the held-out samples.
    HeldOutF1,
}

impl Measure {
    /// Whether it is measured on held-out samples.
    pub fn is_held_out(self) -> bool {
        matches!(
            self,
            Self::HeldOutLoss | Self::HeldOutAccuracy | Self::HeldOutF1
        )
    }

    /// Whether less of it is better.
    pub fn is_loss(self) -> bool {
        matches!(self, Self::Loss | Self::HeldOutLoss)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Accuracy => "accuracy",
            Self::F1 => "f1",
            Self::HeldOutLoss => "held_out_loss",
            Self::HeldOutAccuracy => "held_out_accuracy",
            Self::HeldOutF1 => "held_out_f1",
        }
    }
}

/// How a token that occurs several times in a batch enters Adam's mean of squared gradients.
///
/// `[CLS]` occurs in every sample, so the two differ by up to the root of the batch size in how fast
/// its embedding moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenSecondMoment {
    /// The gradient of each occurrence is squared, and squares are summed. This is what Keras 3
    /// does on TensorFlow, where an embedding's gradient is a list of rows that is not summed
    /// before `Adam.update_step` squares it; so it is what the notebook's numbers come from.
    #[default]
    PerOccurrence,
    /// Gradients are summed, and the sum is squared: Adam as published, as in PyTorch and JAX.
    PerToken,
}

/// Defaults are Keras's for Adam, and the notebook's batch size.
impl TrainingConfig {
    fn default_batch_size() -> usize {
        16
    }
    fn default_learning_rate() -> f64 {
        1e-3
    }
    fn default_beta_1() -> f64 {
        0.9
    }
    fn default_beta_2() -> f64 {
        0.999
    }
    fn default_epsilon() -> f64 {
        1e-7
    }
}

/// The `[dump]` section: which samples are recorded, when, and in which formats.
///
/// The moment before the first step and the one after the last are always recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DumpConfig {
    /// Training samples by index.
    pub samples: Vec<usize>,
    /// So many of the first positive training samples besides.
    pub positives: usize,
    /// So many of the first negative training samples besides.
    pub negatives: usize,
    /// Epochs between records; 0 for none.
    pub every_epochs: usize,
    /// Steps between records; 0 for none.
    pub every_steps: usize,
    /// Files to write for each record.
    pub formats: Vec<DumpFormat>,
}

impl Default for DumpConfig {
    fn default() -> Self {
        Self {
            samples: vec![0],
            positives: 8,
            negatives: 8,
            every_epochs: 1,
            every_steps: 0,
            formats: vec![DumpFormat::Npz],
        }
    }
}

/// The `[checkpoint]` section.
///
/// The last moment of a run is always saved, be it the end or a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointConfig {
    /// Seconds between checkpoints: what a run loses at most when it is killed; 0 for none.
    pub every_seconds: u64,
    /// Epochs between checkpoints; 0 for none.
    pub every_epochs: usize,
    /// Steps between checkpoints; 0 for none.
    pub every_steps: usize,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        Self {
            every_seconds: 5,
            every_epochs: 0,
            every_steps: 0,
        }
    }
}

/// A file format for attention dumps; the file's ending is the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DumpFormat {
    /// Everything, for NumPy.
    Npz,
    /// Everything, as nested lists.
    Json,
    /// Scores and weights, a line for each pair of positions.
    Csv,
}

impl DumpFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Npz, Self::Json, Self::Csv];

    /// The file's ending.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Npz => "npz",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }
}

/// The `[compute]` section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ComputeConfig {
    /// What computes training steps.
    pub engine: EngineName,
    /// Where tensors live.
    pub device: DeviceName,
}

/// A value that cannot be used, with its full key, such as `data.rule.position`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue {
    /// The key, from the top of the config.
    pub key: String,
    /// What is wrong with it and what would do.
    pub message: String,
}

impl ExperimentConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// Names the first value that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        self.data.validate().map_err(|error| InvalidValue {
            key: format!("data.{}", error.key),
            message: error.message,
        })?;
        let of_model = |error: headlight_model::InvalidValue| InvalidValue {
            key: format!("model.{}", error.key),
            message: error.message,
        };
        self.model.validate().map_err(of_model)?;
        let inputs = crate::experiment::inputs(self);
        self.model.validate_for(inputs).map_err(of_model)?;
        self.training.validate()?;
        if self.dump.formats.is_empty() {
            return Err(invalid(
                "dump.formats",
                "it is empty; name at least one of npz, json and csv",
            ));
        }
        Ok(())
    }
}

impl ExperimentConfig {
    /// The config with paths that mean the same from every folder. In a config they are relative
    /// to the folder that the program is run in.
    ///
    /// # Errors
    /// When that folder cannot be told.
    pub fn with_absolute_paths(self) -> Result<Self, Failure> {
        self.with_paths(|path| {
            std::path::absolute(path).map_err(|error| Failure::reading(path, error))
        })
    }

    /// The config with paths relative to the folder that the program is run in, where they lie in it.
    ///
    /// # Errors
    /// When that folder cannot be told.
    pub fn with_paths_from_here(self) -> Result<Self, Failure> {
        let dot = Path::new(".");
        let here = std::env::current_dir().map_err(|error| Failure::reading(dot, error))?;
        self.with_absolute_paths()?.with_paths(|path| {
            let inside = path.strip_prefix(&here).unwrap_or(path);
            Ok(inside.to_owned())
        })
    }

    fn with_paths(
        mut self,
        change: impl Fn(&Path) -> Result<PathBuf, Failure>,
    ) -> Result<Self, Failure> {
        if let Source::File(path) = &mut self.data.source {
            *path = change(path)?;
        }
        if let Some(path) = &mut self.reference {
            *path = change(path)?;
        }
        Ok(self)
    }
}

impl TrainingConfig {
    fn validate(&self) -> Result<(), InvalidValue> {
        for (key, count) in [("epochs", self.epochs), ("batch_size", self.batch_size)] {
            if count == 0 {
                return Err(invalid(
                    &format!("training.{key}"),
                    format!("{key} is 0; training needs at least 1"),
                ));
            }
        }
        for (key, size) in [
            ("learning_rate", self.learning_rate),
            ("epsilon", self.epsilon),
        ] {
            // As tensors have it, in float32.
            if !(size.is_finite() && size as f32 > 0.0) {
                return Err(invalid(
                    &format!("training.{key}"),
                    format!("{key} is {size:e}; it must be a positive number, in float32 too"),
                ));
            }
        }
        for (key, decay) in [("beta_1", self.beta_1), ("beta_2", self.beta_2)] {
            if !(0.0..1.0).contains(&(decay as f32)) {
                return Err(invalid(
                    &format!("training.{key}"),
                    format!("{key} is {decay}; it must be at least 0 and below 1"),
                ));
            }
        }
        if self.patience > 0 && self.keep_best.is_none() {
            return Err(invalid(
                "training.patience",
                "nothing is watched; name a measurement with training.keep_best, such as \"held_out_loss\"",
            ));
        }
        Ok(())
    }
}

fn invalid(key: &str, message: impl Into<String>) -> InvalidValue {
    InvalidValue {
        key: key.to_owned(),
        message: message.into(),
    }
}
