//! What tokens add to the answer, and what those of some positions can still add.
//!
//! With `q` the query of a head, and for each position and token there the exponential `e = exp(q · k)` over the largest possible
//! one and `m = v W_o`, what its value adds to the residual stream where it has all attention,
//!
//! ```text
//! y = x_q + b_o + Σ_heads (Σ_p e m) / (Σ_p e)
//! ```
//!
//! and the logits are a function of `y`. So an input is sums of rows of a table, and a *prefix*, the tokens of the first positions in
//! some order, is sums of which the rest is open. What the rest can add is bounded in two ways. `y` lies in a ball: attention that
//! the rest can have moves it towards the ball around all `m` that are left. And `u · y`, of which one logit is made, is bounded for
//! each head almost exactly: (Σ e u·m) / (Σ e) is at least `r` if Σ e (u·m - r) is at least 0, and the least of that sum over all that
//! is left is known for a grid of `r`. It is concave in `r`, so between two of the grid it is above the line through them.

use core::ops::Range;

use headlight_architecture::mathematics::exp;

use super::passes::Passes;
use super::tail::{Direct, Tail, centre};

/// Of an exponential: e^-690 is 1e-300.
const LEAST: f64 = 690.0;

/// Cells of the grid.
const GRID: usize = 16;

/// Inputs with one token at the position that is read.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// The positions in the order in which a prefix has them: the one that is read, and then those that move the logits most.
    pub(super) order: Vec<usize>,
    /// The tokens of each position, counted from its first one.
    pub(super) tokens: Vec<Range<u32>>,
    /// How many inputs have a prefix of each length.
    pub(super) inputs: Vec<u64>,
    /// For each head `e` and `e m`. `[position][token, head, 1 + width]`
    rows: Vec<Vec<f64>>,
    heads: usize,
    /// `x_q + b_o`
    base: Vec<f64>,
    tail: Tail,
    direct: Option<Direct>,
    /// Of each direction.
    lengths: Vec<f64>,
    /// What is left after each length of prefix. `[length][head]`
    left: Vec<Vec<Left>>,
    /// The rows of the last position in the order. `[head, 1 + width][token]`
    last: Vec<Vec<f64>>,
}

/// What the positions that are left can add to a head's sums.
#[derive(Clone, Debug)]
struct Left {
    /// The least and the largest sum of `e`.
    exponentials: [f64; 2],
    /// A ball around all `m`.
    middle: Vec<f64>,
    radius: f64,
    /// The first `r` of the grid and their distance; the least and the largest sum of `e (u · m - r)`.
    start: f64,
    step: f64,
    extremes: [[f64; GRID + 1]; 2],
}

/// A range of each logit, which holds for all inputs with some prefix. Of two logits, of their difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    low: Vec<f64>,
    high: Vec<f64>,
    y: Vec<f64>,
    squares: Vec<f64>,
    shares: Vec<f64>,
}

impl Reach {
    /// The class that is ahead of all others by more than so much, whatever the input.
    pub(super) fn decided(&self, near: f64) -> Option<u32> {
        if let ([low], [high]) = (&self.low[..], &self.high[..]) {
            return match () {
                () if *low > near => Some(1),
                () if *high < -near => Some(0),
                () => None,
            };
        }
        let class = (0..self.low.len()).max_by(|&a, &b| self.low[a].total_cmp(&self.low[b]))?;
        (self.margin(class) > near).then_some(class as u32)
    }

    /// The class of the input with a last token, of which [`last_logits`](Sums::last_logits) has the logit.
    pub(super) fn last_decided(&self, token: u32, near: f64) -> Option<u32> {
        let logit = self.low[token as usize];
        (logit.abs() > near).then_some(u32::from(logit > 0.0))
    }

