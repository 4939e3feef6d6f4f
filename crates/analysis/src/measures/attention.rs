//! Attention on the positions that decide the label, by the config's rule.

use super::info::{MeasureInfo, MeasureValue};
use super::subject::Subject;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Recording;

/// Attention on the positions that decide the label, by layer and head.
///
/// ```text
/// mean over samples of Σ_j a_ij    over the positions j that decide; i is the readout position
/// ```
pub(super) static DECIDING_ATTENTION: MeasureInfo =
    MeasureInfo::per_head(has_rule, deciding_attention);

fn deciding_attention(subject: &mut Subject<'_>) -> Result<MeasureValue, Error> {
    let decided = subject.decided();
    let (layers, heads) = (subject.config.model.n_layers, subject.config.model.n_heads);
    let mut means = vec![vec![0.0; heads]; layers];
    let size = subject.parts(usize::MAX).first().map_or(1, Vec::len);
    for part in decided.chunks(size) {
        let chosen: Vec<u32> = part.iter().map(|(sample, _)| *sample).collect();
        let forward = subject.forward(&chosen, &[], Recording::Attention)?;
        for (index, (sample, deciding)) in part.iter().enumerate() {
            for (layer, means) in means.iter_mut().enumerate() {
                for (head, mean) in means.iter_mut().enumerate() {
                    let row = subject.row(&forward, index, *sample, [layer, head]);
                    let paid: f64 = deciding.iter().map(|&key| f64::from(row[key])).sum();
                    *mean += paid;
                }
            }
        }
    }
    if decided.is_empty() {
        return Ok(MeasureValue::Undefined);
    }
    for mean in means.iter_mut().flatten() {
        *mean /= decided.len() as f64;
    }
    Ok(MeasureValue::PerHead(means))
}

/// Uniform attention on these positions, over the keys that the readout position may look at.
pub(super) static DECIDING_UNIFORM: MeasureInfo =
    MeasureInfo::number(has_uniform_attention, deciding_uniform);

fn has_uniform_attention(config: &ExperimentConfig) -> Result<(), String> {
    if !config.model.attention.softmax {
        let message = "does not exist for scores, which have no uniform attention \
                       (model.attention.softmax = false)";
        return Err(message.to_owned());
    }
    has_rule(config)
}

#[allow(clippy::unnecessary_wraps)] // As all measures.
fn deciding_uniform(subject: &mut Subject<'_>) -> Result<MeasureValue, Error> {
    let (mut sum, mut count) = (0.0, 0_usize);
    for (sample, deciding) in subject.decided() {
        if let Some(uniform) = subject.keys(sample).uniform(&deciding) {
            sum += uniform;
            count += 1;
        }
    }
    Ok((count > 0).then(|| sum / count as f64).into())
}

/// A rule says which positions decide.
fn has_rule(config: &ExperimentConfig) -> Result<(), String> {
    match config.data.rule {
        Some(_) => Ok(()),
        None => Err(
            "needs to know which positions decide a sample's label, and the config has no data.rule that says it"
                .to_owned(),
        ),
    }
}

impl Subject<'_> {
    /// The samples in which some position decides.
    fn decided(&self) -> Vec<(u32, Vec<usize>)> {
        let samples = 0..self.samples.len() as u32;
        let deciding = samples.map(|sample| (sample, self.deciding(sample)));
        deciding
            .filter(|(_, deciding)| !deciding.is_empty())
            .collect()
    }
}
