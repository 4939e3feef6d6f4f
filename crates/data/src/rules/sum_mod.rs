//! The sum of tokens modulo a number: modular addition (Power et al. 2022, "Grokking: Generalization Beyond Overfitting on
//! Small Algorithmic Datasets").

use headlight_schema::{ConfigSection, InvalidValue, Range, require, section};

use super::automaton::Automaton;
use super::rule::{Rule, check_positions, listed_positions};
use crate::cls::ClsPlace;
use crate::config::CLASS_LIMIT;
use crate::sampler::Sampler;

section! {
    /// The sum of the tokens, each taken as its number, modulo `modulus` is the sample's class.
    pub struct SumMod {
        /// What the sum is divided by; its remainder is the class, so there are as many classes.
        #[range(Range::of(2, CLASS_LIMIT as u32))]
        pub modulus: u32,
        /// The positions whose tokens are added; if left out, all.
        #[omit(default)]
        pub positions: Vec<usize> = Vec::new(),
    }
}

impl Rule for SumMod {
    fn automaton(&self, _cls: ClsPlace, n_classes: usize) -> Option<Automaton<'_>> {
        let modulus = u64::from(self.modulus);
        let counts = |position| self.positions.is_empty() || self.positions.contains(&position);
        Some(Automaton::new(
            move |sum, position, token| {
                if counts(position) {
                    (sum + u64::from(token)) % modulus
                } else {
                    sum
                }
            },
            move |sum| (sum as u32).min(n_classes as u32 - 1),
        ))
    }

    fn deciding_positions(&self, tokens: &[u32], cls: ClsPlace) -> Vec<usize> {
        self.fixed_positions().unwrap_or_else(|| {
            let first = usize::from(cls == ClsPlace::First);
            (first..first + cls.without(tokens).len()).collect()
        })
    }

    fn fixed_positions(&self) -> Option<Vec<usize>> {
        Some(self.positions.clone()).filter(|positions| !positions.is_empty())
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        check_positions(&self.positions, samples)?;
        self.check_ranges()
            .map_err(|invalid| invalid.within("rule"))?;
        let count = match &self.positions[..] {
            [] => samples.seq_len,
            positions => positions.len(),
        };
        // Sums of k of n successive tokens have k (n - 1) + 1 values.
        let (n_tokens, modulus) = (samples.n_tokens(), self.modulus);
        let sums = (count as u64)
            .saturating_mul(u64::from(n_tokens) - 1)
            .saturating_add(1);
        require(sums >= u64::from(modulus), "rule.modulus", || {
            format!(
                "the sums of {count} of {n_tokens} tokens do not have all remainders of {modulus}; raise vocab_size, or lower modulus"
            )
        })
    }

    fn describe(&self) -> String {
        let modulus = self.modulus;
        match &self.positions[..] {
            [] => format!("the sum of all tokens modulo {modulus}"),
            positions => format!(
                "the sum of {} modulo {modulus}",
                listed_positions(positions)
            ),
        }
    }

    fn deciding_place(&self) -> String {
        match &self.positions[..] {
            [] => "all tokens together".to_owned(),
            positions => format!("{} together", listed_positions(positions)),
        }
    }

    fn question(&self) -> String {
        format!("What is {}?", self.describe())
    }

    /// `None` for a modulus that [`validate`](Rule::validate) refuses, so that it is the one to be reported.
    fn n_classes(&self, _samples: Sampler) -> Option<usize> {
        let is_valid = self.check_ranges().is_ok();
        is_valid.then_some(self.modulus as usize)
    }
}
