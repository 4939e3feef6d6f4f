//! How much the log-odds of class 1 change in samples of class 1 if the position that is read looks at nothing but the positions
//! that decide. `pairs.rs` has the samples.

use super::info::MeasureInfo;
use super::pairs::{info, measured};

pub(super) static INFO: MeasureInfo = info(|subject| {
    measured(subject, |pairs, subject| {
        pairs.gain_of_looking(subject, true).map(Some)
    })
});
