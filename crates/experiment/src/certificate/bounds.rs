//! How small a margin can become, whatever the tokens of the positions that are left.
//!
//! The margin of one class over another is `δ · y / s + o`, with `s = sqrt(|y|² / d + ε)` (`logits.rs`). It is above a threshold `τ`
//! where
//!
//! ```text
//! F(y) = δ · y + K s(y),    K = o - τ
//! ```
//!
//! is above 0. `F` is bounded from below at a centre `c`, the `y` of a prefix with the middle of what is left:
//!
//! - `s` is a norm of `(y / √d, √ε)`, so it is convex. If `K` is not negative, `F` is above its tangent `F(c) + G · (y - c)` with
//!   `G = δ + K c / (d s(c))` (Boyd and Vandenberghe 2004, 3.1.3).
//! - If `K` is negative, `F` is below its tangent by no more than `|K| p² / (2 l)`: `p` is the part of `y - c`, in that norm, that is
//!   perpendicular to `c`, and `l` the length of `y` along `c`, since `sqrt(l² + p²) ≤ l + p² / (2 l)`.
//!
//! Both are sums over tokens. With `z = e m - e c_h` for a head's part `c_h` of the centre, `y - c = Σ_heads (Σ_p z) / (Σ_p e)`. So for
//! one head the sign of `F` is that of a sum of one number for each token, of which each position has a least one, and for more heads
//! that of a sum of such ratios. `p²` is a square of a sum; with the largest `p` of each position and head, `r`, it is at most
//! `(Σ r) Σ p² / r` (Cauchy and Schwarz), which is a sum again.

use super::logits::{Logits, dot};
use super::table::{Place, Table, add, add_times};

/// Bounds at one centre after the other, and their numbers on the way.
#[derive(Clone, Debug)]
pub(super) struct Bounds<'a> {
    table: &'a Table,
    logits: &'a Logits,
    /// How many tokens the prefix has, and its sums.
    length: usize,
    sums: Vec<f64>,
    /// The centre `c`, what each head adds to it, and `s(c)`. `[head, width]`
    y: Vec<f64>,
    means: Vec<f64>,
    size: f64,
    bend: Option<Bend>,
    values: Vec<f64>,
    along: Vec<f64>,
    inside: Vec<f64>,
}

/// By how much `s` can be above its tangent.
#[derive(Clone, Debug, Default)]
struct Bend {
    /// `p²` of each token, of all that is left. `[head, position, token]`
    squares: Vec<f64>,
    /// The largest `p`. `[head, position]`
    radii: Vec<f64>,
    /// Σ r / (2 l)
    factor: f64,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(table: &'a Table, logits: &'a Logits) -> Self {
        Self {
            table,
            logits,
            length: 0,
            sums: Vec::new(),
            y: Vec::new(),
            means: Vec::new(),
            size: 0.0,
            bend: None,
            values: Vec::new(),
            along: Vec::new(),
            inside: Vec::new(),
        }
    }

    /// Goes to the centre of a prefix with these sums.
    pub(super) fn centre(&mut self, length: usize, sums: &[f64]) {
        let (table, stride) = (self.table, 1 + self.table.base.len());
        self.length = length;
        self.sums.clear();
        self.sums.extend_from_slice(sums);
        self.bend = None;
        self.y.clone_from(&table.base);
        self.means.clear();
        let rest = table.rests[length].centre.chunks_exact(stride);
        for (sums, rest) in sums.chunks_exact(stride).zip(rest) {
            let inverse = 1.0 / (sums[0] + rest[0]);
            let pairs = sums[1..].iter().zip(&rest[1..]);
            self.means
                .extend(pairs.map(|(sum, rest)| (sum + rest) * inverse));
        }
        for mean in self.means.chunks_exact(stride - 1) {
            add(&mut self.y, mean);
        }
        self.size = self.logits.size(dot(&self.y, &self.y));
    }

    fn classes(&self) -> core::ops::Range<usize> {
        0..self.logits.offsets.len()
    }

    fn logit(&self, class: usize) -> f64 {
        self.logits.of(class, &self.y, self.size)
    }

    /// The class with the largest logit at the centre.
    pub(super) fn leading(&self) -> usize {
        let largest = self
            .classes()
            .max_by(|&a, &b| self.logit(a).total_cmp(&self.logit(b)));
        largest.unwrap_or(0)
    }

    /// A class's logit less the largest other one, at the centre.
    pub(super) fn lead(&self, class: usize) -> f64 {
        let others = self.classes().filter(|&other| other != class);
        let largest = others
            .map(|other| self.logit(other))
            .fold(f64::NEG_INFINITY, f64::max);
        self.logit(class) - largest
    }

    /// For each token that the prefix can have next, a number that is above 0 only if all inputs that begin so have a margin of a
    /// class over all others that is above `threshold + scaled / s`. The larger, the farther.
    pub(super) fn least(&mut self, class: usize, threshold: f64, scaled: f64) -> Vec<f64> {
        let mut found = vec![f64::INFINITY; self.table.places[self.length].tokens];
        for other in self.classes().filter(|&other| other != class) {
            self.over([class, other], threshold, scaled, &mut found);
        }
        found
    }

