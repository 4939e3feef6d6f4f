//! The share of the gap that the last block's values carry, with attention weights as they are.
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
    Ok(pairs.carried(subject, false)?.into())
}
