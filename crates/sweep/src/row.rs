//! The row of a run in a results file.

use headlight_experiment::metrics::EvalMetrics;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::fields::fields;

/// A row of a results file.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The seed of the initial weights and of the batch order.
    pub seed: u64,
    /// Which point of the grid; `None` without a grid.
    pub point: Option<usize>,
    /// The grid's keys and their values.
    pub values: Vec<(String, Value)>,
    /// The results of the run, or why it failed.
    pub outcome: Result<Outcome, String>,
    /// The hash of all that the sweep's runs share.
    pub config_sha256: String,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Mean loss over the batches of each epoch.
    pub epoch_loss: Vec<f64>,
    /// Over the training samples, with the final weights.
    pub train: EvalMetrics,
    /// Over the held-out samples, if the dataset has any.
    pub held_out: Option<EvalMetrics>,
    /// Attention of `[CLS]` in the last block on each position, mean over heads and over positive
    /// training samples; `None` without positive samples. `[position]`
    pub attention_positive: Option<Vec<f64>>,
    /// The same over negative training samples.
    pub attention_negative: Option<Vec<f64>>,
    /// The first step after which held-out F1 was 0.99 or more.
    pub learned_at_step: Option<usize>,
    /// The hash of `model.safetensors`, as `headlight train` writes it.
    pub weights_sha256: String,
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seed", &self.seed)?;
        if let Some(point) = self.point {
            map.serialize_entry("point", &point)?;
        }
        for (key, value) in &self.values {
            map.serialize_entry(key, value)?;
        }
        match &self.outcome {
            Err(message) => map.serialize_entry("error", message)?,
            Ok(outcome) => {
                for field in fields() {
                    map.serialize_entry(&field.name, &field.value(outcome))?;
                }
            }
        }
        map.serialize_entry("config_sha256", &self.config_sha256)?;
        map.end()
    }
}
