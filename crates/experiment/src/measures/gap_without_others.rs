//! The share of the gap that is left if queries look at nothing but the positions that decide and the one that is read.
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
    let rule = subject.config.data.rule.as_ref();
    let deciding = rule
        .and_then(|rule| rule.fixed_positions())
        .unwrap_or_default();
    let is_hidden = |position: usize| position != read && !deciding.contains(&position);
    Ok(pairs.left_without(subject, is_hidden)?.into())
}
