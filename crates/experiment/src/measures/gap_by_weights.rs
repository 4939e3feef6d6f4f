//! The share of the gap that the last block's attention weights carry, with values as they are.
//! `pairs.rs` defines the gap.

use super::info::MeasureInfo;
use super::pairs::{info, measured};

pub(super) static INFO: MeasureInfo =
    info(|subject| measured(subject, |pairs, subject| pairs.carried(subject, true)));
