//! What is known of a measure.

use super::subject::Subject;
use crate::config::ExperimentConfig;
use crate::error::Error;
use crate::measures::value::Measured;

/// Which models have a measure, what its values can be, and how it is computed.
#[derive(Debug)]
pub struct MeasureInfo {
    /// Digits after the decimal point in tables.
    pub decimals: usize,
    /// The least and the largest value that it can have.
    pub range: [f64; 2],
    /// Whether it has a value for each block and head.
    pub is_per_head: bool,
    /// Why a config's models do not have it, as the rest of a sentence that begins with its name.
    pub(super) check: fn(&ExperimentConfig) -> Result<(), String>,
    /// Its value for a model.
    pub(super) value: fn(&mut Subject<'_>) -> Result<Measured, Error>,
}
