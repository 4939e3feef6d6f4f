//! Counts of values in bins of equal width.

use std::fmt::Write;

use crate::words::number;

/// The fewest bins that values are spread over, and the most.
const BINS: [f64; 2] = [4.0, 24.0];

/// Counts of values in bins of equal width whose edges are round numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramPlot {
    /// The left edge of the first bin.
    pub start: f64,
    /// The width of a bin.
    pub width: f64,
    /// The number of values in each bin, which includes its left edge and not its right one.
    pub counts: Vec<usize>,
}

impl HistogramPlot {
    /// The histogram of the finite values; `None` if no value is finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let min = finite().reduce(f64::min)?;
        let max = finite().reduce(f64::max)?;
        // Of few values, most of many bins would be empty.
        let bins = (2.0 * (finite().count() as f64).sqrt()).clamp(BINS[0], BINS[1]);
        let width = round_up(
            half_range(min, max) / ((bins - 1.0) / 2.0),
            min.abs().max(max.abs()),
        );
        let first = (min / width).floor();
        let bin = |value: f64| ((value / width).floor() - first).max(0.0) as usize;
        let mut counts = vec![0; bin(max) + 1];
        for value in finite() {
            counts[bin(value)] += 1;
        }
        Some(Self {
            start: (first * width).clamp(f64::MIN, f64::MAX),
            width,
            counts,
        })
    }

    /// The left edge of a bin.
    pub fn edge(&self, bin: usize) -> f64 {
        // Multiples of the width, not sums of it, print as round numbers.
        let edge = ((self.start / self.width).round() + bin as f64) * self.width;
        edge.clamp(f64::MIN, f64::MAX)
    }

    /// The number of decimals that distinguishes the edges.
    pub fn decimals(&self) -> usize {
        decimals(self.width)
    }

    /// One line per bin; the longest bar takes the room that `columns` leave.
    pub fn text(&self, columns: usize) -> String {
        let decimals = self.decimals();
        let label = |bin| number(Some(self.edge(bin)), decimals);
        let labels = (0..=self.counts.len()).map(|bin| label(bin).len());
        let side = labels.max().unwrap_or(0);
        let most = self.counts.iter().max().copied().unwrap_or(0).max(1);
        let room = columns
            .saturating_sub(2 * side + most.to_string().len() + 5)
            .clamp(8, 60);
        let mut text = String::new();
        for (bin, &count) in self.counts.iter().enumerate() {
            let eighths = count * room * 8 / most;
            // No bin with values looks empty.
            let eighths = if count > 0 { eighths.max(1) } else { 0 };
            let mut bar = "█".repeat(eighths / 8);
            bar.extend(['▏', '▎', '▍', '▌', '▋', '▊', '▉'].get((eighths % 8).wrapping_sub(1)));
            let _ = writeln!(
                text,
                "{:>side$}–{:>side$} {bar} {count}",
                label(bin),
                label(bin + 1)
            );
        }
        text
    }
}

/// Half of `to - from`, which itself would overflow between the largest numbers.
pub(crate) fn half_range(from: f64, to: f64) -> f64 {
    to / 2.0 - from / 2.0
}

/// The number of decimals that distinguishes multiples of a round step.
pub(crate) fn decimals(step: f64) -> usize {
    (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `width`; if `width` is 0, a hundredth of
/// `size` takes its place.
pub(crate) fn round_up(width: f64, size: f64) -> f64 {
    let width = if width > 0.0 {
        // Float64 must hold the multiples of the width, and the width itself.
        width.max(size * 1e-12).max(1e-300)
    } else {
        (size * 0.01).max(1e-9)
    };
    let power = 10_f64.powf(width.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|step| step * power >= width * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}
