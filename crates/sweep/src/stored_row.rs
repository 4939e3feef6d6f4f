//! Reads rows of a results file.

use std::collections::BTreeSet;

use headlight_experiment::config::ExperimentConfig;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::fields::{Field, Quantity, fields};
use crate::grid::{POINT_LIMIT, is_grid_key};

/// A row that was read: its place in the plan, and its text, from which [`fields`](Self::fields) come.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a JSON object")]
pub(crate) struct StoredRow {
    pub(crate) seed: u64,
    pub(crate) point: Option<usize>,
    pub(crate) config_sha256: String,
    /// Why the run failed.
    pub(crate) error: Option<String>,
    #[serde(skip)]
    text: String,
}

impl StoredRow {
    /// Reads a row.
    pub(crate) fn parse(text: String) -> Result<Self, String> {
        if text.starts_with('\u{feff}') {
            return Err("it begins with a byte order mark; save the file without one".to_owned());
        }
        let row: Self = serde_json::from_str(&text).map_err(no_row)?;
        match row.point {
            Some(point) if point >= POINT_LIMIT => Err(format!(
                "its `point` is {point}; a grid has at most {POINT_LIMIT}"
            )),
            _ => Ok(Self { text, ..row }),
        }
    }

    /// All that it holds.
    pub(crate) fn fields(&self) -> Result<Map<String, Value>, String> {
        let row: Map<String, Value> = serde_json::from_str(&self.text).map_err(no_row)?;
        for field in fields() {
            let value = row.get(&field.name);
            if value.is_none() && self.error.is_none() && field.is_in_rows_of(None) {
                return Err(format!(
                    "it lacks `{}`, which the row of every finished run has; use the file as `headlight sweep` wrote it",
                    field.name
                ));
            }
            let Some(value) = value.filter(|value| !value.is_null()) else {
                continue;
            };
            let is_outside = value
                .as_f64()
                .is_some_and(|value| !(0.0..=1.0).contains(&value));
            let wrong = match field.takes(value) {
                false => "does not have the form that a sweep writes",
                true if field.is_share() && is_outside => "is not between 0 and 1",
                true => continue,
            };
            return Err(format!("its `{}` {wrong}", field.name));
        }
        match (self.point, row.keys().any(|key| is_grid_key(key))) {
            (Some(_), false) => Err("it has a `point`, but no value of a grid".to_owned()),
            (None, true) => Err("it has values of a grid, but no `point`".to_owned()),
            _ => Ok(row),
        }
    }

    /// The grid's keys and values of a row with these fields, which are those of the earlier rows of its point.
    pub(crate) fn values(
        &self,
        fields: &Map<String, Value>,
        earlier: Option<&Map<String, Value>>,
    ) -> Result<Map<String, Value>, String> {
        let values = grid(fields);
        if earlier.is_some_and(|earlier| *earlier != values) {
            return Err(format!(
                "its values of the grid's keys differ from those of earlier rows of point {}",
                self.point.unwrap_or(0)
            ));
        }
        Ok(values)
    }

    /// Checks that a row holds all that a sweep writes: these values of the grid, and all results that the config asks for, or
    /// why the run failed.
    pub(crate) fn check(
        &self,
        values: &[(String, Value)],
        config: &ExperimentConfig,
    ) -> Result<(), String> {
        let row = self.fields()?;
        // As they are read, since a decimal number can be another one then.
        let written = |(key, value): &(String, Value)| {
            let value = serde_json::from_str(&value.to_string()).unwrap_or_default();
            (key.clone(), value)
        };
        if grid(&row) != values.iter().map(written).collect() {
            return Err("its grid values differ from those of this sweep".to_owned());
        }
        let sets: BTreeSet<&String> = config.tests.iter().map(|set| &set.name).collect();
        let epochs = config.training.epochs;
        let epochs = epochs.filter(|_| config.training.steps.is_none());
        let positions = config.data.cls.positions(config.data.seq_len);
        // Of all values, the hash alone is a text.
        let is_right = |field: &Field| match (field.quantity, row.get(&field.name)) {
            (Quantity::EpochLoss, Some(Value::Array(list))) => {
                epochs.is_none_or(|epochs| epochs == list.len())
            }
            (Quantity::Attention { .. }, Some(Value::Array(list))) => list.len() == positions,
            (Quantity::Tests, Some(Value::Object(tests))) => tests.keys().eq(sets.iter().copied()),
            (Quantity::EpochLoss | Quantity::Tests, _) | (_, None) => false,
            (of, Some(value)) => value.is_string() == (of == Quantity::WeightsSha256),
        };
        let mut expected = fields()
            .iter()
            .filter(|field| field.is_in_rows_of(Some(config)));
        match expected.find(|field| self.error.is_none() && !is_right(field)) {
            Some(field) => Err(format!(
                "its `{}` is missing, or of another form",
                field.name
            )),
            None => Ok(()),
        }
    }
}

#[allow(clippy::needless_pass_by_value)] // As `map_err` passes it.
fn no_row(error: serde_json::Error) -> String {
    let told = error.to_string();
    // The place in the text of the row says less than the line of the file, which stands before.
    let reason = told.split(" at line ").next().unwrap_or_default();
    format!("it is not a row of a sweep ({reason})")
}

/// The grid's keys in a row, and their values.
fn grid(row: &Map<String, Value>) -> Map<String, Value> {
    let keys = row.iter().filter(|(key, _)| is_grid_key(key));
    keys.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
