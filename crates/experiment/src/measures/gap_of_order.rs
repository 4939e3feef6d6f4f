//! How much the log-odds of "balanced" fall where two brackets of a balanced string are exchanged so that a prefix falls below zero.
//! `brackets.rs` defines it.

use super::brackets::{Fails, gap, info};
use super::info::MeasureInfo;

pub(super) static INFO: MeasureInfo = info(false, |subject| gap(subject, Fails::Order));
