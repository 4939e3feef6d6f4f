//! The share of the gap that is left if queries look at nothing but the positions that decide and the one that is read.
//! `pairs.rs` defines the gap.

use super::info::MeasureInfo;
use super::pairs::{info, measured};

pub(super) static INFO: MeasureInfo = info(|subject| {
    measured(subject, |pairs, subject| {
        let read = subject.config.inputs().read_position;
        let rule = subject.config.data.rule.as_ref();
        let deciding = rule
            .and_then(|rule| rule.fixed_positions())
            .unwrap_or_default();
        pairs.left_without(subject, |position| {
            position != read && !deciding.contains(&position)
        })
    })
});
