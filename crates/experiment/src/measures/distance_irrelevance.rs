//! Distance irrelevance (Zhong et al. 2023, "The Clock and the Pizza: Two Stories in Mechanistic Explanation of
//! Neural Networks", arXiv 2306.17844; its code is `eval-main.ipynb` of fjzzq2002/pizza).
//!
//! With `z[s][d]` the logit of the right class for the two numbers whose sum is `s` and whose difference is `d`, modulo p:
//!
//! ```text
//! mean over d of std_s z[s][d]  /  std z
//! ```
//!
//! Standard deviations are those of all values, not of a sample. If p is odd, each sum and difference belong to one pair of
//! numbers.

use super::info::MeasureInfo;
use super::subject::Subject;
use super::sums::Sums;
use super::value::Measured;
use crate::config::ExperimentConfig;
use crate::error::Error;
use crate::fused::Recorded;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [0.0, f64::INFINITY],
    is_per_head: false,
    check,
    value,
};

/// Pairs of numbers in a pass.
const AT_ONCE: usize = 512;

fn check(config: &ExperimentConfig) -> Result<(), String> {
    let Sums { modulus, .. } = Sums::of(config)?;
    if modulus.is_multiple_of(2) {
        return Err(format!(
            "needs an odd modulus, where each sum and difference belong to one pair of numbers; data.rule.modulus is {modulus}"
        ));
    }
    Ok(())
}

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let sums = Sums::of(subject.config).map_err(Error::Input)?;
    let p = sums.modulus;
    let pairs: Vec<[u32; 2]> = (0..p).flat_map(|a| (0..p).map(move |b| [a, b])).collect();
    // `[difference][sum]`
    let mut logits = vec![vec![0.0; p as usize]; p as usize];
    for part in pairs.chunks(AT_ONCE) {
        let samples = part.iter().map(|&pair| sums.sample(pair));
        let samples = subject.config.unlabelled(samples).map_err(Error::Input)?;
        let chosen: Vec<u32> = (0..part.len() as u32).collect();
        let forward = subject.frozen.forward(
            subject.weights,
            &samples,
            &chosen,
            &[],
            Recorded::Predictions,
        )?;
        let each = forward.dims.logits;
        for (&[a, b], own) in part.iter().zip(forward.predictions.logits.chunks(each)) {
            let (sum, difference) = ((a + b) % p, (p + a - b) % p);
            logits[difference as usize][sum as usize] = f64::from(own[sum as usize]);
        }
    }
    let columns: f64 = logits.iter().map(|column| deviation(column)).sum();
    let all: Vec<f64> = logits.concat();
    let whole = deviation(&all);
    Ok((whole > 0.0).then(|| columns / f64::from(p) / whole).into())
}

/// The standard deviation of all values there are.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    (squares / count).sqrt()
}
