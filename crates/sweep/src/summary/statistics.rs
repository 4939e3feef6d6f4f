//! Means, quantiles and confidence intervals.

use serde::ser::{Serialize, SerializeStruct, Serializer};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The 97.5% quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The quantiles of a sample, with their names in JSON.
const QUANTILES: [(&str, f64); 7] = [
    ("min", 0.0),
    ("p5", 0.05),
    ("p25", 0.25),
    ("median", 0.5),
    ("p75", 0.75),
    ("p95", 0.95),
    ("max", 1.0),
];

/// Figures of the known values of one quantity. The values themselves are not kept: reports have many samples of many
/// runs.
pub(super) struct Sample {
    count: usize,
    mean: f64,
    sd: Option<f64>,
    /// In the order of [`QUANTILES`].
    quantiles: [f64; QUANTILES.len()],
}

impl Sample {
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
        Some(Self {
            count,
            mean: mean / scale,
            sd: (count > 1).then(|| (squares / (count - 1) as f64).sqrt() / scale),
            quantiles: QUANTILES.map(|(_, share)| quantile(&sorted, share)),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the sample; `None` for a single value.
    pub(super) fn sd(&self) -> Option<f64> {
        self.sd
    }

    /// Half the width of the mean's 95% confidence interval, by Student's t.
    pub(super) fn margin(&self) -> Option<f64> {
        let count = self.len() as f64;
        Some(student(self.len().checked_sub(1)?) / count.sqrt() * self.sd()?)
    }

    /// One of [`QUANTILES`].
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let same = |(_, other): &(&str, f64)| (other - share).abs() < 1e-9;
        let place = QUANTILES.iter().position(same);
        place.map_or(f64::NAN, |place| self.quantiles[place])
    }
}

/// The quantile, by linear interpolation between neighbours, which is the default of `numpy.quantile`.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    // Half of it, since the difference of large numbers would overflow.
    let half = (above / 2.0 - below / 2.0) * place.fract();
    below + half + half
}

/// All that tables show of samples, as numbers.
impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Sample", 4 + QUANTILES.len())?;
        fields.serialize_field("runs", &self.len())?;
        fields.serialize_field("mean", &self.mean())?;
        fields.serialize_field("margin", &self.margin())?;
        fields.serialize_field("sd", &self.sd())?;
        for ((name, _), value) in QUANTILES.iter().zip(&self.quantiles) {
            fields.serialize_field(name, value)?;
        }
        fields.end()
    }
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
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    /// `numpy.quantile([1, 2, 4, 8], [0, .05, .5, .95, 1])`, `numpy.std([1, 2, 4, 8], ddof=1)`, and
    /// `scipy.stats.t.interval(0.95, 3, 3.75, scipy.stats.sem([1, 2, 4, 8]))`.
    #[test]
    fn statistics_are_numpys() {
        let values = Sample::of([8.0, 1.0, f64::NAN, 4.0, 2.0].into_iter()).unwrap();
        for (share, expected) in [
            (0.0, 1.0),
            (0.05, 1.15),
            (0.5, 3.0),
            (0.95, 7.4),
            (1.0, 8.0),
        ] {
            assert!((values.quantile(share) - expected).abs() < 1e-12, "{share}");
        }
        assert!((values.mean() - 3.75).abs() < 1e-12);
        assert!((values.sd().unwrap() - 3.095_695_936_834_452_4).abs() < 1e-12);
        assert!((values.margin().unwrap() - 4.925_943_048_2).abs() < 1e-6);
        assert!(Sample::of([f64::NAN].into_iter()).is_none());
        let one = Sample::of([2.0].into_iter()).unwrap();
        assert_eq!((one.sd(), one.margin()), (None, None));
    }

    /// By hand: the mean of a and 3a is 2a, and their deviation a times the root of 2.
    #[test]
    fn large_numbers_do_not_overflow() {
        let large = Sample::of([3e300, 1e300].into_iter()).unwrap();
        assert!((large.mean() / 2e300 - 1.0).abs() < 1e-12);
        let sd = 2.0_f64.sqrt() * 1e300;
        assert!((large.sd().unwrap() / sd - 1.0).abs() < 1e-12);
    }

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
