//! Circularity (Zhong et al. 2023, "The Clock and the Pizza", arXiv 2306.17844).
//!
//! With `v` one of the first four principal components of the embeddings of the numbers 0 to p - 1, as a vector `[p]` of
//! length 1, and `F_k = Σ_t v_t e^(2πikt/p)`:
//!
//! ```text
//! mean over the components of max_k 2 |F_k|² / p    for k from 1 to p/2; |F_k|² / p for k = p/2
//! ```
//!
//! That is the share of the component's power at the frequency that has most of it: 1 for a cosine.

use std::f64::consts::TAU;

use headlight_architecture::mathematics::{cos, sin};

use super::components::principal_components;
use super::info::MeasureInfo;
use super::subject::Subject;
use super::sums::Sums;
use super::value::Measured;
use crate::config::ExperimentConfig;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [0.0, 1.0],
    is_per_head: false,
    check,
    value,
};

/// The principal components.
const COMPONENTS: usize = 4;

/// The largest side of the matrix whose eigenvectors are sought: that takes seconds.
const MOST: usize = 640;

fn check(config: &ExperimentConfig) -> Result<(), String> {
    let (p, width) = (Sums::of(config)?.modulus as usize, config.model.d_model);
    if width < COMPONENTS || p <= COMPONENTS {
        return Err(format!(
            "is a mean over {COMPONENTS} principal components; model.d_model must be at least {COMPONENTS}, and \
             data.rule.modulus at least {}",
            COMPONENTS + 1
        ));
    }
    if p.min(width) > MOST {
        return Err(format!(
            "needs the eigenvectors of a matrix of {0} x {0}, more than {MOST} x {MOST}; lower model.d_model or data.rule.modulus",
            p.min(width)
        ));
    }
    Ok(())
}

#[allow(clippy::unnecessary_wraps)] // As all measures.
fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let sums = Sums::of(subject.config).map_err(Error::Input)?;
    let rows = sums.tokens.iter().map(|&token| {
        let row = subject.embedding(token).iter();
        row.map(|&number| f64::from(number)).collect()
    });
    let components = principal_components(&rows.collect::<Vec<Vec<f64>>>(), COMPONENTS);
    let shares: Option<Vec<f64>> = components
        .iter()
        .map(|component| component.as_deref().map(largest_share))
        .collect();
    let mean = |shares: Vec<f64>| shares.iter().sum::<f64>() / COMPONENTS as f64;
    Ok(shares.map(mean).into())
}

/// The largest share of the power of a vector of length 1 at one frequency but 0.
fn largest_share(vector: &[f64]) -> f64 {
    let p = vector.len();
    let circle: Vec<[f64; 2]> = (0..p)
        .map(|step| {
            let angle = TAU * step as f64 / p as f64;
            [cos(angle), sin(angle)]
        })
        .collect();
    let mut largest = 0.0_f64;
    for frequency in 1..=p / 2 {
        let mut sum = [0.0; 2];
        for (t, value) in vector.iter().enumerate() {
            let [cosine, sine] = circle[frequency * t % p];
            sum[0] += value * cosine;
            sum[1] += value * sine;
        }
        let power = (sum[0] * sum[0] + sum[1] * sum[1]) / p as f64;
        // Power at a frequency is also at its negative one, which for p/2 is itself.
        largest = largest.max(if 2 * frequency == p {
            power
        } else {
            2.0 * power
        });
    }
    largest.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `np.abs(np.fft.fft(v))**2` of the vector over its sum of squares: by hand for cosines, by NumPy for the last.
    #[test]
    fn shares_are_those_of_the_power() {
        let wave = |p: u32, frequency: f64| -> Vec<f64> {
            let angle = |t| TAU * frequency * f64::from(t) / f64::from(p) + 0.7;
            let values: Vec<f64> = (0..p).map(|t| angle(t).cos()).collect();
            let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
            values.iter().map(|value| value / length).collect()
        };
        for (p, frequency) in [(59, 1.0), (59, 17.0), (12, 5.0), (12, 6.0)] {
            let share = largest_share(&wave(p, frequency));
            assert!((share - 1.0).abs() < 1e-9, "{p} {frequency}: {share}");
        }
        // Two frequencies with 0.8 and 0.2 of the power.
        let pairs = wave(59, 3.0).into_iter().zip(wave(59, 20.0));
        let both: Vec<f64> = pairs
            .map(|(a, b)| 0.8_f64.sqrt() * a + 0.2_f64.sqrt() * b)
            .collect();
        assert!((largest_share(&both) - 0.8).abs() < 1e-9);
        // Half of the power of a single spike is nowhere: each frequency but 0 has 2/p, that of p/2 has 1/p.
        assert!((largest_share(&[1.0, 0.0, 0.0, 0.0]) - 0.5).abs() < 1e-12);
        assert!((largest_share(&[1.0, 0.0]) - 0.5).abs() < 1e-12);
    }
}
