//! The tokens in ascending order.

use headlight_schema::section;

use super::{OF_TOKENS, SequenceFacts, SequenceRule};
use crate::cls::ClsPlace;
use crate::rules::rule::positions_of;

section! {
    /// The classes of the positions are the sample's tokens in ascending order.
    #[derive(Copy, Eq)]
    pub struct Sort {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
        /// A token that follows the last one of each sample, and is not counted among them; if left out, none does.
        #[omit(default)]
        pub end: Option<u32> = None,
    }
}

impl SequenceRule for Sort {
    fn facts(&self) -> SequenceFacts {
        SequenceFacts {
            words: "the tokens in ascending order",
            question: "Which tokens are these in ascending order?",
            deciding: "the positions of the token that is the answer",
            padding: self.padding,
            end: self.end,
            ..OF_TOKENS
        }
    }

    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let mut sorted = tokens.to_vec();
        sorted.sort_unstable();
        sorted
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let token = self.labels(tokens, ClsPlace::None)[position];
        positions_of(&[token], tokens)
    }
}
