//! Samples drawn uniformly, from all there are or from those with a property.

use std::ops::Range;

use headlight_schema::{InvalidValue, require};
use rand::Rng;

use crate::cls::{CLS, ClsPlace};
use crate::random::{uniform_below, uniform_unit};

/// The most different samples that the generator `all` lists.
const MAX_LISTED_SAMPLES: u64 = 1 << 24;

/// Draws samples of one vocabulary and length, and knows which tokens and positions they have.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// Number of different tokens, including `[CLS]` = 0 if samples have it.
    pub vocab_size: u32,
    /// Tokens per sample, without `[CLS]`.
    pub seq_len: usize,
    /// The place of `[CLS]`.
    pub cls: ClsPlace,
}

impl Sampler {
    /// A sample drawn uniformly from all samples. `next_word` gives 32 random bits.
    pub(crate) fn uniform_sample(self, mut next_word: impl FnMut() -> u32) -> Vec<u32> {
        self.sample(|row| row.extend((0..self.seq_len).map(|_| self.token(&mut next_word))))
    }

    /// The number of tokens that samples can have, `[CLS]` aside.
    pub(crate) fn n_tokens(self) -> u32 {
        self.vocab_size - self.cls.first_token()
    }

    /// The tokens that samples can have, `[CLS]` aside.
    pub(crate) fn tokens(self) -> Range<u32> {
        self.cls.first_token()..self.vocab_size
    }

    /// The number of different samples; `u64::MAX` if there are more.
    pub(crate) fn count(self) -> u64 {
        let exponent = u32::try_from(self.seq_len).unwrap_or(u32::MAX);
        u64::from(self.n_tokens()).saturating_pow(exponent)
    }

    /// The number of different samples, as the generator `all` lists them.
    pub(crate) fn listed(self) -> Result<usize, InvalidValue> {
        let count = self.count();
        require(count <= MAX_LISTED_SAMPLES, "generator", || {
            format!(
                "there are over {MAX_LISTED_SAMPLES} different samples of {} tokens; lower vocab_size or seq_len, or set generator = \"chacha\"",
                self.seq_len
            )
        })?;
        Ok(count as usize)
    }

    /// Sample `index` of all, in the order of their tokens; the last token changes first.
    pub(crate) fn nth_sample(self, mut index: u64) -> Vec<u32> {
        self.sample(|row| {
            let start = row.len();
            for _ in 0..self.seq_len {
                let n_tokens = u64::from(self.n_tokens());
                row.push(self.cls.first_token() + (index % n_tokens) as u32);
                index /= n_tokens;
            }
            row[start..].reverse();
        })
    }

    /// A token drawn uniformly.
    fn token(self, next_word: impl FnMut() -> u32) -> u32 {
        self.cls.first_token() + uniform_below(self.n_tokens(), next_word)
    }

    /// The tokens that `fill` appends, with `[CLS]` in its place.
    pub(crate) fn sample(self, fill: impl FnOnce(&mut Vec<u32>)) -> Vec<u32> {
        let mut row = Vec::with_capacity(self.cls.positions(self.seq_len));
        if self.cls == ClsPlace::First {
            row.push(CLS);
        }
        fill(&mut row);
        if self.cls == ClsPlace::Last {
            row.push(CLS);
        }
        row
    }

    /// Checks the token that the config has at `key`.
    pub(crate) fn check_token(self, key: &str, token: u32) -> Result<(), InvalidValue> {
        let (first, last) = (self.cls.first_token(), self.vocab_size - 1);
        require((first..=last).contains(&token), key, || {
            let cls = self.cls.is_present();
            let but = if cls { " (0 is [CLS])" } else { "" };
            format!(
                "token {token} is outside the vocabulary; samples hold tokens {first} to {last}{but}"
            )
        })
    }

    /// Checks the position that the config has at `key`.
    pub(crate) fn check_position(self, key: &str, position: usize) -> Result<(), InvalidValue> {
        let Self { seq_len, cls, .. } = self;
        let cls_position = cls.position(seq_len);
        let (from, to) = match cls {
            ClsPlace::First => (1, seq_len),
            ClsPlace::Last | ClsPlace::None => (0, seq_len - 1),
        };
        require((from..=to).contains(&position), key, || {
            let but = cls_position.map_or_else(String::new, |cls| format!(" ({cls} is [CLS])"));
            format!(
                "position {position} is outside the sample; tokens are at positions {from} to {to}{but}"
            )
        })
    }

    /// A token drawn uniformly from all tokens but this one.
    pub(crate) fn other_than(self, token: u32, rng: &mut (impl Rng + ?Sized)) -> u32 {
        let other = self.cls.first_token() + uniform_below(self.n_tokens() - 1, || rng.next_u32());
        if other < token { other } else { other + 1 }
    }

