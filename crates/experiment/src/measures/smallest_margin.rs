//! The smallest margin of all possible inputs.
//! `certificate/` finds it.

use super::info::MeasureInfo;
use super::subject::Subject;
use super::value::Measured;
use super::wrong_inputs::check;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [f64::MIN, f64::MAX],
    is_per_head: false,
    check,
    value,
};

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    Ok(subject.certificate()?.smallest_margin.into())
}
