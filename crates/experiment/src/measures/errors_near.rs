//! Of the wrong answers to all samples that are possible, the share whose number differs from the label's by 1 or 2.
//! `all_samples.rs` answers them.

use super::all_samples::info;
use super::info::MeasureInfo;

pub(super) static INFO: MeasureInfo = info([0.0, 1.0], |subject| {
    let answers = subject.answers()?;
    Ok(answers.of_wrong(answers.near).into())
});
