//! A row of a results file.

use headlight_experiment::measures::{MeasureName, Measured};
use headlight_experiment::metrics::{EvalMetrics, TestMetrics};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::fields::fields;

/// A row of a results file: one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The seed of the initial weights and of the batch order.
    pub seed: u64,
    /// The index of the point of the grid; `None` without a grid.
    pub point: Option<usize>,
    /// The grid's keys and their values.
    pub values: Vec<(String, Value)>,
    /// The results of the run, or why it failed.
    pub outcome: Result<Outcome, String>,
    /// The hash of everything that the sweep's runs share.
    pub config_sha256: String,
}

/// The results of a run that did not fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Mean loss over the batches of each epoch; none if each step draws its own samples.
    pub epoch_loss: Vec<f64>,
    /// On the training samples, with the final weights; if each step draws its own, on the batch of the last step.
    pub train: EvalMetrics,
    /// On the held-out samples, if the dataset has any.
    pub held_out: Option<EvalMetrics>,
    /// On the test sets.
    pub tests: Vec<TestMetrics>,
    /// Attention of `[CLS]` in the last block to each position, mean over heads and over positive
    /// training samples; `None` without positive samples. `[position]`
    pub attention_positive: Option<Vec<f64>>,
    /// The same for negative training samples.
    pub attention_negative: Option<Vec<f64>>,
    /// The metrics of the same samples, which hold the attention of `[CLS]` on the positions that decide each sample's label, and what
    /// it would be if it were uniform; `None` if no rule says which positions decide.
    pub deciding: Option<EvalMetrics>,
    /// The first step after which F1 on the samples that judge a model was `report.learned` or more.
    pub learned_at_step: Option<usize>,
    /// The measures that `report.measures` asks for, of the final model on the held-out samples, or else on the training
    /// samples.
    pub measures: Vec<(MeasureName, Measured)>,
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
                    field.write(outcome, &mut map)?;
                }
            }
        }
        map.serialize_entry("config_sha256", &self.config_sha256)?;
        map.end()
    }
}
