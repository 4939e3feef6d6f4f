//! A random sequence that is repeated, where each token of a repetition can be copied from the one before (Elhage et al. 2021,
//! "A Mathematical Framework for Transformer Circuits").

use headlight_keys::{InvalidValue, section};
use rand::Rng;

use super::SequenceRule;
use crate::cls::ClsPlace;
use crate::generator::Generator;
use crate::rules::kind::Kind;
use crate::sampler::Sampler;
use crate::task::{IGNORED, Task};

section! {
    /// Each sample is a random sequence of `period` tokens, repeated; the class of each position is the token that follows.
    #[derive(Copy, Eq)]
    pub struct Repeat {
        /// Tokens from one repetition to the next.
        pub period: usize,
    }
}

impl Repeat {
    pub(in crate::rules) const KIND: Kind = Kind::NOT_OFFERED;
}

impl SequenceRule for Repeat {
    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let following = tokens.iter().skip(1).copied();
        following.chain([IGNORED]).take(tokens.len()).collect()
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let place = (position + 1).checked_sub(self.period);
        let place = place.filter(|_| position + 1 < tokens.len());
        place.into_iter().collect()
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        let mut row = sampler.any(|| rng.next_u32());
        let first = usize::from(sampler.cls == ClsPlace::First);
        for place in first + self.period..first + sampler.seq_len {
            row[place] = row[place - self.period];
        }
        row
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        if (1..samples.seq_len).contains(&self.period) {
            return Ok(());
        }
        let message = format!(
            "it is {}, and samples have {} tokens, so that nothing repeats; set 1 to {}",
            self.period,
            samples.seq_len,
            samples.seq_len.saturating_sub(1).max(1)
        );
        Err(InvalidValue::new("rule.period", message))
    }

    fn words(&self) -> &'static str {
        "a random sequence repeats"
    }

    fn asks(&self) -> &'static str {
        "Which token follows in a sequence that repeats?"
    }

    fn place(&self) -> &'static str {
        "the token that followed one period before"
    }

    fn count(&self, samples: Sampler) -> usize {
        samples.vocab_size as usize
    }

    fn of(&self) -> Task {
        Task::NextToken
    }

    fn needs(&self) -> Option<Generator> {
        Some(Generator::Chacha)
    }
}
