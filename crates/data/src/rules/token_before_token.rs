//! A token somewhere before another.

use headlight_schema::{InvalidValue, require, section};
use rand::Rng;

use super::automaton::Automaton;
use super::offer::{HALF_POSITIVE, RuleNumber, RuleOffer, SettingValue};
use super::rule::{Drawn, Rule, positions_of};
use crate::cls::ClsPlace;
use crate::sampler::Sampler;

section! {
    /// `first` is somewhere before `second`.
    pub struct TokenBeforeToken {
        /// The token that must come earlier.
        pub first: u32,
        /// The token that must come later.
        pub second: u32,
    }
}

impl TokenBeforeToken {
    pub(super) const OFFER: RuleOffer = RuleOffer {
        title: "token before token",
        question: "does token {first} come before token {second}?",
        parameters: &[
            RuleNumber::token("first", "token", 7),
            RuleNumber::token("second", "before token", 42),
        ],
        n_classes: 2,
        needs: &[
            HALF_POSITIVE[0],
            HALF_POSITIVE[1],
            ("model.d_model", SettingValue::Whole(16)),
            ("training.epochs", SettingValue::Whole(10)),
            ("training.learning_rate", SettingValue::Real(3e-3)),
        ],
    };
}

impl Rule for TokenBeforeToken {
    fn automaton(&self, _cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        // 1 after the first token, 2 after the second one that follows it.
        Some(Automaton::new(
            |state, _, token| match state {
                0 => u64::from(token == self.first),
                1 if token == self.second => 2,
                state => state,
            },
            |state| u32::from(state == 2),
        ))
    }

    fn deciding_positions(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        positions_of(&[self.first, self.second], tokens)
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        Some(sampler.with_subsequence(&[self.first, self.second], class == 1, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_token("rule.first", self.first)?;
        samples.check_token("rule.second", self.second)?;
        require(
            samples.seq_len >= 2,
            "rule",
            || "a rule about the order of two tokens needs a seq_len of 2 or more",
        )
    }

    fn describe(&self) -> String {
        format!("token {} comes before token {}", self.first, self.second)
    }

    fn deciding_place(&self) -> String {
        format!(
            "tokens {} and {}, wherever they are",
            self.first, self.second
        )
    }
}
