//! Attention on the positions that decide the label, by block and head.
//!
//! ```text
//! mean over samples of Σ_j a_ij    over the positions j that decide; i is the position that is read
//! ```

use super::attended;
use super::info::MeasureInfo;
use super::subject::Subject;
use super::value::Measured;
use crate::error::Error;
use crate::fused::Recorded;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [f64::NEG_INFINITY, f64::INFINITY],
    is_per_head: true,
    check: attended::check,
    value,
};

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let decided = subject.decided();
    let (layers, heads) = (subject.config.model.n_layers, subject.config.model.n_heads);
    let mut means = vec![vec![0.0; heads]; layers];
    let size = subject.parts(usize::MAX).first().map_or(1, Vec::len);
    for part in decided.chunks(size) {
        let chosen: Vec<u32> = part.iter().map(|(sample, _)| *sample).collect();
        let forward = subject.forward(&chosen, &[], Recorded::Attention)?;
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
        return Ok(Measured::Undefined);
    }
    for mean in means.iter_mut().flatten() {
        *mean /= decided.len() as f64;
    }
    Ok(Measured::PerHead(means))
}
