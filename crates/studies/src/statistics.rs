//! Quantiles, the interval of a median, correlations, and a test of one mode.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// Known values, ascending.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let known = values.iter().copied().filter(|value| value.is_finite());
    let mut sorted: Vec<f64> = known.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// A quantile of the known values, between its neighbours; NaN of none.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let sorted = sorted(values);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = share * last as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The 95% interval of the median: between two values of which the binomial distribution says how often the median lies there.
/// `None` of fewer than six values, which say nothing so sure.
pub(crate) fn interval_of_median(values: &[f64]) -> Option<[f64; 2]> {
    let sorted = sorted(values);
    let count = sorted.len();
    let binomial = Binomial::new(0.5, count as u64).ok()?;
    // The most values that may be left out at each end.
    let cut = (0..count / 2)
        .take_while(|&cut| binomial.cdf(cut as u64) <= 0.025)
        .last()?;
    Some([sorted[cut], sorted[count - 1 - cut]])
}

/// Spearman's correlation of pairs that are both known; NaN of fewer than three.
pub(crate) fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let known = a
        .iter()
        .zip(b)
        .filter(|(a, b)| a.is_finite() && b.is_finite());
    let (a, b): (Vec<f64>, Vec<f64>) = known.unzip();
    if a.len() < 3 {
        return f64::NAN;
    }
    let (a, b) = (ranks(&a), ranks(&b));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// The 95% interval of Spearman's correlation: Fisher's z with the variance of Bonett and Wright 2000. `None` of fewer than ten pairs
/// that are both known.
pub(crate) fn interval_of_spearman(a: &[f64], b: &[f64]) -> Option<[f64; 2]> {
    let known = a
        .iter()
        .zip(b)
        .filter(|(a, b)| a.is_finite() && b.is_finite());
    let count = known.count();
    let correlation = spearman(a, b);
    if count < 10 || !correlation.is_finite() {
        return None;
    }
    let spread = 1.96 * ((1.0 + correlation * correlation / 2.0) / (count - 3) as f64).sqrt();
    let z = correlation.atanh();
    Some([(z - spread).tanh(), (z + spread).tanh()])
}

/// Ranks from 0; those of equal values are their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// The smoothed samples of [`one_mode`].
const SAMPLES: usize = 500;

/// A probability that [`one_mode`] gives, as text. None of its samples says that it is below one of them.
pub(crate) fn probability(value: f64) -> String {
    if value > 0.0 {
        format!("p = {value:.3}")
    } else {
        format!("p < {}", 1.0 / SAMPLES as f64)
    }
}

/// Silverman's test of one mode (Silverman 1981, "Using kernel density estimates to investigate multimodality"): the probability of
/// so large a critical bandwidth if the values came from a density with one mode. From 500 smoothed samples of a generator with a fixed
/// seed. `None` of fewer than ten different values.
pub(crate) fn one_mode(values: &[f64]) -> Option<f64> {
    let values = sorted(values);
    let mut different = values.clone();
    different.dedup();
    if different.len() < 10 {
        return None;
    }
    let (count, mean) = (
        values.len(),
        values.iter().sum::<f64>() / values.len() as f64,
    );
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / count as f64;
    // Between a bandwidth with several modes, and one with one.
    let mut bandwidth = [1e-4 * variance.sqrt(), 2.0 * variance.sqrt()];
    for _ in 0..30 {
        let middle = (bandwidth[0] * bandwidth[1]).sqrt();
        let side = usize::from(modes(&values, middle) == 1);
        bandwidth[side] = middle;
    }
    let critical = bandwidth[1];
    // As wide as the values are.
    let shrink = 1.0 / (1.0 + critical * critical / variance).sqrt();
    let normal = Normal::standard();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let more = (0..SAMPLES).filter(|_| {
        let sample: Vec<f64> = (0..count)
            .map(|_| {
                let value = values[random.random_range(0..count)];
                let shift = normal.inverse_cdf(random.random_range(1e-9..1.0));
                mean + (value - mean + critical * shift) * shrink
            })
            .collect();
        modes(&sample, critical) > 1
    });
    Some(more.count() as f64 / SAMPLES as f64)
}

/// The modes of a density of Gaussian kernels, counted on a grid.
fn modes(values: &[f64], bandwidth: f64) -> usize {
    const GRID: usize = 400;
    let (least, most) = values.iter().fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), &value| (least.min(value), most.max(value)),
    );
    let (start, step) = (
        least - 3.0 * bandwidth,
        (most - least + 6.0 * bandwidth) / (GRID - 1) as f64,
    );
    let density: Vec<f64> = (0..GRID)
        .map(|index| {
            let place = start + step * index as f64;
            let kernel = |value: &f64| (-0.5 * ((place - value) / bandwidth).powi(2)).exp();
            values.iter().map(kernel).sum()
        })
        .collect();
    let is_mode = |three: &&[f64]| three[1] > three[0] && three[1] >= three[2];
    density.windows(3).filter(is_mode).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let values = [3.0, 1.0, f64::NAN, 2.0, 4.0];
        assert_eq!(
            [0.0, 0.5, 1.0].map(|share| quantile(&values, share)),
            [1.0, 2.5, 4.0]
        );
        assert!(median(&[]).is_nan());
    }

    /// Of 15 values, the interval goes from the 4th to the 12th: the binomial distribution has 0.0176 below 4, and 0.0592 below 5.
    #[test]
    fn intervals_of_medians_are_between_ranks() {
        let values: Vec<f64> = (1..=15).map(f64::from).collect();
        assert_eq!(interval_of_median(&values), Some([4.0, 12.0]));
        assert_eq!(interval_of_median(&values[..5]), None);
    }

    #[test]
    fn ranks_correlate_whatever_the_scale() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert!((spearman(&a, &a.map(f64::exp)) - 1.0).abs() < 1e-12);
        assert!((spearman(&a, &[5.0, 4.0, 3.0, 2.0, 2.0]) + 0.974_679).abs() < 1e-6);
    }

    /// For a correlation near 0 of 103 pairs, Fisher's z has a deviation of about 0.1.
    #[test]
    fn intervals_of_correlations_are_fishers() {
        let a: Vec<f64> = (0..103).map(f64::from).collect();
        let Some([low, high]) =
            interval_of_spearman(&a, &a.iter().map(|x| x.sin()).collect::<Vec<_>>())
        else {
            panic!("103 pairs have an interval");
        };
        let correlation = spearman(&a, &a.iter().map(|x| x.sin()).collect::<Vec<_>>());
        assert!(low < correlation && correlation < high);
        assert!((high.atanh() - low.atanh() - 2.0 * 1.96 / 10.0).abs() < 0.01);
        assert_eq!(interval_of_spearman(&a[..9], &a[..9]), None);
    }

    #[test]
    fn one_mode_is_told_from_two() {
        let even: Vec<f64> = (0..150).map(f64::from).collect();
        let two = even
            .iter()
            .map(|&x| if x < 75.0 { x / 75.0 } else { 3.0 + x / 75.0 });
        let two: Vec<f64> = two.collect();
        assert!(one_mode(&even).is_some_and(|probability| probability > 0.2));
        assert!(one_mode(&two).is_some_and(|probability| probability < 0.01));
    }
}
