//! The rows of a results file as plain values.

use std::path::Path;

use headlight_trainer::Failure;
use serde_json::{Map, Value};

use crate::results::Rows;

/// A row, with some of its fields.
#[derive(Clone, Debug)]
pub struct Record {
    /// The seed of the run.
    pub seed: u64,
    /// The fields, by name.
    pub fields: Map<String, Value>,
}

/// The rows of a results file with the fields that `keep` accepts, without those of failed runs.
///
/// # Errors
/// When the file cannot be read, or is not a results file.
pub fn records(path: &Path, keep: impl Fn(&str) -> bool) -> Result<Vec<Record>, Failure> {
    let mut rows = Rows::open(path)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next(|key| key == "error" || keep(key))? {
        if !row.fields.contains_key("error") {
            records.push(Record {
                seed: row.seed,
                fields: row.fields,
            });
        }
    }
    Ok(records)
}
