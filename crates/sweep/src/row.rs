//! A row of a results file.

use std::sync::Arc;

use headlight_experiment::config::ExperimentConfig;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::fields::fields;
use crate::outcome::RunOutcome;

/// A row of a results file: one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The seed of the initial weights and of the batch order.
    pub seed: u64,
    /// The index of the point of the grid; `None` without a grid.
    pub point: Option<usize>,
    /// The grid's keys and their values.
    pub values: Vec<(String, Value)>,
    /// The config of the point, which decides the fields of the results.
    pub config: Arc<ExperimentConfig>,
    /// The results of the run, or why it failed.
    pub outcome: Result<RunOutcome, String>,
    /// The hash of everything that the sweep's runs share.
    pub config_sha256: String,
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
                let config = Some(&*self.config);
                for field in fields().iter().filter(|field| field.is_in_rows_of(config)) {
                    field.write(outcome, &mut map)?;
                }
            }
        }
        map.serialize_entry("config_sha256", &self.config_sha256)?;
        map.end()
    }
}
