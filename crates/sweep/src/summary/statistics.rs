//! Means, quantiles and confidence intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The 97.5% quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Figures of the known values of one quantity. The values themselves are not kept: reports have many such figures of many
/// runs.
#[derive(Serialize)]
pub(super) struct Stats {
    /// The number of values.
    pub(super) runs: usize,
    pub(super) mean: f64,
    /// Half the width of the mean's 95% confidence interval, by Student's t; `None` for a single value.
    pub(super) margin: Option<f64>,
    /// The standard deviation of the sample; `None` for a single value.
    pub(super) sd: Option<f64>,
    pub(super) min: f64,
    pub(super) p5: f64,
    pub(super) p25: f64,
    pub(super) median: f64,
    pub(super) p75: f64,
    pub(super) p95: f64,
    pub(super) max: f64,
}

impl Stats {
    /// Drops NaN and infinities; `None` if no value remains.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        // Squares and sums of large numbers would overflow. Powers of two round nothing.
        let scale = if first.abs().max(last.abs()) > 1e140 {
            2.0_f64.powi(-700)
        } else {
            1.0
        };
        let scaled = || sorted.iter().map(|value| value * scale);
        let count = sorted.len();
        // Of equal values, the sum's rounding would look like a deviation.
        let mean = if first < last {
            scaled().sum::<f64>() / count as f64
        } else {
            first * scale
        };
        let squares: f64 = scaled().map(|value| (value - mean).powi(2)).sum();
        let sd = (count > 1).then(|| (squares / (count - 1) as f64).sqrt() / scale);
        let quantile = |share| quantile(&sorted, share);
        Some(Self {
            runs: count,
            mean: mean / scale,
            margin: sd.map(|sd| student(count - 1) / (count as f64).sqrt() * sd),
            sd,
            min: quantile(0.0),
            p5: quantile(0.05),
            p25: quantile(0.25),
            median: quantile(0.5),
            p75: quantile(0.75),
            p95: quantile(0.95),
            max: quantile(1.0),
        })
    }
}

/// The quantile, by linear interpolation between neighbours, which is the default of `numpy.quantile`.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    // Half of it, since the difference of large numbers would overflow.
    let half = (above / 2.0 - below / 2.0) * rank.fract();
    below + half + half
}

/// The 97.5% quantile of Student's t.
fn student(freedom: usize) -> f64 {
    if freedom > 10_000 {
        // Abramowitz and Stegun, 26.7.5; for a million degrees, `inverse_cdf` errs by 6e-5.
        return NORMAL + (NORMAL.powi(3) + NORMAL) / (4.0 * freedom as f64);
    }
    let distribution = StudentsT::new(0.0, 1.0, freedom as f64);
    distribution.map_or(f64::INFINITY, |student| student.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.t.ppf(0.975, df)`.
    #[test]
    fn students_t_is_scipys() {
        for (freedom, expected) in [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (4, 2.776_445_105),
            (5, 2.570_581_836),
            (10, 2.228_138_852),
            (30, 2.042_272_456),
            (1000, 1.962_339_081),
            (10_000, 1.960_201_240),
            (10_001, 1.960_201_216),
            (1_000_000, 1.959_966_357),
        ] {
            let found = student(freedom);
            assert!((found / expected - 1.0).abs() < 1e-7, "{freedom}: {found}");
        }
    }
}
