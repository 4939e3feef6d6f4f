//! How often each token occurs (Weiss et al. 2021, "Thinking Like Transformers").

use headlight_keys::{InvalidValue, section};
use rand::Rng;

use super::{SequenceRule, check, content, count_of, draw, padded, places_of};
use crate::cls::ClsPlace;
use crate::rules::kind::Kind;
use crate::sampler::Sampler;

section! {
    /// The class of each position is how often its token occurs in the sample.
    #[derive(Copy, Eq)]
    pub struct Histogram {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
    }
}

impl Histogram {
    pub(in crate::rules) const KIND: Kind = Kind::NOT_OFFERED;
}

impl SequenceRule for Histogram {
    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let own = content(tokens, self.padding, None);
        let counts = own.iter().map(|&token| count_of(token, own) as u32);
        padded(counts.collect(), tokens)
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        places_of(tokens[position], tokens)
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        draw(sampler, self.padding, None, rng)
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        check(samples, self.padding, None)
    }

    fn words(&self) -> &'static str {
        "how often each token occurs"
    }

    fn asks(&self) -> &'static str {
        "How often does each token occur?"
    }

    fn place(&self) -> &'static str {
        "the positions of the same token"
    }

    fn count(&self, samples: Sampler) -> usize {
        samples.seq_len + 1
    }
}
