//! How a model answers random inputs, where all are too many to count.

use headlight_data::Stream;
use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

use super::answers::Answers;
use super::check::{check_rule, tokens};
use crate::config::ExperimentConfig;
use crate::error::Error;

/// Inputs that are computed at once.
const AT_ONCE: u64 = 1024;

/// What the interval leaves out on each side.
const OUTSIDE: f64 = 0.025;

/// How a model answers random inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sampled {
    /// Inputs, drawn uniformly and independently.
    pub inputs: u64,
    /// Those that are answered wrongly.
    pub wrong: u64,
    /// The share of all inputs that are answered wrongly lies in this interval in at least 95 of 100 such samples (Clopper and
    /// Pearson 1934).
    pub interval: [f64; 2],
}

/// Asks a config's model, of any kind, about random inputs.
///
/// # Errors
/// When not every input has a class, or the weights are not those of the model.
pub fn sample(
    config: &ExperimentConfig,
    weights: &[f32],
    count: u64,
    seed: u64,
    watch: &(dyn Fn(f64) -> Result<(), Error> + Sync),
) -> Result<Sampled, Error> {
    let rule =
        check_rule(config).map_err(|reason| Error::Input(format!("a certificate {reason}")))?;
    let mut answers = Answers::new(config, weights)?;
    let tokens = tokens(config);
    let mut numbers = Stream::Inputs.numbers(seed);
    let (mut inputs, mut wrong) = (0, 0);
    while inputs < count {
        watch(inputs as f64 / count as f64)?;
        let own = AT_ONCE.min(count - inputs);
        let (mut all, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..own {
            let start = all.len();
            all.extend(
                tokens
                    .iter()
                    .map(|tokens| tokens.start + numbers(tokens.len() as u32)),
            );
            labels.push(rule.label_for(&all[start..], config.data.cls, config.data.n_classes));
        }
        let answers = answers.of(&all, &labels).into_iter().zip(&labels);
        wrong += answers
            .filter(|((predicted, _), label)| predicted != *label)
            .count() as u64;
        inputs += own;
    }
    Ok(Sampled {
        inputs,
        wrong,
        interval: exact_interval(wrong, inputs),
    })
}

/// The interval of Clopper and Pearson, of 95%.
fn exact_interval(part: u64, whole: u64) -> [f64; 2] {
    let (part, rest) = (part as f64, (whole - part) as f64);
    [
        quantile(part, rest + 1.0, OUTSIDE).unwrap_or(0.0),
        quantile(part + 1.0, rest, 1.0 - OUTSIDE).unwrap_or(1.0),
    ]
}

/// That of a beta distribution, halving by halving: the library's is off by 1e-10, as much as shares may be.
fn quantile(a: f64, b: f64, share: f64) -> Option<f64> {
    const HALVINGS: usize = 100;
    let beta = Beta::new(a, b).ok()?;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if beta.cdf(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::exact_interval;

    /// `scipy.stats` 1.17.1: `beta.ppf(0.025, k, n - k + 1)` and `beta.ppf(0.975, k + 1, n - k)`.
    #[test]
    fn intervals_are_those_of_scipy() {
        for (part, whole, [low, high]) in [
            (0, 1, [0.0, 0.975]),
            (1, 1, [0.025, 1.0]),
            (3, 10, [0.066_739_511_177_734_47, 0.652_452_850_059_997_3]),
            (0, 1000, [0.0, 0.003_682_083_896_865_671]),
            (
                1,
                1000,
                [2.531_748_749_129_404e-5, 0.005_558_924_279_826_672],
            ),
            (500, 1000, [0.468_549_172_971_791_94, 0.531_450_827_028_208]),
            (1000, 1000, [0.996_317_916_103_134_4, 1.0]),
            (
                123,
                100_000,
                [0.001_022_351_368_324_684_9, 0.001_467_389_839_455_511_5],
            ),
            (
                2,
                1_000_000,
                [2.422_093_703_160_032_6e-7, 7.224_668_794_452_281_4e-6],
            ),
            (
                999_999,
                1_000_000,
                [0.999_994_428_369_344_8, 0.999_999_974_682_192_4],
            ),
        ] {
            let found = exact_interval(part, whole);
            for (found, expected) in found.into_iter().zip([low, high]) {
                assert!(
                    (found - expected).abs() <= 1e-9 * expected,
                    "{part} of {whole}: {found}, not {expected}"
                );
            }
        }
    }
}
