//! How much the log-odds of class 1 change with the tokens that decide it.
//! `pairs.rs` defines the gap.

use super::info::MeasureInfo;
use super::pairs::{info, measured};

pub(super) static INFO: MeasureInfo =
    info(|subject| measured(subject, |pairs, subject| pairs.gap(subject, &[]).map(Some)));
