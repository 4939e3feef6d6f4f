//! How many of all possible inputs are answered wrongly.
//! `certificate/` counts them.

use super::info::MeasureInfo;
use crate::certificate;
use crate::config::ExperimentConfig;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 0,
    range: [0.0, f64::MAX],
    is_per_head: false,
    check,
    value: |subject| Ok(subject.certificate.map(|own| own.wrong as f64).into()),
};

/// Why a config's models have no certificate, as the rest of a sentence about a measure.
pub(super) fn check(config: &ExperimentConfig) -> Result<(), String> {
    certificate::check(config).map(|_| ())
}
