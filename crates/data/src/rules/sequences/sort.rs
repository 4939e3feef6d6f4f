//! The tokens in ascending order.

use headlight_keys::{InvalidValue, section};
use rand::Rng;

use super::{SequenceRule, check, content, draw, padded, places_of};
use crate::cls::ClsPlace;
use crate::rules::kind::Kind;
use crate::sampler::Sampler;

section! {
    /// The classes of the positions are the sample's tokens in ascending order.
    #[derive(Copy, Eq)]
    pub struct Sort {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
        /// A token that follows the last one of each sample, and is not counted among them; if left out, none does.
        #[omit(default)]
        pub end: Option<u32> = None,
    }
}

impl Sort {
    pub(in crate::rules) const KIND: Kind = Kind::NOT_OFFERED;
}

impl SequenceRule for Sort {
    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let mut own = content(tokens, self.padding, self.end).to_vec();
        own.sort_unstable();
        padded(own, tokens)
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let own = content(tokens, self.padding, self.end);
        let mut sorted = own.to_vec();
        sorted.sort_unstable();
        let token = sorted.get(position).copied();
        token.map_or_else(Vec::new, |token| places_of(token, own))
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        draw(sampler, self.padding, self.end, rng)
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        check(samples, self.padding, self.end)
    }

    fn words(&self) -> &'static str {
        "the tokens in ascending order"
    }

    fn asks(&self) -> &'static str {
        "Which tokens are these in ascending order?"
    }

    fn place(&self) -> &'static str {
        "the positions of the token that is the answer"
    }

    fn count(&self, samples: Sampler) -> usize {
        samples.vocab_size as usize
    }
}
