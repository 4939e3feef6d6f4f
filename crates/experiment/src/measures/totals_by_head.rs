//! What each head carries of `gap_of_totals`.
//! `brackets.rs` defines it.

use super::brackets::{Fails, heads, info};
use super::info::MeasureInfo;

pub(super) static INFO: MeasureInfo = info(true, |subject| heads(subject, Fails::Totals));
