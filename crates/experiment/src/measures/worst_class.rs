//! The class of which most samples are answered wrongly, of all samples that are possible; the first of several.
//! `all_samples.rs` answers them.

use super::all_samples::info;
use super::info::MeasureInfo;

pub(super) static INFO: MeasureInfo = info([0.0, f64::INFINITY], |subject| {
    let answers = subject.answers()?;
    let (class, wrong) = answers.worst_class();
    Ok((wrong > 0).then_some(class as f64).into())
});
