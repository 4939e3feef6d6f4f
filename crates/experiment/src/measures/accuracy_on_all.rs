//! The accuracy over all samples that are possible.
//! `all_samples.rs` answers them.

use super::all_samples;
use super::info::MeasureInfo;
use super::subject::Subject;
use super::value::Measured;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 6,
    range: [0.0, 1.0],
    is_per_head: false,
    check: all_samples::check,
    value,
};

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let answers = subject.answers()?;
    let (right, count) = (answers.count - answers.wrong(), answers.count);
    let value = (count > 0).then(|| right as f64 / count as f64);
    Ok(value.into())
}
