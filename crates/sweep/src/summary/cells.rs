//! The cells that the tables of a summary share.

use headlight_report::number;

use super::statistics::Stats;

/// The most rows of a table.
pub(super) const MOST_ROWS: usize = 64;

/// The mean of a quantity of so many runs, and the standard deviation if there is one.
pub(super) fn mean_and_sd(stats: &Stats, decimals: usize, runs: usize) -> [String; 2] {
    let mean = number(Some(stats.mean), decimals);
    [
        mean + &not_of_all(stats, runs).unwrap_or_default(),
        stats
            .sd
            .map_or_else(String::new, |sd| number(Some(sd), decimals)),
    ]
}

/// In how many of the runs a quantity is known, unless it is in all.
fn not_of_all(stats: &Stats, runs: usize) -> Option<String> {
    let known = stats.runs;
    (known < runs).then(|| format!(" in {known} of {runs}"))
}

/// The mean of a quantity of so many runs and half of its confidence interval, which equal values do not give.
pub(super) fn with_margin(stats: Option<&Stats>, decimals: usize, runs: usize) -> String {
    let Some(stats) = stats else {
        return number(None, decimals);
    };
    let mean = number(Some(stats.mean), decimals);
    let some = not_of_all(stats, runs);
    match stats.margin {
        Some(0.0) => mean + some.as_deref().unwrap_or(" in all"),
        Some(margin) => {
            let margin = number(Some(margin), decimals);
            format!("{mean} ± {margin}{}", some.unwrap_or_default())
        }
        None => mean + &some.unwrap_or_default(),
    }
}

/// A share in percent.
pub(super) fn share(part: usize, whole: usize) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}
