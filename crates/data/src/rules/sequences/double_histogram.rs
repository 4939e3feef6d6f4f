//! How many tokens occur as often as each (Weiss et al. 2021, "Thinking Like Transformers").

use std::collections::BTreeSet;

use headlight_keys::{InvalidValue, section};
use rand::Rng;

use super::{SequenceRule, check, content, count_of, draw, padded};
use crate::cls::ClsPlace;
use crate::rules::kind::Kind;
use crate::sampler::Sampler;

section! {
    /// The class of each position is how many different tokens occur as often as its token, itself included.
    #[derive(Copy, Eq)]
    pub struct DoubleHistogram {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
    }
}

impl DoubleHistogram {
    pub(in crate::rules) const KIND: Kind = Kind::NOT_OFFERED;
}

impl SequenceRule for DoubleHistogram {
    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let own = content(tokens, self.padding, None);
        let different: BTreeSet<u32> = own.iter().copied().collect();
        let counts: Vec<usize> = different
            .iter()
            .map(|&token| count_of(token, own))
            .collect();
        let label = |&token: &u32| {
            let count = count_of(token, own);
            counts.iter().filter(|&&other| other == count).count() as u32
        };
        padded(own.iter().map(label).collect(), tokens)
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let own = content(tokens, self.padding, None);
        let count = count_of(tokens[position], own);
        let is_as_frequent = |&place: &usize| count_of(own[place], own) == count;
        (0..own.len()).filter(is_as_frequent).collect()
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        draw(sampler, self.padding, None, rng)
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        check(samples, self.padding, None)
    }

    fn words(&self) -> &'static str {
        "how many tokens occur as often as each token"
    }

    fn asks(&self) -> &'static str {
        "How many tokens occur as often as each token?"
    }

    fn place(&self) -> &'static str {
        "the positions of tokens that occur as often"
    }

    fn count(&self, samples: Sampler) -> usize {
        samples.seq_len + 1
    }
}
