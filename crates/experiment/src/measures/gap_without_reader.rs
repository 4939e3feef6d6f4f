//! The share of the gap that is left if no query looks at the position that is read.
//! `pairs.rs` defines the gap.

use super::info::MeasureInfo;
use super::pairs::{self, Pairs};
use super::subject::Subject;
use super::value::Measured;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [f64::NEG_INFINITY, f64::INFINITY],
    is_per_head: false,
    check: pairs::check,
    value,
};

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let Some(pairs) = Pairs::new(subject)? else {
        return Ok(Measured::Undefined);
    };
    let read = subject.config.inputs().read_position;
    Ok(pairs
        .left_without(subject, |position| position == read)?
        .into())
}
