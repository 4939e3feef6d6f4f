//! A whole experiment, as a TOML file describes it.

use std::path::PathBuf;

use headlight_architecture::{Inputs, ModelConfig};
use headlight_data::{DatasetConfig, InvalidValue};
use serde::{Deserialize, Serialize};

use super::compute::ComputeConfig;
use super::recording::{CheckpointConfig, DumpConfig};
use super::training::TrainingConfig;

/// A whole experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentConfig {
    /// Seed of the initial weights and of the batch order.
    #[serde(default)]
    pub seed: u64,
    /// The file of a reference run: its initial weights and batch order replace those of the seed, and
    /// its figures are compared with this run's. The core never opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<PathBuf>,
    /// The samples.
    pub data: DatasetConfig,
    /// The model.
    pub model: ModelConfig,
    /// How the model learns.
    pub training: TrainingConfig,
    /// What is recorded of the model's attention.
    #[serde(default)]
    pub dump: DumpConfig,
    /// When a run is saved, so that it can be resumed from there.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
    /// What computes the experiment, and where.
    #[serde(default)]
    pub compute: ComputeConfig,
}

impl ExperimentConfig {
    /// Checks every value but `compute.device`, whose table is not here.
    ///
    /// # Errors
    /// Names the first invalid value with its full key, such as `data.rule.position`.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let model = |invalid: InvalidValue| invalid.within("model");
        self.data
            .validate()
            .map_err(|invalid| invalid.within("data"))?;
        self.model.validate().map_err(model)?;
        self.model.validate_for(self.inputs()).map_err(model)?;
        self.training
            .validate()
            .map_err(|invalid| invalid.within("training"))?;
        if self.dump.formats.is_empty() {
            return Err(InvalidValue::new(
                "dump.formats",
                "it is empty; name at least one of npz, json and csv",
            ));
        }
        Ok(())
    }

    /// What the model must know of its samples.
    pub fn inputs(&self) -> Inputs {
        let data = &self.data;
        Inputs {
            vocab_size: data.vocab_size as usize,
            positions: data.seq_len + 1,
            cls_position: data.cls.position(data.seq_len),
        }
    }
}
