//! The rows of a part.

use headlight_sweep::Record;
use serde_json::Value;

/// The rows of a part, without those of failed runs.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    records: Vec<Record>,
}

impl Rows {
    /// The rows of a part.
    pub fn new(records: Vec<Record>) -> Self {
        Self { records }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The seeds.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = u64> {
        self.records.iter().map(|record| record.seed)
    }

    /// A number of each run, or 1 for true; NaN where it is not defined. A path names an entry of a list or of an object:
    /// `deciding_attention/1/0`.
    pub(crate) fn numbers(&self, path: &str) -> Vec<f64> {
        let numbers = self.records.iter().map(|record| number(record, path));
        numbers.collect()
    }

    /// The rows for which a number is accepted.
    pub(crate) fn with(&self, path: &str, accepts: impl Fn(f64) -> bool) -> Self {
        let records = self.records.iter();
        let records = records.filter(|record| accepts(number(record, path)));
        Self {
            records: records.cloned().collect(),
        }
    }
}

fn number(record: &Record, path: &str) -> f64 {
    let mut parts = path.split('/');
    let field = parts.next().unwrap_or_default();
    let mut value = record.fields.get(field).unwrap_or(&Value::Null);
    for part in parts {
        let index = part.parse::<usize>().unwrap_or(usize::MAX);
        value = match value {
            Value::Array(values) => values.get(index).unwrap_or(&Value::Null),
            other => other.get(part).unwrap_or(&Value::Null),
        };
    }
    match value {
        Value::Bool(value) => f64::from(u8::from(*value)),
        value => value.as_f64().unwrap_or(f64::NAN),
    }
}
