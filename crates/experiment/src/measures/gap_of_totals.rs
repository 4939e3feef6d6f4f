//! How much the log-odds of "balanced" fall where one bracket of a balanced string is turned.
//! `brackets.rs` defines it.

use super::brackets::{Fails, gap, info};
use super::info::MeasureInfo;

pub(super) static INFO: MeasureInfo = info(false, |subject| gap(subject, Fails::Totals));
