//! A random sequence that is repeated, where each token of a repetition can be copied from the one before (Elhage et al. 2021,
//! "A Mathematical Framework for Transformer Circuits").

use headlight_schema::{InvalidValue, require, section};
use rand::Rng;

use super::{OF_TOKENS, SequenceFacts, SequenceRule};
use crate::cls::ClsPlace;
use crate::generator::Generator;
use crate::random::uniform_below;
use crate::sampler::Sampler;
use crate::task::{IGNORED, Task};

section! {
    /// Each sample is a random sequence of `period` tokens, repeated; the class of each position is the token that follows.
    #[derive(Copy, Eq)]
    pub struct Repeat {
        /// Tokens from one repetition to the next.
        pub period: usize,
        /// The longest period: each sample draws its own, from `period` to this. With one period for all, a model needs to know
        /// nothing but a distance.
        #[omit(default)]
        pub max_period: Option<usize> = None,
    }
}

impl Repeat {
    fn longest(self) -> usize {
        self.max_period.unwrap_or(self.period)
    }

    /// The period of a sample.
    fn of_sample(self, tokens: &[u32]) -> usize {
        let repeats = |period: &usize| {
            tokens
                .iter()
                .skip(*period)
                .eq(&tokens[..tokens.len() - period])
        };
        let mut shorter = self.period..self.longest().min(tokens.len());
        shorter.find(repeats).unwrap_or(self.longest())
    }
}

impl SequenceRule for Repeat {
    fn facts(&self) -> SequenceFacts {
        SequenceFacts {
            words: "a random sequence repeats",
            question: "Which token follows in a sequence that repeats?",
            deciding: "the earlier copies of the token that follows",
            task: Task::NextToken,
            generator: Some(Generator::Chacha),
            ..OF_TOKENS
        }
    }

    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let following = tokens.iter().skip(1).copied();
        following.chain([IGNORED]).take(tokens.len()).collect()
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let (period, next) = (self.of_sample(tokens), position + 1);
        // A sample with a period of its own does not tell it before a token has come again.
        let first = period + usize::from(self.longest() > self.period);
        if next < first || next >= tokens.len() {
            return Vec::new();
        }
        (next % period..next).step_by(period).collect()
    }

    fn draw(&self, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        let mut row = sampler.uniform_sample(|| rng.next_u32());
        let first = usize::from(sampler.cls == ClsPlace::First);
        let more = (self.longest() - self.period) as u32;
        let period = self.period + uniform_below(more + 1, || rng.next_u32()) as usize;
        for position in first + period..first + sampler.seq_len {
            row[position] = row[position - period];
        }
        row
    }

    fn check(&self, samples: Sampler) -> Result<(), InvalidValue> {
        let (period, longest, seq_len) = (self.period, self.longest(), samples.seq_len);
        require((1..seq_len).contains(&period), "rule.period", || {
            format!(
                "period is {period}, and samples have {seq_len} tokens, so that nothing repeats; it must be from 1 to seq_len - 1"
            )
        })?;
        require(
            (period..seq_len).contains(&longest),
            "rule.max_period",
            || {
                format!(
                    "max_period is {longest}; it must be at least the period, {period}, and below seq_len, {seq_len}"
                )
            },
        )
    }
}
