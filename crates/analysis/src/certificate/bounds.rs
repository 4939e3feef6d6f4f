//! How small a margin can become among the inputs of a region.
//!
//! The margin of one class over another is `δ · y / s + o`, with `s = sqrt(|y|² / d + ε)` (`logits.rs`). It is above a threshold `τ`
//! where
//!
//! ```text
//! F(y) = δ · y + K s(y),    K = o - τ
//! ```
//!
//! is above 0. `F` is bounded from below at a centre `c`, the `y` of the middle of what each position holds:
//!
//! - `s` is a norm of `(y / √d, √ε)`, so it is convex. If `K` is not negative, `F` is above its tangent `F(c) + G · (y - c)` with
//!   `G = δ + K c / (d s(c))` (Boyd and Vandenberghe 2004, 3.1.3).
//! - If `K` is negative, `F` is below its tangent by no more than `|K|` times what `s` is above its own. With `R`, `A` and `P` the
//!   largest lengths of `y - c` in that norm, of its part along `c` and of its part perpendicular to it, this is at most `2 R`, and at
//!   most `P² / 2 (s(c) - A)`, since `sqrt(l² + p²) ≤ l + p² / (2 l)`.
//!
//! With `z = e m - e c_h` for a head's part `c_h` of the centre, `y - c = Σ_heads (Σ_p z) / (Σ_p e)`. So the tangent is a sum of such
//! ratios, whose numerators are sums of one number for each token, of which each position has a least one; and `R`, `A` and `P`
//! are at most sums of such ratios of largest lengths.

use super::logits::dot;
use super::region::{PositionTokens, Region, range};
use super::table::{Table, add, add_times};

/// The middle of a region.
#[derive(Clone, Debug)]
pub(super) struct Centre<'a> {
    table: &'a Table<'a>,
    region: &'a Region,
    /// The centre `c`, what each head adds to it, and `s(c)`. `[head][width]`
    y: Vec<f64>,
    means: Vec<Vec<f64>>,
    size: f64,
}

impl<'a> Centre<'a> {
    pub(super) fn new(table: &'a Table<'a>, region: &'a Region) -> Self {
        let stride = 1 + table.base.len();
        let mut sums = vec![0.0; table.heads * stride];
        for held in &region.positions {
            let cells = sums.iter_mut().zip(held.middles());
            cells.for_each(|(sum, middle)| *sum += middle);
        }
        let mut y = table.base.clone();
        let mean = |sums: &[f64]| -> Vec<f64> {
            let inverse = 1.0 / sums[0];
            sums[1..].iter().map(|sum| sum * inverse).collect()
        };
        let means: Vec<Vec<f64>> = sums.chunks_exact(stride).map(mean).collect();
        for mean in &means {
            add(&mut y, mean);
        }
        Self {
            size: table.logits.size(dot(&y, &y)),
            table,
            region,
            y,
            means,
        }
    }

    /// The logits.
    pub(super) fn logits(&self) -> Vec<f64> {
        self.table.logits.all(&self.y, self.size)
    }

    /// For each token of each position, a number that is above 0 only if all inputs of the region that hold it have a margin of a class
    /// over all others that is above `threshold + scaled / s`. The larger, the farther. `[position][token]`
    pub(super) fn least(&self, class: usize, threshold: f64, scaled: f64) -> Vec<Vec<f64>> {
        let bend = self.bend();
        let of_position = |held: &PositionTokens| vec![f64::INFINITY; held.tokens.len()];
        let mut found: Vec<_> = self.positions().map(of_position).collect();
        for other in (0..self.table.logits.offsets.len()).filter(|&other| other != class) {
            let bounds = self.over([class, other], threshold, scaled, bend);
            let pairs = found.iter_mut().flatten().zip(bounds.into_iter().flatten());
            for (found, bound) in pairs {
                // A number that is none bounds nothing.
                if bound.is_nan() || bound < *found {
                    *found = bound;
                }
            }
        }
        found
    }

