//! The share of the gap that is left if no query looks at the position that is read.
//! `pairs.rs` defines the gap.

use super::info::MeasureInfo;
use super::pairs::{info, measured};

pub(super) static INFO: MeasureInfo = info(|subject| {
    measured(subject, |pairs, subject| {
        let read = subject.config.inputs().read_position;
        pairs.left_without(subject, |position| position == read)
    })
});
