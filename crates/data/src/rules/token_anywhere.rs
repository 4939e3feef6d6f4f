//! A token at any position.

use headlight_schema::{InvalidValue, section};
use rand::Rng;

use super::automaton::Automaton;
use super::offer::{HALF_POSITIVE, RuleNumber, RuleOffer};
use super::rule::{Drawn, Rule, positions_of};
use crate::cls::ClsPlace;
use crate::sampler::Sampler;

section! {
    /// `token` is anywhere.
    pub struct TokenAnywhere {
        /// The token that the rule looks for.
        pub token: u32,
    }
}

impl TokenAnywhere {
    pub(super) const OFFER: RuleOffer = RuleOffer {
        title: "token anywhere",
        question: "is token {token} anywhere?",
        parameters: &[RuleNumber::token("token", "token", 42)],
        n_classes: 2,
        needs: &HALF_POSITIVE,
    };
}

impl Rule for TokenAnywhere {
    fn automaton(&self, _cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        Some(Automaton::counting(|_, token| token == self.token, 1))
    }

    fn deciding_positions(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        positions_of(&[self.token], tokens)
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        Some(sampler.with_subsequence(&[self.token], class == 1, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_token("rule.token", self.token)
    }

    fn describe(&self) -> String {
        format!("token {} is at any position", self.token)
    }

    fn deciding_place(&self) -> String {
        format!("token {}, wherever it is", self.token)
    }
}
