//! The same token at two positions.

use headlight_schema::{InvalidValue, require, section};
use rand::Rng;

use super::automaton::Automaton;
use super::offer::{HALF_POSITIVE, RuleNumber, RuleOffer, SettingValue};
use super::rule::{Drawn, Rule};
use crate::cls::ClsPlace;
use crate::sampler::Sampler;

section! {
    /// The same token is at both positions.
    pub struct EqualPositions {
        /// One position.
        pub first: usize,
        /// The other.
        pub second: usize,
    }
}

impl EqualPositions {
    pub(super) const OFFER: RuleOffer = RuleOffer {
        title: "equal positions",
        question: "do positions {first} and {second} hold the same token?",
        parameters: &[
            RuleNumber::position("first", "position", 2),
            RuleNumber::position("second", "and position", 5),
        ],
        n_classes: 2,
        needs: &[
            HALF_POSITIVE[0],
            HALF_POSITIVE[1],
            ("data.vocab_size", SettingValue::Whole(11)),
            ("model.d_model", SettingValue::Whole(16)),
            ("model.n_heads", SettingValue::Whole(2)),
            ("model.n_layers", SettingValue::Whole(2)),
            ("training.epochs", SettingValue::Whole(10)),
            ("training.learning_rate", SettingValue::Real(3e-3)),
        ],
    };
}

impl Rule for EqualPositions {
    fn automaton(&self, _cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        let equal = u64::MAX;
        let [first, second] = [self.first.min(self.second), self.first.max(self.second)];
        // The token that the second position must hold, from 1 on.
        Some(Automaton::new(
            move |state, position, token| match position {
                _ if position == first && position == second => equal,
                _ if position == first => 1 + u64::from(token),
                _ if position == second && state == 1 + u64::from(token) => equal,
                _ if position == second => 0,
                _ => state,
            },
            move |state| u32::from(state == equal),
        ))
    }

    fn fixed_positions(&self) -> Option<Vec<usize>> {
        Some(vec![self.first, self.second])
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        let mut row = sampler.uniform_sample(|| rng.next_u32());
        row[self.second] = if class == 1 {
            row[self.first]
        } else {
            sampler.other_than(row[self.first], rng)
        };
        Some(row)
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_position("rule.first", self.first)?;
        samples.check_position("rule.second", self.second)?;
        let second = self.second;
        require(self.first != second, "rule.second", || {
            format!("position {second} is compared with itself; name two positions")
        })
    }

    fn describe(&self) -> String {
        format!(
            "positions {} and {} hold the same token",
            self.first, self.second
        )
    }

    fn deciding_place(&self) -> String {
        format!("positions {} and {} together", self.first, self.second)
    }
}
