//! The tokens from the last to the first.

use headlight_schema::section;

use super::{OF_TOKENS, SequenceFacts, SequenceRule};
use crate::cls::ClsPlace;

section! {
    /// The class of each position is the token at that place counted from the end.
    #[derive(Copy, Eq)]
    pub struct Reverse {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
        /// A token that follows the last one of each sample, and is not counted among them; if left out, none does.
        #[omit(default)]
        pub end: Option<u32> = None,
    }
}

impl SequenceRule for Reverse {
    fn facts(&self) -> SequenceFacts {
        SequenceFacts {
            words: "the tokens in reverse",
            question: "Which tokens are these in reverse?",
            deciding: "the position that the answer is copied from",
            padding: self.padding,
            end: self.end,
            ..OF_TOKENS
        }
    }

    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        tokens.iter().rev().copied().collect()
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        vec![tokens.len() - 1 - position]
    }
}
