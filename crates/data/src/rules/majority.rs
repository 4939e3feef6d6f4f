//! Whether more than half of the tokens are a certain one (Hahn 2020, "Theoretical Limitations of Self-Attention in Neural
//! Sequence Models").

use headlight_schema::{InvalidValue, section};
use rand::Rng;

use super::automaton::Automaton;
use super::rule::{Drawn, Rule, positions_of};
use crate::cls::{CLS, ClsPlace};
use crate::sampler::Sampler;

section! {
    /// More than half of the tokens are `token`.
    pub struct Majority {
        /// The token that the rule counts.
        pub token: u32,
    }
}

impl Rule for Majority {
    fn automaton(&self, cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        // How many tokens there were, and how many of them count.
        const ONE: u64 = 1 << 32;
        Some(Automaton::new(
            move |state, _, token| match token {
                CLS if cls.is_present() => state,
                token => state + ONE + u64::from(token == self.token),
            },
            |state| u32::from(2 * (state % ONE) > state / ONE),
        ))
    }

    fn deciding_positions(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        positions_of(&[self.token], tokens)
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        let is_allowed = |count: usize| (2 * count > sampler.seq_len) == (class == 1);
        Some(sampler.with_count(self.token, None, is_allowed, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_token("rule.token", self.token)
    }

    fn describe(&self) -> String {
        format!("more than half of the tokens are token {}", self.token)
    }

    fn deciding_place(&self) -> String {
        format!("token {}, wherever it is", self.token)
    }
}
