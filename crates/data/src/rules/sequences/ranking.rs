//! The tokens by frequency: what Friedman et al. 2023, "Learning Transformer Programs", call most frequent.

use std::cmp::Reverse;

use headlight_schema::section;

use super::{OF_TOKENS, SequenceFacts, SequenceRule, count_of};
use crate::cls::{CLS, ClsPlace};
use crate::rules::rule::positions_of;
use crate::task::IGNORED;

section! {
    /// The classes of the positions are the different tokens, the most frequent first; of equally frequent ones, the one that
    /// occurs first. Positions after the last of them have class 0, which is `[CLS]`; without `[CLS]` they do not count.
    #[derive(Copy, Eq)]
    pub struct Ranking {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
    }
}

impl Ranking {
    /// The different tokens in their order.
    fn order(tokens: &[u32]) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::new();
        for &token in tokens {
            if !order.contains(&token) {
                order.push(token);
            }
        }
        // Of equal counts, the first occurrence decides.
        order.sort_by_key(|&token| Reverse(count_of(token, tokens)));
        order
    }
}

impl SequenceRule for Ranking {
    fn facts(&self) -> SequenceFacts {
        SequenceFacts {
            words: "the tokens by frequency",
            question: "Which tokens occur most often, in their order?",
            deciding: "the positions of the token that is the answer",
            padding: self.padding,
            ..OF_TOKENS
        }
    }

    fn labels(&self, tokens: &[u32], cls: ClsPlace) -> Vec<u32> {
        let mut labels = Self::order(tokens);
        let after = if cls.is_present() { CLS } else { IGNORED };
        labels.resize(tokens.len(), after);
        labels
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let token = Self::order(tokens).get(position).copied();
        token.map_or_else(Vec::new, |token| positions_of(&[token], tokens))
    }
}
