//! How many of all possible inputs are answered wrongly.
//! `certificate/` counts them.

use super::info::MeasureInfo;
use super::subject::Subject;
use super::value::Measured;
use crate::certificate;
use crate::config::ExperimentConfig;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 0,
    range: [0.0, f64::MAX],
    is_per_head: false,
    check,
    value,
};

/// Why a config's models have no certificate, as the rest of a sentence about a measure.
pub(super) fn check(config: &ExperimentConfig) -> Result<(), String> {
    certificate::check(config).map(|_| ())
}

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let wrong = subject.certificate()?.wrong;
    Ok(Some(wrong as f64).into())
}
