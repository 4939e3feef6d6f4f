//! How often a token occurs.

use headlight_schema::{InvalidValue, section};
use rand::Rng;

use super::automaton::Automaton;
use super::offer::{RuleNumber, RuleOffer, SettingValue};
use super::rule::{Drawn, Rule, positions_of};
use crate::cls::ClsPlace;
use crate::sampler::Sampler;

section! {
    /// How often `token` occurs is the sample's class; the last class includes higher counts.
    pub struct Count {
        /// The token that the rule counts.
        pub token: u32,
    }
}

impl Count {
    pub(super) const OFFER: RuleOffer = RuleOffer {
        title: "count a token",
        question: "how often does token {token} occur?",
        parameters: &[RuleNumber::token("token", "token", 7)],
        n_classes: 3,
        needs: &[
            ("data.generator", SettingValue::Name("chacha")),
            ("data.vocab_size", SettingValue::Whole(11)),
            ("training.epochs", SettingValue::Whole(6)),
        ],
    };
}

impl Rule for Count {
    fn automaton(&self, _cls: ClsPlace, n_classes: usize) -> Option<Automaton<'_>> {
        Some(Automaton::counting(
            |_, token| token == self.token,
            n_classes as u32 - 1,
        ))
    }

    fn deciding_positions(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        positions_of(&[self.token], tokens)
    }

    fn draw_of_class(
        &self,
        class: u32,
        n_classes: usize,
        sampler: Sampler,
        rng: &mut dyn Rng,
    ) -> Drawn {
        if n_classes == 2 {
            return Some(sampler.with_subsequence(&[self.token], class == 1, rng));
        }
        let (class, last) = (class as usize, n_classes - 1);
        Some(sampler.with_count(self.token, None, |count| count.min(last) == class, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_token("rule.token", self.token)
    }

    fn describe(&self) -> String {
        format!("how often token {} occurs", self.token)
    }

    fn deciding_place(&self) -> String {
        format!("token {}, wherever it is", self.token)
    }

    fn question(&self) -> String {
        format!("How often does token {} occur?", self.token)
    }

    fn most_classes(&self, samples: Sampler) -> usize {
        samples.seq_len.saturating_add(1)
    }
}
