//! What is known of a measure, and its values.

use serde::Serialize;

use super::subject::Subject;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;

/// Which models have a measure, how tables show it, and how it is computed.
#[derive(Debug)]
pub struct MeasureInfo {
    /// Digits after the decimal point in tables.
    pub decimals: usize,
    /// Whether it has a value for each layer and head.
    pub is_per_head: bool,
    /// Why a config's models do not have it, as the rest of a sentence that begins with its name.
    pub(super) check: Check,
    /// Its value for a model.
    pub(super) value: Compute,
}

/// Why a config's models do not have a measure.
type Check = fn(&ExperimentConfig) -> Result<(), String>;

/// The value of a measure for a model.
type Compute = fn(&mut Subject<'_>) -> Result<MeasureValue, Error>;

impl MeasureInfo {
    /// A measure with one number.
    pub(super) const fn number(check: Check, value: Compute) -> Self {
        Self {
            decimals: 3,
            is_per_head: false,
            check,
            value,
        }
    }

    /// A measure with a number for each layer and head.
    pub(super) const fn per_head(check: Check, value: Compute) -> Self {
        Self {
            is_per_head: true,
            ..Self::number(check, value)
        }
    }
}

/// The value of a measure; `null` in JSON if no sample of the model defines it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MeasureValue {
    /// It is not defined.
    Undefined,
    /// One number.
    Number(f64),
    /// `[layer][head]`
    PerHead(Vec<Vec<f64>>),
}

impl From<Option<f64>> for MeasureValue {
    fn from(value: Option<f64>) -> Self {
        let number = value.filter(|value| value.is_finite());
        number.map_or(Self::Undefined, Self::Number)
    }
}
