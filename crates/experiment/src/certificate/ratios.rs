//! The largest ratio of two sums, one term of each position in both.

use super::rounding::SLACK;

/// Rounds at most; the bound is valid after any of them.
const ROUNDS: usize = 8;

/// For each head a number and a weight of each token of a region.
#[derive(Clone, Debug, Default)]
pub(super) struct Ratios {
    /// `[head, position, token]`
    values: Vec<f64>,
    weights: Vec<f64>,
    /// Where each position of the first head ends.
    ends: Vec<usize>,
    /// The least and the largest sums of weights. `[head]`
    sums: Vec<(f64, f64)>,
}

impl Ratios {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.weights.clear();
        self.ends.clear();
        self.sums.clear();
    }

    pub(super) fn push(&mut self, value: f64, weight: f64) {
        self.values.push(value);
        self.weights.push(weight);
    }

    pub(super) fn end_position(&mut self) {
        if self.sums.is_empty() {
            self.ends.push(self.values.len());
        }
    }

    pub(super) fn end_head(&mut self) {
        let head = self.sums.len();
        let sums = ends(&self.weights, &self.ends, head);
        self.sums.push(sums);
    }

    fn place(&self, head: usize, position: usize) -> core::ops::Range<usize> {
        let size = self.ends.last().copied().unwrap_or(0);
        let start = if position == 0 {
            0
        } else {
            self.ends[position - 1]
        };
        head * size + start..head * size + self.ends[position]
    }

    /// The least sum of a head's weights.
    pub(super) fn least_sum(&self, head: usize) -> f64 {
        self.sums[head].0
    }

    /// The least and the largest sum over heads of their ratios, whose sums of weights are about `middle`. `[head]`
    ///
    /// Of each head the ratio differs from the sum of values over `middle` by no more than both differ from 0 and from `middle`.
    pub(super) fn joint(&self, middle: impl Fn(usize) -> f64) -> (f64, f64) {
        let heads = self.sums.len();
        let size = self.ends.last().copied().unwrap_or(0);
        let mut shares = vec![0.0; size];
        let mut around = 0.0;
        for head in 0..heads {
            let own = middle(head);
            for (share, value) in shares.iter_mut().zip(&self.values[head * size..]) {
                *share += value / own;
            }
            let (low, high) = ends(&self.values, &self.ends, head);
            let (least, most) = self.sums[head];
            around += high.max(-low) * (most - own).max(own - least) / (least * own);
        }
        let (low, high) = ends(&shares, &self.ends, 0);
        (low - around, high + around)
    }

    pub(super) fn values(&self, head: usize, position: usize) -> &[f64] {
        &self.values[self.place(head, position)]
    }

    /// All values of a head.
    pub(super) fn values_mut(&mut self, head: usize) -> &mut [f64] {
        let size = self.ends.last().copied().unwrap_or(0);
        &mut self.values[head * size..(head + 1) * size]
    }

    /// The largest ratio of a sum of a head's values, times a sign, and the sum of their weights; or a little more.
    ///
    /// Where `F(r)`, the largest sum of `value - r weight`, is 0, `r` is the largest ratio; the ratio of the terms that give `F(r)` is
    /// nearer to it than `r` (Dinkelbach 1967). No ratio is above `r + F(r) / least sum of weights`.
    pub(super) fn largest(&self, head: usize, sign: f64) -> f64 {
        let mut ratio = 0.0;
        let mut bound = f64::INFINITY;
        for round in 0..ROUNDS {
            let (mut most, mut value, mut weight) = (0.0, 0.0, 0.0);
            for position in 0..self.ends.len() {
                let place = self.place(head, position);
                let (values, weights) = (&self.values[place.clone()], &self.weights[place]);
                let mut own = f64::NEG_INFINITY;
                let mut best = 0;
                for (index, (value, weight)) in values.iter().zip(weights).enumerate() {
                    let sum = sign * value - ratio * weight;
                    if sum > own {
                        (own, best) = (sum, index);
                    }
                }
                most += own;
                value += sign * values[best];
                weight += weights[best];
            }
            bound = bound.min(ratio + most.max(0.0) / self.sums[head].0);
            let next = value / weight;
            let is_found = next <= ratio + SLACK * ratio.abs();
            if round > 0 && is_found || bound <= ratio + 1e-6 * ratio.abs() {
                break;
            }
            ratio = next;
        }
        bound + SLACK * bound.abs()
    }
}

