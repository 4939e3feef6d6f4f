//! The keys that a query may look at, and what follows from them: uniform attention, and the head that departs most from it.

use crate::config::AttentionConfig;
use crate::mask::Mask;

/// A row of weights that diverges from uniform attention by less than this, in nats, is close to it. Weights that are all a
/// fifth above or below uniform attention diverge by about this.
pub const UNIFORM_BELOW: f64 = 0.02;

/// The keys that a query may look at, by position, and what equal scores make of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    positions: Vec<usize>,
    /// The attention rate; `None` if weights are no softmax, and nothing is uniform.
    rate: Option<f64>,
}

/// Keys of a softmax.
impl FromIterator<usize> for Keys {
    fn from_iter<T: IntoIterator<Item = usize>>(positions: T) -> Self {
        Self {
            positions: positions.into_iter().collect(),
            rate: Some(1.0),
        }
    }
}

impl AttentionConfig {
    /// The keys that a query of a sample may look at: those that the mask allows, without padding.
    pub fn keys(&self, query: usize, tokens: &[u32]) -> Keys {
        let allowed = tokens.iter().enumerate().filter(|&(key, &token)| {
            self.mask.allows(query, key) && Some(token) != self.padding_token
        });
        let keys: Keys = allowed.map(|(key, _)| key).collect();
        keys.with_attention_rate(self.softmax.then_some(self.rate))
    }

    /// Whether the mask lets a query look at no position but its own.
    pub fn is_blind(&self, query: usize, positions: usize) -> bool {
        match &self.mask {
            Mask::None => positions < 2,
            Mask::Causal => query == 0,
            Mask::Matrix(rows) => {
                let mut row = rows.get(query).into_iter().flatten().enumerate();
                !row.any(|(key, &may)| may && key != query)
            }
        }
    }
}

impl Keys {
    /// The same keys, by their indices among these positions.
    #[must_use]
    pub fn restricted_to(&self, positions: &[usize]) -> Self {
        let indices = (0..positions.len()).filter(|&index| self.contains(positions[index]));
        indices.collect::<Self>().with_attention_rate(self.rate)
    }

    /// Whether weights are a softmax, so that there is uniform attention to compare them with.
    pub fn has_uniform(&self) -> bool {
        self.rate.is_some()
    }

    /// The same with an attention rate; `None` if weights are no softmax.
    #[must_use]
    pub fn with_attention_rate(self, rate: Option<f64>) -> Self {
        Self { rate, ..self }
    }

    /// The number of keys.
    pub fn count(&self) -> usize {
        self.positions.len()
    }

    /// Whether a position is one of the keys.
    pub fn contains(&self, position: usize) -> bool {
        self.positions.contains(&position)
    }

    /// Uniform attention on these positions together: what equal scores give to those of them that are keys, which is 1 / the
    /// number of keys for each; with an attention rate, that share of it and 1 minus the rate. `None` for a query that may
    /// look at no key, and if weights are no softmax.
    pub fn uniform(&self, positions: &[usize]) -> Option<f64> {
        let (rate, count) = (self.rate?, self.count() as f64);
        let among = self.positions.iter().filter(|key| positions.contains(key));
        let among = among.count() as f64;
        (count > 0.0).then(|| rate * (among / count) + (1.0 - rate) * among)
    }

    /// Uniform attention on each key. `None` as for [`uniform`](Self::uniform).
    pub fn uniform_each(&self) -> Option<f64> {
        self.positions.first().and_then(|&key| self.uniform(&[key]))
    }

    /// A weight in multiples of uniform attention. `None` for a query that may look at no key.
    pub fn times_uniform(&self, weight: f64) -> Option<f64> {
        self.uniform_each().map(|uniform| weight / uniform)
    }

    /// How far a row of weights is from uniform attention: the Kullback-Leibler divergence, in nats. With an attention rate
    /// it is that of the softmax. Weights that are no softmax have none; the sum of their sizes stands for it. `[key]`
    ///
    /// # Panics
    /// When the row has no weight for a key.
    pub fn divergence(&self, weights: &[f32]) -> f64 {
        let keys = self.positions.iter().map(|&key| f64::from(weights[key]));
        let Some(rate) = self.rate else {
            return keys.map(f64::abs).sum();
        };
        if rate == 0.0 {
            return 0.0;
        }
        let softmax = keys.map(|weight| (weight - (1.0 - rate)) / rate);
        let positive = softmax.filter(|&weight| weight > 0.0);
        positive
            .map(|weight| weight * (weight * self.count() as f64).ln())
            .sum()
    }
}