    /// The least margin that an input of a class can have.
    pub(super) fn margin(&self, class: usize) -> f64 {
        if let ([low], [high]) = (&self.low[..], &self.high[..]) {
            return if class == 1 { *low } else { -*high };
        }
        let others = self
            .high
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != class);
        self.low[class]
            - others
                .map(|(_, high)| *high)
                .fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Sums {
    /// Of the inputs that have this token where the answer is read.
    pub(super) fn new(passes: &Passes, tail: &Tail, read: usize, own: u32) -> Self {
        let (heads, width) = (passes.heads, passes.width);
        let direct = tail.direct();
        let scores: Vec<Vec<f64>> = (0..passes.seen.len())
            .map(|position| passes.scores(own as usize, position))
            .collect();
        let tokens: Vec<Range<u32>> = scores
            .iter()
            .enumerate()
            .map(|(position, scores)| {
                if position == read {
                    own..own + 1
                } else {
                    0..(scores.len() / heads) as u32
                }
            })
            .collect();
        let mut most = vec![f64::NEG_INFINITY; heads];
        for (position, range) in tokens
            .iter()
            .enumerate()
            .filter(|(position, _)| passes.seen[*position])
        {
            for token in range.clone() {
                let own = &scores[position][token as usize * heads..][..heads];
                most.iter_mut()
                    .zip(own)
                    .for_each(|(most, own)| *most = most.max(*own));
            }
        }
        let (mut base, mut moved) = (passes.stream(own as usize).to_vec(), passes.moved.clone());
        if let Some((_, true)) = direct {
            centre(&mut base);
            moved
                .iter_mut()
                .for_each(|moved| moved.chunks_exact_mut(width).for_each(centre));
        }
        let row = |position: usize| -> Vec<f64> {
            let pairs = scores[position]
                .iter()
                .zip(moved[position].chunks_exact(width))
                .enumerate();
            let row = |(index, (score, moved)): (usize, (&f64, &[f64]))| {
                let e = if passes.seen[position] {
                    exp((score - most[index % heads]).max(-LEAST))
                } else {
                    0.0
                };
                [e].into_iter()
                    .chain(moved.iter().map(move |moved| e * moved))
                    .collect::<Vec<f64>>()
            };
            pairs.flat_map(row).collect()
        };
        let mut sums = Self {
            order: (0..tokens.len()).collect(),
            rows: (0..tokens.len()).map(row).collect(),
            inputs: Vec::new(),
            tokens,
            heads,
            base,
            tail: tail.clone(),
            direct: direct.map(|(direct, _)| direct),
            lengths: Vec::new(),
            left: Vec::new(),
            last: Vec::new(),
        };
        sums.arrange(read);
        sums.bound();
        sums
    }

    /// The row of a token at a position. `[head, 1 + width]`
    pub(super) fn row(&self, position: usize, token: u32) -> &[f64] {
        let stride = self.heads * (1 + self.base.len());
        &self.rows[position][token as usize * stride..][..stride]
    }

    /// Positions whose tokens move the sums most come first.
    fn arrange(&mut self, read: usize) {
        let spread = |position: usize| -> f64 {
            let stride = 1 + self.base.len();
            let ranges = self.ranges(position, self.heads * stride, |row, i| match i % stride {
                0 => 0.0,
                index => row[i] + row[i - index] * self.base[index - 1],
            });
            ranges.iter().map(|[low, high]| high - low).sum()
        };
        let spreads: Vec<f64> = (0..self.order.len()).map(spread).collect();
        let key = |position: usize| {
            if position == read {
                f64::INFINITY
            } else {
                spreads[position]
            }
        };
        self.order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
        self.inputs = vec![1];
        for &position in self.order.iter().rev() {
            let count = self.tokens[position].len() as u64;
            self.inputs.push(self.inputs[self.inputs.len() - 1] * count);
        }
        self.inputs.reverse();
    }

    /// The ranges of some numbers over the tokens of a position.
    fn ranges(
        &self,
        position: usize,
        count: usize,
        number: impl Fn(&[f64], usize) -> f64,
    ) -> Vec<[f64; 2]> {
        let mut ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; count];
        for token in self.tokens[position].clone() {
            let row = self.row(position, token);
            for (i, [low, high]) in ranges.iter_mut().enumerate() {
                let number = number(row, i);
                (*low, *high) = (low.min(number), high.max(number));
            }
        }
        ranges
    }

