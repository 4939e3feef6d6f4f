//! Whether each prefix of brackets is balanced, can become so, or has failed (Weiss et al. 2021, "Thinking Like Transformers").

use headlight_schema::{InvalidValue, Range, require, section};
use rand::Rng;

use super::{OF_TOKENS, SequenceFacts, SequenceRule};
use crate::cls::ClsPlace;
use crate::generator::Generator;
use crate::random::uniform_below;
use crate::sampler::Sampler;

section! {
    /// The class of each position says of the brackets up to it: they are a prefix of a balanced string (P), are balanced (T),
    /// or have failed (F). Each kind of bracket has two tokens: the first tokens open and close the first kind, and so on.
    ///
    /// Half of the samples start with a balanced string, which random brackets follow; the others are random brackets (the
    /// generator of Friedman et al. 2023, "Learning Transformer Programs").
    #[derive(Copy, Eq)]
    pub struct Dyck {
        /// The kinds of brackets.
        pub kinds: u32,
    }
}

const PREFIX: u32 = 0;
const BALANCED: u32 = 1;
const FAILED: u32 = 2;

impl Dyck {
    /// Balanced brackets of 1 to `deepest` steps, each of which adds a pair behind or around.
    fn balanced(self, first: u32, deepest: u32, rng: &mut dyn Rng) -> Vec<u32> {
        let mut below = |count: u32| uniform_below(count, || rng.next_u32());
        let mut string = Vec::new();
        for _ in 0..=below(deepest) {
            let opening = first + 2 * below(self.kinds);
            if below(2) == 1 {
                string.insert(0, opening);
            } else {
                string.push(opening);
            }
            string.push(opening + 1);
        }
        string
    }
}

impl SequenceRule for Dyck {
    fn facts(&self) -> SequenceFacts {
        SequenceFacts {
            words: "whether the brackets up to each position are balanced, can become so, or have failed",
            question: "Are the brackets up to each position balanced?",
            deciding: "the positions up to the one that is asked",
            n_classes: |_| 3,
            classes: &["P", "T", "F"],
            generator: Some(Generator::Chacha),
            ..OF_TOKENS
        }
    }

    fn labels(&self, tokens: &[u32], cls: ClsPlace) -> Vec<u32> {
        let first = cls.first_token();
        let (mut open, mut has_failed) = (Vec::new(), false);
        let label = |&token: &u32| {
            let number = token - first;
            if number.is_multiple_of(2) {
                open.push(number);
            } else {
                has_failed |= open.pop() != Some(number - 1);
            }
            match open[..] {
                _ if has_failed => FAILED,
                [] => BALANCED,
                _ => PREFIX,
            }
        };
        tokens.iter().map(label).collect()
    }

    fn deciding(&self, _tokens: &[u32], position: usize) -> Vec<usize> {
        (0..=position).collect()
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        let (first, length) = (sampler.cls.first_token(), sampler.seq_len);
        let mut string = Vec::new();
        if uniform_below(2, || rng.next_u32()) == 1 {
            // Of as many positions with `[CLS]`, half.
            let deepest = (length as u32).div_ceil(2).max(1);
            string = self.balanced(first, deepest, rng);
        }
        while string.len() < length {
            string.push(first + uniform_below(2 * self.kinds, || rng.next_u32()));
        }
        string.truncate(length);
        sampler.sample(|row| row.extend(string))
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        Range::at_least(1).check("rule.kinds", &self.kinds)?;
        let needed = u64::from(samples.cls.first_token()) + 2 * u64::from(self.kinds);
        let (vocab_size, kinds) = (samples.vocab_size, self.kinds);
        require(u64::from(vocab_size) == needed, "vocab_size", || {
            format!(
                "vocab_size is {vocab_size}, but brackets with kinds = {kinds} are {needed} tokens, [CLS] included if samples have it; set vocab_size = {needed}"
            )
        })
    }
}
