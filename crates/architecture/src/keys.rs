//! The keys that a query may look at, and what follows from them: uniform attention, and the head that departs most from it.

use crate::config::AttentionConfig;

/// A row of weights that diverges from uniform attention by less than this, in nats, is close to it. Weights that are all a
/// fifth above or below uniform attention diverge by about this.
pub const UNIFORM_BELOW: f64 = 0.02;

/// The keys that a query may look at, by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(Vec<usize>);

impl FromIterator<usize> for Keys {
    fn from_iter<T: IntoIterator<Item = usize>>(positions: T) -> Self {
        Self(positions.into_iter().collect())
    }
}

impl AttentionConfig {
    /// The keys that a query of a sample may look at: those that the mask allows, without padding.
    pub fn keys(&self, query: usize, tokens: &[u32]) -> Keys {
        let allowed = tokens.iter().enumerate().filter(|&(key, &token)| {
            self.mask.allows(query, key) && Some(token) != self.padding_token
        });
        allowed.map(|(key, _)| key).collect()
    }

    /// Whether the mask lets a query look at no position but its own.
    pub fn is_blind(&self, query: usize, positions: usize) -> bool {
        let mut others = (0..positions).filter(|&key| key != query);
        !others.any(|key| self.mask.allows(query, key))
    }
}

impl Keys {
    /// The number of keys.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether a position is one of the keys.
    pub fn has(&self, position: usize) -> bool {
        self.0.contains(&position)
    }

    /// Uniform attention on these positions together: 1 / the number of keys for each of them that is a key. `None` for a
    /// query that may look at no key.
    pub fn uniform(&self, positions: &[usize]) -> Option<f64> {
        let among = self.0.iter().filter(|key| positions.contains(key)).count();
        (!self.0.is_empty()).then(|| among as f64 / self.0.len() as f64)
    }

    /// Uniform attention on each key. `None` for a query that may look at no key.
    pub fn each(&self) -> Option<f64> {
        self.0.first().and_then(|&key| self.uniform(&[key]))
    }

    /// A weight in multiples of uniform attention. `None` for a query that may look at no key.
    pub fn times_uniform(&self, weight: f64) -> Option<f64> {
        self.each().map(|uniform| weight / uniform)
    }

    /// How far a row of weights is from uniform attention: the Kullback-Leibler divergence, in nats. `[key]`
    ///
    /// # Panics
    /// When the row has no weight for a key.
    pub fn divergence(&self, weights: &[f32]) -> f64 {
        let keys = self.0.iter().map(|&key| f64::from(weights[key]));
        let positive = keys.filter(|&weight| weight > 0.0);
        positive
            .map(|weight| weight * (weight * self.0.len() as f64).ln())
            .sum()
    }
}

/// Whether each of these rows, such as those of a head, is close to uniform attention ([`UNIFORM_BELOW`]). Each comes with
/// the keys that its query may look at; a row with a single key says nothing, and if no row has more, they are not.
pub fn is_uniform<'a>(rows: impl IntoIterator<Item = (&'a Keys, &'a [f32])>) -> bool {
    let mut rows = rows
        .into_iter()
        .filter(|(keys, _)| keys.count() > 1)
        .peekable();
    rows.peek().is_some() && rows.all(|(keys, weights)| keys.divergence(weights) < UNIFORM_BELOW)
}

/// The attention of `[CLS]` in a block for a sample.
#[derive(Clone, Debug)]
pub struct Look<'a> {
    /// `[head][key]`
    pub weights: Vec<&'a [f32]>,
    /// The keys that `[CLS]` may look at.
    pub keys: Keys,
    /// The sample's class, if it is known.
    pub label: Option<u8>,
    /// The positions that decide the label.
    pub deciding: &'a [usize],
}

impl<'a> Look<'a> {
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

/// The strongest head of a block, which is the last one unless a reader chooses another.
///
/// It is the head with the largest mean weight on the deciding positions, over samples of label 1 or more. If no such
/// sample has deciding positions, it is the head with the largest mean divergence from uniform attention, over all
/// samples. Of equal heads, the first. `None` without heads or samples.
pub fn strongest_head(looks: &[Look<'_>]) -> Option<usize> {
    let heads = looks.first()?.weights.len();
    let decided = |look: &&Look<'_>| look.label >= Some(1) && !look.deciding.is_empty();
    let has_decided = looks.iter().any(|look| decided(&look));
    // All heads have the same number of samples, so the sum decides as the mean does.
    let strength = |head: usize| -> f64 {
        if has_decided {
            let paid = |look: &Look<'_>| -> f64 {
                // A file may name positions that its samples lack.
                let weights = look
                    .deciding
                    .iter()
                    .filter_map(|&key| look.weights[head].get(key).copied());
                weights.map(f64::from).sum()
            };
            looks.iter().filter(decided).map(paid).sum()
        } else {
            let far = looks
                .iter()
                .map(|look| look.keys.divergence(look.weights[head]));
            far.sum()
        }
    };
    let strengths: Vec<f64> = (0..heads).map(strength).collect();
    (0..heads).reduce(|best, head| {
        if strengths[head] > strengths[best] {
            head
        } else {
            best
        }
    })
}