    /// A sample drawn uniformly from all in which `token` occurs an allowed number of times at these positions, or anywhere. There
    /// are two tokens or more, and a number of times is allowed.
    pub(crate) fn with_count(
        self,
        token: u32,
        positions: Option<&[usize]>,
        is_allowed: impl Fn(usize) -> bool,
        rng: &mut (impl Rng + ?Sized),
    ) -> Vec<u32> {
        let is_not_cls = |position: &usize| self.cls.position(self.seq_len) != Some(*position);
        let all: Vec<usize> = (0..self.cls.positions(self.seq_len))
            .filter(is_not_cls)
            .collect();
        let positions = positions.unwrap_or(&all);
        let mut row = self.uniform_sample(|| rng.next_u32());
        let hit = 1.0 / f64::from(self.n_tokens());
        let most_likely = mode(positions.len(), hit);
        let allowed = (0..=positions.len()).filter(|&count| is_allowed(count));
        let nearest = allowed.min_by_key(|count| count.abs_diff(most_likely));
        // So far from the mode that its weight is 0, the likeliest number that is allowed has weight 1.
        let mut weights = binomial_weights(positions.len(), hit, most_likely);
        if let Some(nearest) = nearest.filter(|&nearest| weights[nearest] == 0.0) {
            weights = binomial_weights(positions.len(), hit, nearest);
        }
        let weight = |count: usize| {
            if is_allowed(count) {
                weights[count]
            } else {
                0.0
            }
        };
        let total: f64 = (0..weights.len()).map(weight).sum();
        let mut left = uniform_unit(rng) * total;
        let chosen = (0..weights.len()).find(|&count| {
            left -= weight(count);
            left < 0.0 && weight(count) > 0.0
        });
        let last = (0..weights.len()).rev().find(|&count| weight(count) > 0.0);
        let mut missing = chosen.or(last).unwrap_or(0);
        for (index, &position) in positions.iter().enumerate() {
            let left = (positions.len() - index) as u32;
            row[position] = if uniform_below(left, || rng.next_u32()) < missing as u32 {
                missing -= 1;
                token
            } else {
                self.other_than(token, rng)
            };
        }
        row
    }

    /// A sample drawn uniformly from all that contain `wanted` in this order, gaps allowed (or from
    /// all that do not).
    ///
    /// Goes through the positions once, and draws each token with its exact probability, given which
    /// tokens are still missing and how many positions are left.
    pub(crate) fn with_subsequence(
        self,
        wanted: &[u32],
        contained: bool,
        rng: &mut (impl Rng + ?Sized),
    ) -> Vec<u32> {
        let hit = 1.0 / f64::from(self.n_tokens());
        let outcomes = subsequence_probabilities(wanted.len(), self.seq_len, hit, contained);
        self.sample(|row| {
            let mut found = 0;
            for left in (0..self.seq_len).rev() {
                let outcome = |found: usize| outcomes[wanted.len() - found][left];
                if found == wanted.len() {
                    row.push(self.token(|| rng.next_u32()));
                    continue;
                }
                let with_hit = hit * outcome(found + 1);
                let without = (1.0 - hit) * outcome(found);
                if uniform_unit(rng) * (with_hit + without) < with_hit {
                    row.push(wanted[found]);
                    found += 1;
                } else {
                    row.push(self.other_than(wanted[found], rng));
                }
            }
        })
    }
}

/// The probability of one more hit in `n` draws than `hits`, in multiples of that of `hits`.
fn ratio(n: usize, hit: f64, hits: usize) -> f64 {
    (n - hits) as f64 / (hits + 1) as f64 * (hit / (1.0 - hit))
}

/// The most likely number of hits in `n` draws.
fn mode(n: usize, hit: f64) -> usize {
    (0..n).find(|&hits| ratio(n, hit, hits) < 1.0).unwrap_or(n)
}

/// The probability of each number of hits in `n` draws, in multiples of that of `unit` hits. `[hits]`
fn binomial_weights(n: usize, hit: f64, unit: usize) -> Vec<f64> {
    let mut weights = vec![0.0; n + 1];
    weights[unit] = 1.0;
    for hits in unit..n {
        weights[hits + 1] = weights[hits] * ratio(n, hit, hits);
    }
    for hits in (0..unit).rev() {
        weights[hits] = weights[hits + 1] / ratio(n, hit, hits);
    }
    weights
}

/// A row with two tokens in each other's place.
pub(crate) fn swap_tokens(mut row: Vec<u32>, one: u32, other: u32) -> Vec<u32> {
    for token in &mut row {
        *token = match *token {
            token if token == one => other,
            token if token == other => one,
            token => token,
        };
    }
    row
}

/// `[missing][left]`: the probability that `missing` tokens are found in their order within `left`
/// positions, or that they are not. A position holds the next one with probability `hit`. Each case
/// is computed by itself: one minus the other would lose all digits of a rare case.
fn subsequence_probabilities(missing: usize, left: usize, hit: f64, found: bool) -> Vec<Vec<f64>> {
    let (done, not_yet) = if found { (1.0, 0.0) } else { (0.0, 1.0) };
    let mut table = vec![vec![done; left + 1]];
    for m in 1..=missing {
        let mut row = vec![not_yet; left + 1];
        for l in 1..=left {
            row[l] = hit * table[m - 1][l - 1] + (1.0 - hit) * row[l - 1];
        }
        table.push(row);
    }
    table
}