    fn positions(&self) -> impl Iterator<Item = &PositionTokens> {
        self.region.positions.iter().map(AsRef::as_ref)
    }

    /// The least and the largest sum of a column.
    fn range(&self, i: usize) -> [f64; 2] {
        [0, 1].map(|end| self.positions().map(|held| held.ranges[i][end]).sum())
    }

    /// The same for a class over another.
    fn over(
        &self,
        [class, other]: [usize; 2],
        threshold: f64,
        scaled: f64,
        bend: f64,
    ) -> Vec<Vec<f64>> {
        let Table {
            heads,
            base,
            logits,
            ..
        } = self.table;
        let steep = logits.offsets[class] - logits.offsets[other] - threshold;
        let per_size = steep * logits.square / self.size;
        let directions = logits.directions[class]
            .iter()
            .zip(&logits.directions[other]);
        let slope: Vec<f64> = directions
            .zip(&self.y)
            .map(|((of_class, of_other), y)| of_class - of_other + per_size * y)
            .collect();
        // G · c is F(c) less what K ε adds.
        let height = dot(&slope, &self.y) + steep * logits.eps / self.size - scaled;
        let bent = bend * (-steep).max(0.0);
        let of_position = |held: &PositionTokens| vec![-bent; held.tokens.len()];
        let mut totals: Vec<_> = self.positions().map(of_position).collect();
        for (head, mean) in self.means.iter().enumerate() {
            let first = head * (1 + base.len());
            let shift = height / *heads as f64 - dot(&slope, mean);
            let values = self.positions().map(|held| {
                let mut values = vec![0.0; held.tokens.len()];
                add_times(&mut values, shift, held.column(first));
                for (i, slope) in (first + 1..).zip(&slope) {
                    add_times(&mut values, *slope, held.column(i));
                }
                values
            });
            let values: Vec<Vec<f64>> = values.collect();
            let least = |values: &Vec<f64>| range(values.iter().copied())[0];
            let least: Vec<f64> = values.iter().map(least).collect();
            let [low, high] = self.range(first);
            for (position, (totals, values)) in totals.iter_mut().zip(&values).enumerate() {
                let rest = least[..position].iter().chain(&least[position + 1..]);
                let rest: f64 = rest.sum();
                for (total, value) in totals.iter_mut().zip(values) {
                    let value = rest + value;
                    *total += value / if value < 0.0 { low } else { high };
                }
            }
        }
        totals
    }

    /// How far `s` can be above its tangent.
    fn bend(&self) -> f64 {
        let square = self.table.logits.square;
        let (mut along, mut across, mut radius) = (0.0, 0.0, 0.0);
        for (head, mean) in self.means.iter().enumerate() {
            let first = head * (1 + self.table.base.len());
            let low = self.range(first)[0];
            for held in self.positions() {
                let middles: Vec<f64> = held.middles().skip(first).collect();
                // Of what each token adds less the middle, the length along `c`, and the square of the whole length.
                let mut lengths = vec![(0.0, 0.0); held.tokens.len()];
                for (i, (mean, middle)) in mean.iter().zip(&middles[1..]).enumerate() {
                    let cells = held.column(first + 1 + i).iter();
                    let cells = cells.zip(held.column(first)).zip(&mut lengths);
                    for ((cell, e), (turn, whole)) in cells {
                        let away = cell - middle - (e - middles[0]) * mean;
                        *turn += square / self.size * self.y[i] * away;
                        *whole += square * away * away;
                    }
                }
                let turns = lengths.iter().map(|(turn, _)| turn.abs());
                along += range(turns)[1] / low;
                let rests = lengths.iter().map(|(turn, whole)| whole - turn * turn);
                across += range(rests)[1].max(0.0).sqrt() / low;
                radius += range(lengths.iter().map(|(_, whole)| *whole))[1].sqrt() / low;
            }
        }
        // Squares of large numbers may be infinite, and their differences then are none.
        if radius.is_finite() && along < self.size {
            f64::min(2.0 * radius, across * across / (2.0 * (self.size - along)))
        } else {
            2.0 * radius
        }
    }
}
