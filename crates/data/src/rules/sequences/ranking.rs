//! The tokens by frequency: what Friedman et al. 2023, "Learning Transformer Programs", call most frequent.

use headlight_keys::{InvalidValue, section};
use rand::Rng;

use super::{SequenceRule, check, content, count_of, draw, padded, places_of};
use crate::cls::{CLS, ClsPlace};
use crate::rules::kind::Kind;
use crate::sampler::Sampler;
use crate::task::IGNORED;

section! {
    /// The classes of the positions are the different tokens, the most frequent first; of equally frequent ones, the one that
    /// occurs first. Positions after the last of them have class 0, which is `[CLS]`; without `[CLS]` they do not count.
    #[derive(Copy, Eq)]
    pub struct Ranking {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
    }
}

impl Ranking {
    pub(in crate::rules) const KIND: Kind = Kind::NOT_OFFERED;

    /// The different tokens in their order.
    fn order(tokens: &[u32]) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::new();
        for &token in tokens {
            if !order.contains(&token) {
                order.push(token);
            }
        }
        // Of equal counts, the first occurrence decides.
        let counts = order
            .iter()
            .map(|&token| u32::MAX - count_of(token, tokens) as u32);
        let mut ranks: Vec<(u32, u32)> = counts.zip(0..).collect();
        ranks.sort_unstable();
        let ranks = ranks.into_iter();
        ranks.map(|(_, place)| order[place as usize]).collect()
    }
}

impl SequenceRule for Ranking {
    fn labels(&self, tokens: &[u32], cls: ClsPlace) -> Vec<u32> {
        let own = content(tokens, self.padding, None);
        let mut labels = Self::order(own);
        let after = if cls.is_somewhere() { CLS } else { IGNORED };
        labels.resize(own.len(), after);
        padded(labels, tokens)
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let own = content(tokens, self.padding, None);
        let token = Self::order(own).get(position).copied();
        token.map_or_else(Vec::new, |token| places_of(token, own))
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        draw(sampler, self.padding, None, rng)
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        check(samples, self.padding, None)
    }

    fn words(&self) -> &'static str {
        "the tokens by frequency"
    }

    fn asks(&self) -> &'static str {
        "Which tokens occur most often, in their order?"
    }

    fn place(&self) -> &'static str {
        "the positions of the token that is the answer"
    }

    fn count(&self, samples: Sampler) -> usize {
        samples.vocab_size as usize
    }
}
