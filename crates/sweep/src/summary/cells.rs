//! The cells that the tables of a summary share.

use headlight_inspector::number;

use super::statistics::Sample;

/// The most rows of a table.
pub(super) const MOST_ROWS: usize = 64;

/// The mean, and the standard deviation if there is one.
pub(super) fn mean_and_sd(sample: &Sample, decimals: usize) -> [String; 2] {
    [
        number(Some(sample.mean), decimals),
        sample
            .sd
            .map_or_else(String::new, |sd| number(Some(sd), decimals)),
    ]
}

/// The mean and half of its confidence interval, which equal values do not give.
pub(super) fn with_margin(sample: Option<&Sample>, decimals: usize) -> String {
    let Some(sample) = sample else {
        return number(None, decimals);
    };
    let mean = number(Some(sample.mean), decimals);
    match sample.margin {
        Some(0.0) => format!("{mean} in all"),
        Some(margin) => format!("{mean} ± {}", number(Some(margin), decimals)),
        None => mean,
    }
}

/// A share in percent.
pub(super) fn share(part: usize, whole: usize) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}