/// The least and the largest sum of a head's numbers, one of each position.
fn ends(numbers: &[f64], ends: &[usize], head: usize) -> (f64, f64) {
    let size = ends.last().copied().unwrap_or(0);
    let (mut start, mut sums) = (head * size, (0.0, 0.0));
    for end in ends {
        let own = &numbers[start..head * size + end];
        sums.0 += own.iter().copied().fold(f64::INFINITY, f64::min);
        sums.1 += own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        start = head * size + end;
    }
    sums
}

#[cfg(test)]
mod tests {
    use headlight_data::Stream;

    use super::Ratios;

    /// Two heads with the same tokens. `[head][position][token]`, values and weights
    type Heads = Vec<Vec<Vec<(f64, f64)>>>;

    fn random(seed: u64) -> Heads {
        let mut below = Stream::Tests.numbers(seed);
        let counts: Vec<u32> = (0..=below(4)).map(|_| 1 + below(5)).collect();
        let mut pair = || {
            let value = f64::from(below(2001)) / 1000.0 - 1.0;
            (value, f64::exp(-f64::from(below(1000)) / 100.0))
        };
        let mut position = |count: &u32| (0..*count).map(|_| pair()).collect();
        (0..2)
            .map(|_| counts.iter().map(&mut position).collect())
            .collect()
    }

    /// The ratios of both heads for every choice of tokens.
    fn all(heads: &Heads) -> Vec<[f64; 2]> {
        let mut sums = vec![[(0.0, 0.0); 2]];
        for (first, second) in heads[0].iter().zip(&heads[1]) {
            let pairs = || first.iter().zip(second);
            let with = |[a, b]: &[(f64, f64); 2], (own, other): (&(f64, f64), &(f64, f64))| {
                [(a.0 + own.0, a.1 + own.1), (b.0 + other.0, b.1 + other.1)]
            };
            let longer = sums
                .iter()
                .flat_map(|sums| pairs().map(move |pair| with(sums, pair)));
            sums = longer.collect();
        }
        sums.iter()
            .map(|sums| sums.map(|(value, weight)| value / weight))
            .collect()
    }

    #[test]
    fn no_choice_of_tokens_has_a_larger_ratio() {
        let mut loosest = 0.0_f64;
        for seed in 0..300 {
            let heads = random(seed);
            let mut ratios = Ratios::default();
            ratios.clear();
            for head in &heads {
                for position in head {
                    for &(value, weight) in position {
                        ratios.push(value, weight);
                    }
                    ratios.end_position();
                }
                ratios.end_head();
            }
            let all = all(&heads);
            for head in 0..2 {
                for sign in [1.0, -1.0] {
                    let largest = all
                        .iter()
                        .map(|own| sign * own[head])
                        .fold(f64::NEG_INFINITY, f64::max);
                    let bound = ratios.largest(head, sign);
                    // Bounds are of ways, which can be 0.
                    assert!(bound >= largest, "{seed}: {bound} is below {largest}");
                    if largest > 0.0 {
                        loosest = loosest.max((bound - largest) / largest);
                    }
                }
            }
            // Any number between the ends will do as the middle.
            let middle = |head: usize| {
                heads[head]
                    .iter()
                    .map(|own| own.iter().map(|own| own.1).sum::<f64>() / own.len() as f64)
                    .sum()
            };
            let (low, high) = ratios.joint(middle);
            for own in &all {
                let sum = own[0] + own[1];
                assert!(
                    (low - 1e-9..=high + 1e-9).contains(&sum),
                    "{seed}: {sum} is not within {low} to {high}"
                );
            }
        }
        assert!(loosest < 1e-5, "{loosest}");
    }
}
