//! Uniform attention on the positions that decide the label, over the keys that the position which is read may look at.

use super::attended;
use super::info::MeasureInfo;
use super::subject::Subject;
use super::value::Measured;
use crate::config::ExperimentConfig;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [0.0, f64::INFINITY],
    is_per_head: false,
    check,
    value,
};

fn check(config: &ExperimentConfig) -> Result<(), String> {
    if !config.model.attention.softmax {
        let message = "does not exist for scores, which have no uniform attention \
                       (model.attention.softmax = false)";
        return Err(message.to_owned());
    }
    attended::check(config)
}

#[allow(clippy::unnecessary_wraps)] // As all measures.
fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let (mut sum, mut count) = (0.0, 0_usize);
    for (sample, deciding) in subject.decided() {
        if let Some(uniform) = subject.keys(sample).uniform(&deciding) {
            sum += uniform;
            count += 1;
        }
    }
    Ok((count > 0).then(|| sum / count as f64).into())
}
