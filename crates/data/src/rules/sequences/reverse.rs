//! The tokens from the last to the first.

use headlight_keys::{InvalidValue, section};
use rand::Rng;

use super::{SequenceRule, check, content, draw, padded};
use crate::cls::ClsPlace;
use crate::rules::kind::Kind;
use crate::sampler::Sampler;

section! {
    /// The class of each position is the token at that place counted from the end.
    #[derive(Copy, Eq)]
    pub struct Reverse {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
        /// A token that follows the last one of each sample, and is not counted among them; if left out, none does.
        #[omit(default)]
        pub end: Option<u32> = None,
    }
}

impl Reverse {
    pub(in crate::rules) const KIND: Kind = Kind::NOT_OFFERED;
}

impl SequenceRule for Reverse {
    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let mut own = content(tokens, self.padding, self.end).to_vec();
        own.reverse();
        padded(own, tokens)
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let own = content(tokens, self.padding, self.end);
        let place = own.len().checked_sub(position + 1);
        place.into_iter().collect()
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        draw(sampler, self.padding, self.end, rng)
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        check(samples, self.padding, self.end)
    }

    fn words(&self) -> &'static str {
        "the tokens in reverse"
    }

    fn asks(&self) -> &'static str {
        "Which tokens are these in reverse?"
    }

    fn place(&self) -> &'static str {
        "the position that the answer is copied from"
    }

    fn count(&self, samples: Sampler) -> usize {
        samples.vocab_size as usize
    }
}
