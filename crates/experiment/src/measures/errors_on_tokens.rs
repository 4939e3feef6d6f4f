//! Of the wrong answers to all samples that are possible, the share that name another token of the sample.
//! `all_samples.rs` answers them.

use super::all_samples;
use super::info::MeasureInfo;
use super::subject::Subject;
use super::value::Measured;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [0.0, 1.0],
    is_per_head: false,
    check: all_samples::check,
    value,
};

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let answers = subject.answers()?;
    let value = {
        let wrong = answers.count - answers.right;
        (wrong > 0).then(|| answers.of_another_token as f64 / wrong as f64)
    };
    Ok(value.into())
}