    /// Finds what is left after each length of prefix.
    fn bound(&mut self) {
        let Some(direct) = &self.direct else {
            return;
        };
        let width = self.base.len();
        let directions = direct.directions.chunks_exact(width);
        let lengths = directions
            .map(|direction| dot(direction, direction).sqrt())
            .collect();
        let direction = &direct.directions[..width];
        let of_head = |head: usize| -> Vec<Left> {
            let start = head * (1 + width);
            let part = |row: &[f64]| -> (f64, f64) {
                (
                    row[start],
                    dot(&row[start + 1..start + 1 + width], direction),
                )
            };
            let mut slopes = [f64::INFINITY, f64::NEG_INFINITY];
            for &position in &self.order {
                for token in self.tokens[position].clone() {
                    let (e, g) = part(self.row(position, token));
                    if e > 0.0 {
                        slopes = [slopes[0].min(g / e), slopes[1].max(g / e)];
                    }
                }
            }
            let slack = 1e-9 * (slopes[1] - slopes[0]) + 1e-12;
            let (first, step) = (
                slopes[0] - slack,
                (slopes[1] - slopes[0] + 2.0 * slack) / GRID as f64,
            );
            let mut left = vec![Left {
                exponentials: [0.0; 2],
                middle: vec![0.0; width],
                radius: 0.0,
                start: first,
                step,
                extremes: [[0.0; GRID + 1]; 2],
            }];
            let mut hull = vec![[f64::INFINITY, f64::NEG_INFINITY]; width];
            for (length, &position) in self.order.iter().enumerate().rev() {
                let mut own = left[left.len() - 1].clone();
                let sums = self.ranges(position, GRID + 2, |row, i| {
                    let (e, g) = part(row);
                    if i > GRID {
                        e
                    } else {
                        g - (first + i as f64 * step) * e
                    }
                });
                for side in 0..2 {
                    own.exponentials[side] += sums[GRID + 1][side];
                    own.extremes[side]
                        .iter_mut()
                        .zip(&sums)
                        .for_each(|(own, sum)| *own += sum[side]);
                }
                // A position that cannot be seen has no exponentials.
                if sums[GRID + 1][1] > 0.0 {
                    let ranges =
                        self.ranges(position, width, |row, i| row[start + 1 + i] / row[start]);
                    for (hull, own) in hull.iter_mut().zip(ranges) {
                        *hull = [hull[0].min(own[0]), hull[1].max(own[1])];
                    }
                    own.middle = hull
                        .iter()
                        .map(|[low, high]| f64::midpoint(*low, *high))
                        .collect();
                }
                own.radius = 0.0;
                for &position in &self.order[length..] {
                    for token in self.tokens[position].clone() {
                        let row = &self.row(position, token)[start..];
                        if row[0] > 0.0 {
                            let away = row[1..]
                                .iter()
                                .zip(&own.middle)
                                .map(|(sum, middle)| (sum / row[0] - middle).powi(2));
                            own.radius = own.radius.max(away.sum::<f64>().sqrt());
                        }
                    }
                }
                left.push(own);
            }
            left.reverse();
            left
        };
        let heads: Vec<Vec<Left>> = (0..self.heads).map(of_head).collect();
        self.left = (0..=self.order.len())
            .map(|length| heads.iter().map(|head| head[length].clone()).collect())
            .collect();
        self.lengths = lengths;
        if let ([_], Some(&last)) = (&direct.offsets[..], self.order.last()) {
            let column = |cell: usize| {
                let tokens = self.tokens[last].clone();
                tokens.map(|token| self.row(last, token)[cell]).collect()
            };
            self.last = (0..self.heads * (1 + width)).map(column).collect();
        }
    }

