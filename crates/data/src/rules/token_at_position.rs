//! A token at a position: the notebook's rule, with token 42 and position 3.

use headlight_schema::{InvalidValue, section};
use rand::Rng;

use super::automaton::Automaton;
use super::offer::{RuleNumber, RuleOffer};
use super::rule::{Drawn, Rule};
use crate::cls::ClsPlace;
use crate::sampler::Sampler;

section! {
    /// `token` is at `position`.
    pub struct TokenAtPosition {
        /// The token that the rule looks for.
        pub token: u32,
        /// Where it must be.
        pub position: usize,
    }
}

impl TokenAtPosition {
    pub(super) const OFFER: RuleOffer = RuleOffer {
        title: "token at position",
        question: "is token {token} at position {position}?",
        parameters: &[
            RuleNumber::token("token", "token", 42),
            RuleNumber::position("position", "position", 3),
        ],
        n_classes: 2,
        needs: &[],
    };
}

impl Rule for TokenAtPosition {
    fn automaton(&self, _cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        Some(Automaton::counting(
            |position, token| position == self.position && token == self.token,
            1,
        ))
    }

    fn fixed_positions(&self) -> Option<Vec<usize>> {
        Some(vec![self.position])
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        let mut row = sampler.uniform_sample(|| rng.next_u32());
        row[self.position] = if class == 1 {
            self.token
        } else {
            sampler.other_than(self.token, rng)
        };
        Some(row)
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_token("rule.token", self.token)?;
        samples.check_position("rule.position", self.position)
    }

    fn describe(&self) -> String {
        format!("token {} is at position {}", self.token, self.position)
    }

    fn deciding_place(&self) -> String {
        format!("position {}", self.position)
    }
}
