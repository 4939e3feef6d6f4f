//! What a model can answer to any sample of a region: those with one of some tokens at each position.
//!
//! The answer of a sample differs from that of the region's middle by the slope there, times the way from the middle to the sample, and
//! by a rest that has a bound (`tail.rs`). The way is a sum over positions. So the largest and the least difference are found for each
//! position by itself.

use super::attention::Attention;
use super::ratios::Ratios;
use super::rounding::SLACK;
use super::tail::{Scratch, Tail};

/// A model with one query.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) attention: Attention,
    pub(super) tail: Tail,
    /// Classes; with two there can be one logit, the log-odds of class 1.
    pub(super) classes: usize,
}

/// How far the logit of the class that is largest in the middle is above another class's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lead {
    /// The least and the largest over the region, with what the engine's rounding can add.
    pub(super) least: f64,
    pub(super) largest: f64,
}

/// What is known of a region. The memory is used again for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// The class that is largest in the middle.
    pub(super) class: usize,
    /// Over each other class; over the class itself 0.
    pub(super) leads: Vec<Lead>,
    /// The engine's error of a lead, at most.
    pub(super) error: f64,
    /// The position to divide.
    pub(super) split: usize,
    /// What each of its tokens adds to the narrowest lead, and the middle of that.
    pub(super) adds: Vec<f64>,
    pub(super) threshold: f64,
    /// The means of the middle. `[head, 1 + width]`
    middle: Vec<f64>,
    own: Vec<f64>,
    ranges: Vec<(f64, f64)>,
    ratios: Ratios,
    pub(super) scratch: Scratch,
}

impl Bounds {
    /// The lead over a class, of the region's class.
    pub(super) fn narrowest(&self) -> f64 {
        let others = self
            .leads
            .iter()
            .enumerate()
            .filter(|(class, _)| *class != self.class);
        others
            .map(|(_, lead)| lead.least)
            .fold(f64::INFINITY, f64::min)
    }

    /// The least margin of a label in the region: its logit less the largest other one.
    pub(super) fn least_margin(&self, label: usize) -> f64 {
        if label == self.class {
            return self.narrowest();
        }
        // Every other class is behind the region's by so much at least, and this one by so much at most.
        let others = self
            .leads
            .iter()
            .enumerate()
            .filter(|(class, _)| *class != label);
        let least = others.map(|(_, lead)| lead.least).fold(0.0, f64::min);
        least - self.leads[label].largest
    }
}

