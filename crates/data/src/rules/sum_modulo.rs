//! The sum of two tokens modulo a number: modular addition (Power et al. 2022, "Grokking: Generalization Beyond Overfitting on
//! Small Algorithmic Datasets").

use headlight_keys::{InvalidValue, Range, Section, section};
use rand::Rng;

use super::kind::Kind;
use super::rule::Rule;
use crate::config::CLASS_LIMIT;
use crate::sampler::Sampler;

section! {
    /// The sum of the tokens at two positions, modulo `modulus`, is the sample's class.
    pub struct SumModulo {
        /// One position.
        pub first: usize,
        /// The other.
        pub second: usize,
        /// What the sum is divided by; its remainder is the class, so there are as many classes.
        #[range(Range::of(2, CLASS_LIMIT as u32))]
        pub modulus: u32,
    }
}

impl SumModulo {
    pub(super) const KIND: Kind = Kind {
        choice: None,
        marker: None,
    };

    fn remainder(&self, tokens: &[u32]) -> u32 {
        let modulus = self.modulus;
        (tokens[self.first] % modulus + tokens[self.second] % modulus) % modulus
    }
}

impl Rule for SumModulo {
    fn label_for(&self, tokens: &[u32], n_classes: usize) -> u32 {
        (self.remainder(tokens) as usize).min(n_classes - 1) as u32
    }

    fn label_positions(&self, _tokens: &[u32]) -> Vec<usize> {
        vec![self.first, self.second]
    }

    fn fixed_positions(&self) -> Option<Vec<usize>> {
        Some(vec![self.first, self.second])
    }

    /// Draws until the class is right: each class has about as many samples as the others.
    fn draw(&self, label: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        loop {
            let row = sampler.any(|| rng.next_u32());
            if self.remainder(&row) == u32::from(label) {
                return row;
            }
        }
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_position("rule.first", self.first)?;
        samples.check_position("rule.second", self.second)?;
        if self.first == self.second {
            let second = self.second;
            let message = format!("position {second} is added to itself; name two positions");
            return Err(InvalidValue::new("rule.second", message));
        }
        self.check_ranges()
            .map_err(|invalid| invalid.within("rule"))?;
        // Sums of two of n successive tokens have 2 n - 1 values.
        let (n_tokens, modulus) = (samples.n_tokens(), self.modulus);
        if u64::from(n_tokens) * 2 - 1 < u64::from(modulus) {
            let message = format!(
                "the sums of {n_tokens} tokens do not have all remainders of {modulus}; raise vocab_size, or lower modulus"
            );
            return Err(InvalidValue::new("rule.modulus", message));
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let Self {
            first,
            second,
            modulus,
        } = self;
        format!("the sum of positions {first} and {second} modulo {modulus}")
    }

    fn deciding_place(&self) -> String {
        format!("positions {} and {} together", self.first, self.second)
    }

    fn question(&self) -> String {
        format!("What is {}?", self.describe())
    }

    fn most_classes(&self, _seq_len: usize) -> usize {
        self.modulus as usize
    }

    /// `None` for a modulus that [`validate`](Rule::validate) refuses, so that it is the one to be reported.
    fn n_classes(&self) -> Option<usize> {
        let is_valid = self.check_ranges().is_ok();
        is_valid.then_some(self.modulus as usize)
    }
}
