//! How much the loss rises without each head.
//!
//! ```text
//! mean over samples of loss(without the head) - loss
//! ```
//!
//! A head that is left out gives nothing: its context is 0 at every position.

use super::info::{MeasureInfo, MeasureValue};
use super::subject::{MOST_SAMPLES, Subject};
use headlight_experiment::Error;
use headlight_experiment::fused::{Intervention, Recording};

pub(super) static HEAD_REMOVAL: MeasureInfo = MeasureInfo::per_head(|_| Ok(()), value);

fn value(subject: &mut Subject<'_>) -> Result<MeasureValue, Error> {
    let (layers, heads) = (subject.config.model.n_layers, subject.config.model.n_heads);
    let parts = subject.parts(MOST_SAMPLES);
    let count: usize = parts.iter().map(Vec::len).sum();
    if count == 0 {
        return Ok(MeasureValue::Undefined);
    }
    let mut loss = |changes: &[Intervention]| -> Result<f64, Error> {
        let mut sum = 0.0;
        for chosen in &parts {
            let forward = subject.forward(chosen, changes, Recording::Predictions)?;
            let losses = forward.predictions.losses.iter();
            sum += losses.map(|&loss| f64::from(loss)).sum::<f64>();
        }
        Ok(sum / count as f64)
    };
    let whole = loss(&[])?;
    let mut rises = Vec::new();
    for layer in 0..layers {
        let rise = |head| Ok(loss(&[Intervention::AblateHead { layer, head }])? - whole);
        rises.push((0..heads).map(rise).collect::<Result<_, Error>>()?);
    }
    Ok(MeasureValue::PerHead(rises))
}
