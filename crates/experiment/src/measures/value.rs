//! The values of measures.

use serde::Serialize;

/// The value of a measure; `null` in JSON if no sample of the model defines it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measured {
    /// It is not defined.
    Undefined,
    /// One number.
    Number(f64),
    /// `[layer][head]`
    PerHead(Vec<Vec<f64>>),
}

impl From<Option<f64>> for Measured {
    fn from(value: Option<f64>) -> Self {
        value
            .filter(|value| value.is_finite())
            .map_or(Self::Undefined, Self::Number)
    }
}
