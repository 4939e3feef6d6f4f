//! What a model can answer to any sample of a region: those with one of some tokens at each position.
//!
//! The answer of a sample differs from that of the region's middle by the slope somewhere between the two, times the way (mean value
//! theorem). The slope lies within bounds over the whole region (`tail.rs`), and the way is a sum over positions. So the largest
//! and the least difference are found for each position by itself.

use super::attention::Attention;
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
    /// Where to divide: a position, and the middle of what its tokens add.
    pub(super) split: usize,
    pub(super) threshold: f64,
    /// What each token adds to the narrowest lead. `[position][token of the set]`
    pub(super) adds: Vec<Vec<f64>>,
    /// For each head: the sums of the middle, and the range of the sum of exponentials.
    middle: Vec<f64>,
    sums: Vec<(f64, f64)>,
    ranges: Vec<(f64, f64)>,
    weights: Vec<f64>,
    per_position: Vec<(f64, f64)>,
    pub(super) scratch: Scratch,
}

impl Bounds {
    /// The lead over a class, of the region's class.
    pub(super) fn narrowest(&self) -> f64 {
        let others = self.leads.iter().enumerate().filter(|(class, _)| *class != self.class);
        others.map(|(_, lead)| lead.least).fold(f64::INFINITY, f64::min)
    }

    /// The least margin of a label in the region: its logit less the largest other one.
    pub(super) fn least_margin(&self, label: usize) -> f64 {
        if label == self.class {
            self.narrowest()
        } else {
            // Its lead over the region's class is what that one's over it is not.
            -self.leads[label].largest
        }
    }
}