    /// Lowers what was found to that of a class over another.
    fn over(&mut self, [class, other]: [usize; 2], threshold: f64, scaled: f64, found: &mut [f64]) {
        let (table, logits) = (self.table, self.logits);
        let (heads, width) = (table.heads, table.base.len());
        let steep = logits.offsets[class] - logits.offsets[other] - threshold;
        let per_size = steep * logits.square / self.size;
        let directions = logits.directions[class]
            .iter()
            .zip(&logits.directions[other]);
        let slope: Vec<f64> = directions
            .zip(&self.y)
            .map(|((own, other), y)| own - other + per_size * y)
            .collect();
        // G · c is F(c) less what K ε adds.
        let height = dot(&slope, &self.y) + steep * logits.eps / self.size - scaled;
        if per_size < 0.0 && self.bend.is_none() {
            self.bend = Some(self.bend());
        }
        let bend = self.bend.as_ref().filter(|_| per_size < 0.0);
        let mut bent = bend.map(|bend| (bend.squares.as_slice(), bend.radii.iter()));
        let mut total = vec![0.0; found.len()];
        let next = &table.rests[self.length + 1];
        for head in 0..heads {
            let stride = 1 + width;
            let mean = &self.means[head * width..][..width];
            let shift = height / heads as f64 - dot(&slope, mean);
            let sums = &self.sums[head * stride..][..stride];
            let mut least = shift * sums[0] + dot(&slope, &sums[1..]);
            for (index, place) in table.places[self.length..].iter().enumerate() {
                let values = &mut self.values;
                values.clear();
                values.extend(place.column(head * stride).iter().map(|e| shift * e));
                project(place, head * stride + 1, 1.0, &slope, values);
                if let (Some((squares, radii)), Some(bend)) = (&mut bent, bend) {
                    let (own, left) = squares.split_at(place.tokens);
                    *squares = left;
                    let radius = radii.next().copied().unwrap_or(0.0);
                    if radius > 0.0 {
                        add_times(values, steep * bend.factor / radius, own);
                    }
                }
                if index == 0 {
                    // The numbers of the next token are kept until all others are known.
                    self.along.clone_from(values);
                } else {
                    least += values.iter().copied().fold(f64::INFINITY, f64::min);
                }
            }
            let place = &table.places[self.length];
            let exponentials = place.column(head * stride);
            for ((total, value), e) in total.iter_mut().zip(&self.along).zip(exponentials) {
                let value = least + value;
                // One head's sign is that of its sum.
                *total += match (heads, value < 0.0) {
                    (1, _) => value,
                    (_, true) => value / (sums[0] + e + next.least[head]),
                    (_, false) => value / (sums[0] + e + next.most[head]),
                };
            }
        }
        for (found, total) in found.iter_mut().zip(total) {
            // A number that is none bounds nothing.
            *found = if total < *found || total.is_nan() {
                total
            } else {
                *found
            };
        }
    }

    /// How far `s` bends away from its tangent at the centre.
    fn bend(&mut self) -> Bend {
        let (table, square) = (self.table, self.logits.square);
        let (heads, width) = (table.heads, table.base.len());
        let stride = 1 + width;
        let rest = &table.rests[self.length];
        let unit = square / self.size;
        let mut bend = Bend::default();
        let (mut radii, mut length) = (0.0, self.size);
        for head in 0..heads {
            let mean = &self.means[head * width..][..width];
            let (own, ahead) = (dot(mean, mean), unit * dot(&self.y, mean));
            let sums = &self.sums[head * stride..][..stride];
            // The least `l` times the exponentials, of one head, and what is turned back from `s(c)`, of some.
            let mut whole = (self.size - ahead) * sums[0] + unit * dot(&self.y, &sums[1..]);
            let (mut turned, mut radius) = (0.0, 0.0);
            for place in &table.places[self.length..] {
                for (numbers, factor, direction) in [
                    (&mut self.along, unit, &self.y[..]),
                    (&mut self.inside, 1.0, mean),
                ] {
                    numbers.clear();
                    numbers.resize(place.tokens, 0.0);
                    project(place, head * stride + 1, factor, direction, numbers);
                }
                let middle = &place.middles[head * stride..][..stride];
                let along_middle = unit * dot(&self.y, &middle[1..]);
                let inside_middle = dot(mean, &middle[1..]);
                let away = &place.away[head * place.tokens..][..place.tokens];
                let (mut most, mut least, mut back) = (0.0_f64, f64::INFINITY, f64::INFINITY);
                let numbers = self.along.iter().zip(&self.inside).zip(away);
                for (((along, inside), away), e) in numbers.zip(place.column(head * stride)) {
                    let more = e - middle[0];
                    let turn = along - along_middle - ahead * more;
                    let way = away - 2.0 * more * (inside - inside_middle) + more * more * own;
                    let part = (square * way - turn * turn).max(0.0);
                    bend.squares.push(part);
                    most = most.max(part);
                    back = back.min(turn);
                    least = least.min((self.size - ahead) * e + along);
                }
                bend.radii.push(most.sqrt());
                radius += most.sqrt();
                turned += back;
                whole += least;
            }
            let [low, high] = [&rest.least, &rest.most].map(|rest| sums[0] + rest[head]);
            if heads == 1 {
                (radii, length) = (radius, whole);
            } else {
                radii += radius / low;
                length += turned / if turned < 0.0 { low } else { high };
            }
        }
        // Where `y` may be behind the centre, nothing is known.
        bend.factor = if length > 0.0 {
            radii / (2.0 * length)
        } else {
            f64::INFINITY
        };
        bend
    }
}

/// Adds products of a direction with rows of tokens: of the columns that begin with the one of this number.
fn project(place: &Place, first: usize, factor: f64, direction: &[f64], into: &mut [f64]) {
    for (i, cell) in direction.iter().enumerate() {
        add_times(into, factor * cell, place.column(first + i));
    }
}
