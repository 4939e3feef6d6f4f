//! The smallest margin of all possible inputs.
//! `certificate/` finds it.

use super::info::MeasureInfo;
use super::wrong_inputs::check;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [f64::MIN, f64::MAX],
    is_per_head: false,
    check,
    value: |subject| {
        Ok(subject
            .certificate
            .and_then(|own| own.smallest_margin)
            .into())
    },
};