/// Whether each of these rows, such as those of a head, is close to uniform attention ([`UNIFORM_BELOW`]). Each comes with
/// the keys that its query may look at; a row with a single key says nothing, and if no row has more, they are not.
pub fn is_uniform<'a>(rows: impl IntoIterator<Item = (&'a Keys, &'a [f32])>) -> bool {
    let telling = rows.into_iter().filter(|(keys, _)| keys.count() > 1);
    let mut rows = telling.peekable();
    let is_close = |(keys, weights): (&Keys, &[f32])| {
        keys.has_uniform() && keys.divergence(weights) < UNIFORM_BELOW
    };
    rows.peek().is_some() && rows.all(is_close)
}

/// The attention of the readout position in a layer for a sample.
#[derive(Clone, Debug)]
pub struct ReadoutAttention<'a> {
    /// `[head][key]`
    pub weights: Vec<&'a [f32]>,
    /// The keys that the readout position may look at.
    pub keys: Keys,
    /// The sample's class, if it is known.
    pub label: Option<u32>,
    /// The positions that decide the label.
    pub deciding: &'a [usize],
}

impl<'a> ReadoutAttention<'a> {
    /// The look at a sample by itself, whatever its class is.
    pub fn alone(weights: Vec<&'a [f32]>, keys: Keys) -> Self {
        Self {
            weights,
            keys,
            label: None,
            deciding: &[],
        }
    }
}

/// The strongest head of a layer, and what it is strongest in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrongestHead {
    /// The head.
    pub head: usize,
    /// What it is strongest in.
    pub by: HeadStrength,
}

/// What a head is strongest in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadStrength {
    /// It looks most at what decides the label.
    Deciding,
    /// The same, though not more than uniform attention would.
    DecidingBelowUniform,
    /// It is the farthest from uniform attention.
    Divergence,
    /// Its weights, which are no softmax, are the largest.
    Size,
}

impl StrongestHead {
    /// The head to show where nothing tells heads apart.
    pub const FIRST: Self = Self {
        head: 0,
        by: HeadStrength::Divergence,
    };

    /// Why it is the strongest, after its name.
    pub fn reason(self) -> &'static str {
        match self.by {
            HeadStrength::Deciding => "looks most at what decides",
            HeadStrength::DecidingBelowUniform => {
                "looks most at what decides, though no head looks there more than uniformly"
            }
            HeadStrength::Divergence => "is farthest from uniform",
            HeadStrength::Size => "has the largest weights",
        }
    }
}

/// The strongest head of a layer, which is the last one unless a reader chooses another.
///
/// It is the head with the largest mean weight on the deciding positions, over samples of label 1 or more. If no such
/// sample has deciding positions, it is the head with the largest mean divergence from uniform attention, over all
/// samples; without a softmax, that with the largest weights. Of equal heads, the first. `None` without heads or samples.
pub fn strongest_head(looks: &[ReadoutAttention<'_>]) -> Option<StrongestHead> {
    let first = looks.first()?;
    let heads = first.weights.len();
    let decided = |look: &&ReadoutAttention<'_>| look.label >= Some(1) && !look.deciding.is_empty();
    let by_label = looks.iter().any(|look| decided(&look));
    // All heads have the same number of samples, so the sum decides as the mean does.
    let strength = |head: usize| -> f64 {
        if by_label {
            let paid = |look: &ReadoutAttention<'_>| -> f64 {
                // A file may name positions that its samples lack.
                let row = look.weights[head];
                let weights = look.deciding.iter().filter_map(|&key| row.get(key));
                weights.map(|&weight| f64::from(weight)).sum()
            };
            looks.iter().filter(decided).map(paid).sum()
        } else {
            let far = |look: &ReadoutAttention<'_>| look.keys.divergence(look.weights[head]);
            looks.iter().map(far).sum()
        }
    };
    let strengths: Vec<f64> = (0..heads).map(strength).collect();
    let is_better = |best, head| strengths[head] > strengths[best];
    let strongest = (0..heads).reduce(|best, head| if is_better(best, head) { head } else { best });
    let decided = looks.iter().filter(decided);
    let uniform: Option<f64> = decided.map(|look| look.keys.uniform(look.deciding)).sum();
    strongest.map(|head| StrongestHead {
        head,
        by: if by_label && uniform.is_some_and(|uniform| strengths[head] <= uniform) {
            HeadStrength::DecidingBelowUniform
        } else if by_label {
            HeadStrength::Deciding
        } else if first.keys.has_uniform() {
            HeadStrength::Divergence
        } else {
            HeadStrength::Size
        },
    })
}
