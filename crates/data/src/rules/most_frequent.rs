//! The token that occurs most often.

use headlight_schema::section;
use std::collections::BTreeMap;

use super::rule::{Rule, positions_of};
use crate::cls::ClsPlace;

section! {
    /// The token that occurs most often is the sample's class; of several, the one that occurs first.
    #[derive(Copy, Eq)]
    pub struct MostFrequent {}
}

impl Rule for MostFrequent {
    fn label_for(&self, tokens: &[u32], cls: ClsPlace, _n_classes: usize) -> u32 {
        let tokens = cls.without(tokens);
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for &token in tokens {
            *counts.entry(token).or_default() += 1;
        }
        let most = counts.values().copied().max().unwrap_or(0);
        let first = tokens.iter().find(|token| counts[*token] == most);
        first.copied().unwrap_or(0)
    }

    fn deciding_positions(&self, tokens: &[u32], cls: ClsPlace) -> Vec<usize> {
        positions_of(&[self.label_for(tokens, cls, usize::MAX)], tokens)
    }

    fn describe(&self) -> String {
        "the token that occurs most often".to_owned()
    }

    fn deciding_place(&self) -> String {
        "the token that occurs most often, wherever it is".to_owned()
    }

    fn question(&self) -> String {
        "Which token occurs most often?".to_owned()
    }

    fn classes_are_tokens(&self) -> bool {
        true
    }
}