impl Reading {
    /// The logits of a sample, whose tokens count from the first of each position.
    pub(super) fn logits<'s>(&self, tokens: &[u32], scratch: &'s mut Scratch) -> &'s [f64] {
        let stride = self.attention.stride();
        let mut sums = core::mem::take(&mut scratch.sums);
        sums.clear();
        sums.resize(stride, 0.0);
        for (rows, &token) in self.attention.rows.iter().zip(tokens) {
            let row = &rows[token as usize * stride..][..stride];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
        let mut x = core::mem::take(&mut scratch.read);
        x.clone_from(&self.attention.base.middle);
        for head in sums.chunks_exact(1 + self.attention.width) {
            let share = 1.0 / head[0];
            for (x, sum) in x.iter_mut().zip(&head[1..]) {
                *x += sum * share;
            }
        }
        self.tail.value(&x, scratch);
        (scratch.sums, scratch.read) = (sums, x);
        &scratch.values
    }

    /// Bounds of a region.
    pub(super) fn bound<'s>(&self, sets: &impl Fn(usize) -> &'s [u32], bounds: &mut Bounds) {
        self.find_middle(sets, bounds);
        self.find_radius(sets, bounds);
        let Bounds {
            scratch,
            middle,
            ratios,
            ..
        } = &mut *bounds;
        self.tail
            .forward(scratch, |slopes| self.turned(sets, slopes, middle, ratios));
        let logits = core::mem::take(&mut bounds.scratch.logits);
        let is_one = logits.len() == 1;
        let value = |class: usize| match (is_one, class) {
            (true, 0) => (0.0, 0.0, 0.0),
            (true, _) => (logits.middle[0], logits.radius[0], logits.error[0]),
            _ => (
                logits.middle[class],
                logits.radius[class],
                logits.error[class],
            ),
        };
        let mut best = 0;
        for class in 1..self.classes {
            if value(class).0 > value(best).0 {
                best = class;
            }
        }
        bounds.class = best;
        bounds.leads.clear();
        bounds.leads.resize(self.classes, Lead::default());
        let mut narrowest = f64::INFINITY;
        let mut widest = [0.0_f64; 2];
        for class in (0..self.classes).filter(|&class| class != best) {
            let (own, other) = (value(best), value(class));
            let middle = own.0 - other.0;
            let error = own.2 + other.2 + SLACK * (1.0 + own.0.abs() + other.0.abs());
            bounds.own.clear();
            bounds.own.resize(logits.len(), 0.0);
            if is_one {
                bounds.own[0] = if best == 1 { 1.0 } else { -1.0 };
            } else {
                bounds.own[best] = 1.0;
                bounds.own[class] = -1.0;
            }
            self.tail.backward(&bounds.own, &mut bounds.scratch);
            // Without a bound, nothing is known.
            let around = bounds.scratch.slope.rest + error;
            let around = if around.is_nan() {
                f64::INFINITY
            } else {
                around
            };
            let (low, high) = self.along(sets, bounds);
            let radius = own.1 + other.1 + error;
            let known = |bound: f64, none: f64| if bound.is_nan() { none } else { bound };
            let lead = Lead {
                least: known(middle + (low - around).max(-radius), f64::NEG_INFINITY),
                largest: known(middle + (high + around).min(radius), f64::INFINITY),
            };
            bounds.leads[class] = lead;
            widest = [widest[0].max(around), widest[1].max(around.min(widest[0]))];
            if lead.least < narrowest {
                narrowest = lead.least;
                // The one that decides how to divide.
                self.choose_split(sets, bounds);
            }
        }
        // The engine's lead and the true one are both off the slope by no more than `around`; and the lead of another class over a
        // third is the difference of two leads.
        bounds.error = 2.0 * (widest[0] + widest[1]);
        bounds.scratch.logits = logits;
    }

    /// The sum of the means of each position's tokens.
    fn find_middle<'s>(&self, sets: &impl Fn(usize) -> &'s [u32], bounds: &mut Bounds) {
        let attention = &self.attention;
        let (stride, part) = (attention.stride(), 1 + attention.width);
        let Bounds {
            middle,
            own,
            scratch,
            ..
        } = bounds;
        middle.clear();
        middle.resize(stride, 0.0);
        for (position, rows) in attention.rows.iter().enumerate() {
            let set = sets(position);
            own.clear();
            own.resize(stride, 0.0);
            for &token in set {
                let row = &rows[token as usize * stride..][..stride];
                for (own, value) in own.iter_mut().zip(row) {
                    *own += value;
                }
            }
            let share = 1.0 / set.len() as f64;
            for (middle, own) in middle.iter_mut().zip(&*own) {
                *middle += *own * share;
            }
        }
        // From sums to means: what attention adds in the middle.
        let x = &mut scratch.x;
        x.clone_from(&attention.base);
        for head in middle.chunks_exact_mut(part) {
            let (e, sums) = head.split_at_mut(1);
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum /= e[0];
                x.middle[i] += *sum;
            }
        }
    }

    /// How far what attention adds goes from the middle, in `scratch.x`.
    fn find_radius<'s>(&self, sets: &impl Fn(usize) -> &'s [u32], bounds: &mut Bounds) {
        let attention = &self.attention;
        let (stride, part) = (attention.stride(), 1 + attention.width);
        let Bounds {
            middle,
            own: farthest,
            ranges,
            ratios,
            scratch,
            ..
        } = bounds;
        let x = &mut scratch.x;
        x.radius.fill(0.0);
        x.ball = 0.0;
        ratios.clear();
        for head in 0..attention.heads {
            let middle = &middle[head * part + 1..(head + 1) * part];
            // Weighted means are not farther than what they are means of; nor than the sum of the farthest ways.
            farthest.clear();
            farthest.resize(attention.width, 0.0);
            ranges.clear();
            ranges.resize(2 * attention.width, (0.0, 0.0));
            let (sums, own) = ranges.split_at_mut(attention.width);
            for (position, rows) in attention.rows.iter().enumerate() {
                let set = sets(position);
                own.fill((f64::INFINITY, f64::NEG_INFINITY));
                for &token in set {
                    let row = &rows[token as usize * stride + head * part..][..part];
                    let (e, mut squares) = (row[0], 0.0);
                    let inverse = if e > 0.0 { 1.0 / e } else { 0.0 };
                    let columns = row[1..].iter().zip(middle);
                    let ends = own.iter_mut().zip(farthest.iter_mut());
                    for ((value, middle), (own, farthest)) in columns.zip(ends) {
                        // The way over `e`: squares of ways can be too small for float64.
                        let far = value * inverse - middle;
                        squares += far * far;
                        let way = e * far;
                        own.0 = if way < own.0 { way } else { own.0 };
                        own.1 = if way > own.1 { way } else { own.1 };
                        let far = far.abs() * f64::from(u8::from(e > 0.0));
                        *farthest = if far > *farthest { far } else { *farthest };
                    }
                    ratios.push(e * f64::sqrt(squares), e);
                }
                ratios.end_position();
                for (sum, own) in sums.iter_mut().zip(&*own) {
                    sum.0 += own.0;
                    sum.1 += own.1;
                }
            }
            ratios.end_head();
            let least = ratios.least_sum(head);
            for ((radius, range), farthest) in x.radius.iter_mut().zip(sums).zip(&*farthest) {
                *radius += (range.1.max(-range.0) / least).min(*farthest);
            }
            x.ball += ratios.largest(head, 1.0);
        }
        for i in 0..attention.width {
            x.size[i] = x.largest(i);
        }
        x.tighten(x.ball);
    }

    /// How long the way can be once a matrix has turned it. `[number, way]`
    fn turned<'s>(
        &self,
        sets: &impl Fn(usize) -> &'s [u32],
        matrix: &[f64],
        middle: &[f64],
        ratios: &mut Ratios,
    ) -> f64 {
        let attention = &self.attention;
        let (stride, part) = (attention.stride(), 1 + attention.width);
        let mut length = 0.0;
        for head in 0..attention.heads {
            let middle = &middle[head * part + 1..(head + 1) * part];
            let means = matrix
                .chunks_exact(attention.width)
                .map(|row| product(row, middle));
            let means: Vec<f64> = means.collect();
            let mut values = ratios.values_mut(head).iter_mut();
            for (position, rows) in attention.rows.iter().enumerate() {
                for &token in sets(position) {
                    let row = &rows[token as usize * stride + head * part..][..part];
                    let cells = matrix.chunks_exact(attention.width).zip(&means);
                    let inverse = if row[0] > 0.0 { 1.0 / row[0] } else { 0.0 };
                    let squares = cells.map(|(turn, mean)| {
                        let turned = product(turn, &row[1..]) * inverse - mean;
                        turned * turned
                    });
                    if let Some(value) = values.next() {
                        *value = row[0] * squares.sum::<f64>().sqrt();
                    }
                }
            }
            length += ratios.largest(head, 1.0);
        }
        length
    }

    /// The least and the largest of the way along the slope.
    fn along<'s>(&self, sets: &impl Fn(usize) -> &'s [u32], bounds: &mut Bounds) -> (f64, f64) {
        let attention = &self.attention;
        let (stride, part) = (attention.stride(), 1 + attention.width);
        let Bounds {
            scratch,
            middle,
            ratios,
            ..
        } = bounds;
        let slope = &scratch.slope.middle;
        let (mut low, mut high) = (0.0, 0.0);
        for head in 0..attention.heads {
            let middle = &middle[head * part + 1..(head + 1) * part];
            let across: f64 = slope
                .iter()
                .zip(middle)
                .map(|(slope, mean)| slope * mean)
                .sum();
            let mut values = ratios.values_mut(head).iter_mut();
            for (position, rows) in attention.rows.iter().enumerate() {
                for &token in sets(position) {
                    let row = &rows[token as usize * stride + head * part..][..part];
                    let products = slope
                        .iter()
                        .zip(&row[1..])
                        .map(|(slope, value)| slope * value);
                    if let Some(value) = values.next() {
                        *value = products.sum::<f64>() - row[0] * across;
                    }
                }
            }
            high += ratios.largest(head, 1.0);
            low -= ratios.largest(head, -1.0);
        }
        if attention.heads > 1 {
            // Heads do not choose their tokens apart.
            let joint = ratios.joint(|head| middle[head * part]);
            (low, high) = (low.max(joint.0), high.min(joint.1));
        }
        (low, high)
    }

    /// The position whose tokens differ most, and the middle of what they add.
    fn choose_split<'s>(&self, sets: &impl Fn(usize) -> &'s [u32], bounds: &mut Bounds) {
        let Bounds {
            ratios,
            adds,
            split,
            threshold,
            own,
            ..
        } = bounds;
        let mut widest = -1.0;
        for position in 0..self.attention.rows.len() {
            if sets(position).len() < 2 {
                continue;
            }
            own.clear();
            own.resize(sets(position).len(), 0.0);
            for head in 0..self.attention.heads {
                let share = 1.0 / ratios.least_sum(head);
                for (own, value) in own.iter_mut().zip(ratios.values(head, position)) {
                    *own += value * share;
                }
            }
            let low = own.iter().copied().fold(f64::INFINITY, f64::min);
            let high = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if high - low > widest {
                widest = high - low;
                (*split, *threshold) = (position, f64::midpoint(low, high));
                core::mem::swap(adds, own);
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