impl Reading {
    /// Bounds of a region.
    pub(super) fn bound<'s>(&self, sets: &impl Fn(usize) -> &'s [u32], bounds: &mut Bounds) {
        self.find_middle(sets, bounds);
        self.find_radius(sets, bounds);
        let ball = bounds.scratch.x.ball;
        self.tail.forward(&mut bounds.scratch);
        let logits = core::mem::take(&mut bounds.scratch.logits);
        let is_one = logits.len() == 1;
        let value = |class: usize| match (is_one, class) {
            (true, 0) => (0.0, 0.0, 0.0),
            (true, _) => (logits.middle[0], logits.radius[0], logits.error[0]),
            _ => (logits.middle[class], logits.radius[class], logits.error[class]),
        };
        let mut best = 0;
        for class in 1..self.classes {
            if value(class).0 > value(best).0 {
                best = class;
            }
        }
        bounds.class = best;
        bounds.error = 0.0;
        bounds.leads.clear();
        bounds.leads.resize(self.classes, Lead::default());
        let mut narrowest = f64::INFINITY;
        for class in (0..self.classes).filter(|&class| class != best) {
            let (own, other) = (value(best), value(class));
            let middle = own.0 - other.0;
            let error = own.2 + other.2 + SLACK * (1.0 + own.0.abs() + other.0.abs());
            bounds.weights.clear();
            bounds.weights.resize(logits.len(), 0.0);
            if is_one {
                bounds.weights[0] = if best == 1 { 1.0 } else { -1.0 };
            } else {
                bounds.weights[best] = 1.0;
                bounds.weights[class] = -1.0;
            }
            let weights = core::mem::take(&mut bounds.weights);
            self.tail.backward(&weights, &mut bounds.scratch);
            bounds.weights = weights;
            // The way times what the slope changes on it: on average half as much where it changes evenly.
            let slope = &bounds.scratch.slope;
            let around = (slope.smooth / 2.0 + slope.rough) * ball + error;
            let lead = self.along(sets, bounds, middle, around, false);
            let radius = own.1 + other.1 + error;
            let lead = Lead {
                least: lead.least.max(middle - radius),
                largest: lead.largest.min(middle + radius),
            };
            bounds.leads[class] = lead;
            bounds.error = bounds.error.max(error);
            if lead.least < narrowest {
                narrowest = lead.least;
                // The one that decides how to divide.
                self.along(sets, bounds, middle, around, true);
                self.choose_split(bounds);
            }
        }
        bounds.scratch.logits = logits;
    }

    /// The sum of the means of each position's tokens.
    fn find_middle<'s>(&self, sets: &impl Fn(usize) -> &'s [u32], bounds: &mut Bounds) {
        let attention = &self.attention;
        let (stride, part) = (attention.stride(), 1 + attention.width);
        let middle = &mut bounds.middle;
        middle.clear();
        middle.resize(stride, 0.0);
        bounds.sums.clear();
        bounds.sums.resize(attention.heads, (0.0, 0.0));
        let mut own = core::mem::take(&mut bounds.weights);
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
            for (middle, own) in middle.iter_mut().zip(&own) {
                *middle += own * share;
            }
            for (head, sum) in bounds.sums.iter_mut().enumerate() {
                let of_token = |&token: &u32| rows[token as usize * stride + head * part];
                let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
                for e in set.iter().map(of_token) {
                    low = low.min(e);
                    high = high.max(e);
                }
                sum.0 += low;
                sum.1 += high;
            }
        }
        bounds.weights = own;
        // From sums to means: what attention adds in the middle.
        let x = &mut bounds.scratch.x;
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
        let x = &mut bounds.scratch.x;
        x.radius.fill(0.0);
        x.ball = 0.0;
        for head in 0..attention.heads {
            let middle = &bounds.middle[head * part + 1..(head + 1) * part];
            bounds.ranges.clear();
            bounds.ranges.resize(attention.width, (0.0, 0.0));
            let mut ball = 0.0;
            for (position, rows) in attention.rows.iter().enumerate() {
                let mut farthest = 0.0;
                let own = &mut bounds.per_position;
                own.clear();
                own.resize(attention.width, (f64::INFINITY, f64::NEG_INFINITY));
                for &token in sets(position) {
                    let row = &rows[token as usize * stride + head * part..][..part];
                    let (e, mut squares) = (row[0], 0.0);
                    for ((own, value), middle) in own.iter_mut().zip(&row[1..]).zip(middle) {
                        let way = value - e * middle;
                        squares += way * way;
                        own.0 = if way < own.0 { way } else { own.0 };
                        own.1 = if way > own.1 { way } else { own.1 };
                    }
                    farthest = if squares > farthest { squares } else { farthest };
                }
                ball += f64::sqrt(farthest);
                for (range, own) in bounds.ranges.iter_mut().zip(own) {
                    range.0 += own.0;
                    range.1 += own.1;
                }
            }
            let least = bounds.sums[head].0;
            x.ball += ball / least;
            for (radius, range) in x.radius.iter_mut().zip(&bounds.ranges) {
                *radius += range.1.max(-range.0) / least;
            }
        }
        for i in 0..attention.width {
            x.size[i] += x.middle[i].abs() + x.radius[i];
        }
        x.tighten();
    }

    /// The least and the largest lead that is `middle` in the middle, and `around` of it off the slope; if asked, what each token
    /// adds, in `bounds.adds`.
    ///
    /// For one head, a lead times `Σ e` is a sum over positions; `middle` is shared among several.
    fn along<'s>(
        &self,
        sets: &impl Fn(usize) -> &'s [u32],
        bounds: &mut Bounds,
        middle: f64,
        around: f64,
        is_kept: bool,
    ) -> Lead {
        let attention = &self.attention;
        let (stride, part) = (attention.stride(), 1 + attention.width);
        let Bounds { scratch, middle: means, adds, sums, .. } = bounds;
        let slope = &scratch.slope;
        adds.resize_with(attention.rows.len(), Vec::new);
        let share = 1.0 / attention.heads as f64;
        let ends = [(middle - around) * share, (middle + around) * share];
        let mut lead = Lead::default();
        for head in 0..attention.heads {
            let means = &means[head * part + 1..(head + 1) * part];
            let across: f64 = slope.middle.iter().zip(means).map(|(slope, mean)| slope * mean).sum();
            let (mut least, mut largest) = (0.0, 0.0);
            for (position, rows) in attention.rows.iter().enumerate() {
                let set = sets(position);
                let (mut own_least, mut own_largest) = (f64::INFINITY, f64::NEG_INFINITY);
                for (index, &token) in set.iter().enumerate() {
                    let row = &rows[token as usize * stride + head * part..][..part];
                    let e = row[0];
                    let products = slope.middle.iter().zip(&row[1..]).map(|(slope, value)| slope * value);
                    let sum = products.sum::<f64>() - e * across;
                    own_least = own_least.min(sum + e * ends[0]);
                    own_largest = own_largest.max(sum + e * ends[1]);
                    if is_kept {
                        if head == 0 && index == 0 {
                            adds[position].clear();
                            adds[position].resize(set.len(), 0.0);
                        }
                        adds[position][index] += sum / sums[head].0;
                    }
                }
                least += own_least;
                largest += own_largest;
            }
            let (fewest, most) = sums[head];
            lead.least += least / if least < 0.0 { fewest } else { most };
            lead.largest += largest / if largest > 0.0 { fewest } else { most };
        }
        lead
    }

    /// The position whose tokens differ most, and the middle of what they add.
    fn choose_split(&self, bounds: &mut Bounds) {
        let mut widest = -1.0;
        for (position, adds) in bounds.adds.iter().enumerate() {
            if adds.len() < 2 {
                continue;
            }
            let low = adds.iter().copied().fold(f64::INFINITY, f64::min);
            let high = adds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if high - low > widest {
                widest = high - low;
                bounds.split = position;
                bounds.threshold = f64::midpoint(low, high);
            }
        }
    }
}
