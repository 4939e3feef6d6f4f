//! How much the log-odds of class 1 change in samples of class 1 if the position that is read looks at nothing but the positions
//! that decide. `pairs.rs` has the samples.

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
    Ok(Some(pairs.gain_of_looking(subject, true)?).into())
}
