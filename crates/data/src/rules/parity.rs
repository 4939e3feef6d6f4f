//! Whether a token occurs an odd number of times; at a few positions, the sparse parity of Barak et al. 2022, "Hidden
//! Progress in Deep Learning: SGD Learns Parities Near the Computational Limit".

use headlight_schema::{InvalidValue, section};
use rand::Rng;

use super::automaton::Automaton;
use super::rule::{Drawn, Rule, check_positions, listed_positions, positions_of};
use crate::cls::ClsPlace;
use crate::sampler::Sampler;

section! {
    /// `token` occurs an odd number of times, at `positions` or anywhere.
    pub struct Parity {
        /// The token that the rule counts.
        pub token: u32,
        /// The positions that count; if left out, all.
        #[omit(default)]
        pub positions: Vec<usize> = Vec::new(),
    }
}

impl Rule for Parity {
    fn automaton(&self, _cls: ClsPlace, _n_classes: usize) -> Option<Automaton<'_>> {
        let counts = |position| self.positions.is_empty() || self.positions.contains(&position);
        Some(Automaton::new(
            move |odd, position, token| odd ^ u64::from(counts(position) && token == self.token),
            |odd| odd as u32,
        ))
    }

    fn deciding_positions(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<usize> {
        let fixed = self.fixed_positions();
        fixed.unwrap_or_else(|| positions_of(&[self.token], tokens))
    }

    fn fixed_positions(&self) -> Option<Vec<usize>> {
        Some(self.positions.clone()).filter(|positions| !positions.is_empty())
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        let positions = self.fixed_positions();
        let is_allowed = |count: usize| count % 2 == class as usize;
        Some(sampler.with_count(self.token, positions.as_deref(), is_allowed, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_token("rule.token", self.token)?;
        check_positions(&self.positions, samples)
    }

    fn describe(&self) -> String {
        let Self { token, positions } = self;
        match &positions[..] {
            [] => format!("token {token} occurs an odd number of times"),
            _ => format!(
                "token {token} is at an odd number of {}",
                listed_positions(positions)
            ),
        }
    }

    fn deciding_place(&self) -> String {
        match &self.positions[..] {
            [] => format!("token {}, wherever it is", self.token),
            positions => format!("{} together", listed_positions(positions)),
        }
    }
}
