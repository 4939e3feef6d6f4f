//! The largest token (Gross et al. 2024, "Compact Proofs of Model Performance via Mechanistic Interpretability").

use headlight_schema::section;
use rand::Rng;

use super::automaton::Automaton;
use super::rule::{Drawn, Rule, positions_of};
use crate::cls::ClsPlace;
use crate::sampler::Sampler;

section! {
    /// The largest token is the sample's class.
    #[derive(Copy, Eq)]
    pub struct Max {}
}

impl Rule for Max {
    fn automaton(&self, _cls: ClsPlace, n_classes: usize) -> Option<Automaton<'_>> {
        Some(Automaton::new(
            |largest, _, token| largest.max(u64::from(token)),
            move |largest| (largest as u32).min(n_classes as u32 - 1),
        ))
    }

    fn deciding_positions(&self, tokens: &[u32], cls: ClsPlace) -> Vec<usize> {
        let largest = self.label_for(tokens, cls, usize::MAX);
        positions_of(&[largest], tokens)
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        let up_to_it = Sampler {
            vocab_size: class + 1,
            ..sampler
        };
        Some(up_to_it.with_subsequence(&[class], true, rng))
    }

    fn describe(&self) -> String {
        "the largest token".to_owned()
    }

    fn deciding_place(&self) -> String {
        "the largest token, wherever it is".to_owned()
    }

    fn question(&self) -> String {
        "Which token is the largest?".to_owned()
    }

    fn classes_are_tokens(&self) -> bool {
        true
    }
}