    /// The one logit of each input whose prefix lacks the last position alone, by its token there; `None` if there are more logits or
    /// stages. It is what [`reach`](Self::reach) has of each, for all tokens at once.
    pub(super) fn last_logits<'r>(&self, sums: &[f64], reach: &'r mut Reach) -> Option<&'r [f64]> {
        let direct = self.direct.as_ref().filter(|_| !self.last.is_empty())?;
        let (width, count) = (self.base.len(), self.last[0].len());
        let Reach {
            low: along,
            y,
            squares,
            shares,
            ..
        } = reach;
        shares.clear();
        for (row, columns) in sums
            .chunks_exact(1 + width)
            .zip(self.last.chunks_exact(1 + width))
        {
            shares.extend(columns[0].iter().map(|e| 1.0 / (row[0] + e)));
        }
        for sums in [&mut *along, &mut *squares] {
            sums.clear();
            sums.resize(count, 0.0);
        }
        for (i, (base, direction)) in self.base.iter().zip(&direct.directions).enumerate() {
            y.clear();
            y.resize(count, *base);
            for (head, shares) in shares.chunks_exact(count).enumerate() {
                let cell = head * (1 + width) + 1 + i;
                let (sum, column) = (sums[cell], &self.last[cell]);
                for ((y, share), own) in y.iter_mut().zip(shares).zip(column) {
                    *y += (sum + own) * share;
                }
            }
            for ((along, square), y) in along.iter_mut().zip(squares.iter_mut()).zip(&*y) {
                *along += direction * y;
                *square += y * y;
            }
        }
        let offset = direct.offsets[0];
        match direct.eps {
            Some(eps) => {
                for (along, square) in along.iter_mut().zip(squares) {
                    *along = *along / (*square / width as f64 + eps).sqrt() + offset;
                }
            }
            None => along.iter_mut().for_each(|along| *along += offset),
        }
        Some(along)
    }

    /// The ranges of all inputs with a prefix of a length and these sums. `[head, 1 + width]`
    pub(super) fn reach(&self, length: usize, sums: &[f64], reach: &mut Reach) {
        let Reach { low, high, y, .. } = reach;
        y.clone_from(&self.base);
        let width = y.len();
        let rows = sums.chunks_exact(1 + width);
        if length == self.order.len() {
            for row in rows {
                let inverse = 1.0 / row[0];
                y.iter_mut()
                    .zip(&row[1..])
                    .for_each(|(y, sum)| *y += sum * inverse);
            }
            match &self.direct {
                Some(direct) => {
                    let inverse = direct
                        .eps
                        .map_or(1.0, |eps| 1.0 / (dot(y, y) / width as f64 + eps).sqrt());
                    let logits = direct.directions.chunks_exact(width).zip(&direct.offsets);
                    low.clear();
                    low.extend(
                        logits.map(|(direction, offset)| dot(direction, y) * inverse + offset),
                    );
                }
                None => *low = self.tail.logits(y.clone()),
            }
            high.clone_from(low);
            return;
        }
        let Some(direct) = &self.direct else {
            low.clear();
            low.resize(self.tail.logits_count(), f64::NEG_INFINITY);
            high.clear();
            high.resize(low.len(), f64::INFINITY);
            return;
        };
        let (mut radius, mut dots) = (0.0, [0.0; 2]);
        for (row, left) in rows.zip(&self.left[length]) {
            let (e, own) = (row[0], &row[1..]);
            let inverse = if e > 0.0 { 1.0 / e } else { 0.0 };
            // The share of attention that what is left can have.
            let [least, most] = left
                .exponentials
                .map(|left| if left > 0.0 { left / (e + left) } else { 0.0 });
            let share = f64::midpoint(least, most);
            let mut away = 0.0;
            for ((y, sum), middle) in y.iter_mut().zip(own).zip(&left.middle) {
                let way = middle - sum * inverse;
                *y += sum * inverse + share * way;
                away += way * way;
            }
            radius += (most - least) / 2.0 * away.sqrt() + most * left.radius;
            if let [_] = direct.offsets[..] {
                let along = dot(own, &direct.directions);
                dots[0] += left.root(0, along, e);
                dots[1] += left.root(1, along, e);
            }
        }
        let [near, far] = match direct.eps {
            None => [1.0; 2],
            Some(eps) => {
                let size = dot(y, y).sqrt();
                [(size - radius).max(0.0), size + radius]
                    .map(|size| (size * size / width as f64 + eps).sqrt())
            }
        };
        let range = |[least, most]: [f64; 2], offset: f64| {
            let low = least / if least > 0.0 { far } else { near };
            let high = most / if most > 0.0 { near } else { far };
            [low + offset, high + offset]
        };
        low.clear();
        high.clear();
        if let [offset] = direct.offsets[..] {
            let along = dot(&self.base, &direct.directions);
            let [least, most] = range([along + dots[0], along + dots[1]], offset);
            low.push(least);
            high.push(most);
            return;
        }
        let logits = direct
            .directions
            .chunks_exact(width)
            .zip(&direct.offsets)
            .zip(&self.lengths);
        for ((direction, &offset), length) in logits {
            let along = dot(direction, y);
            let [least, most] = range([along - length * radius, along + length * radius], offset);
            low.push(least);
            high.push(most);
        }
    }
}

impl Left {
    /// A bound of (Σ e u·m) / (Σ e), from the sums of a prefix: below on side 0, above on side 1.
    fn root(&self, side: usize, along: f64, e: f64) -> f64 {
        let sums = &self.extremes[side];
        let height = |cell: usize| along - (self.start + cell as f64 * self.step) * e + sums[cell];
        let (mut left, mut right) = (0, GRID);
        while right - left > 1 {
            let cell = usize::midpoint(left, right);
            if height(cell) >= 0.0 {
                left = cell;
            } else {
                right = cell;
            }
        }
        let (above, below) = (height(left), height(right));
        let share = if above > below {
            (above / (above - below)).clamp(0.0, 1.0)
        } else {
            side as f64
        };
        self.start + (left as f64 + share) * self.step
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
