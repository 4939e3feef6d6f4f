//! How often each token occurs (Weiss et al. 2021, "Thinking Like Transformers").

use headlight_schema::section;

use super::{OF_COUNTS, SequenceFacts, SequenceRule, count_of};
use crate::cls::ClsPlace;
use crate::rules::rule::positions_of;

section! {
    /// The class of each position is how often its token occurs in the sample.
    #[derive(Copy, Eq)]
    pub struct Histogram {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
    }
}

impl SequenceRule for Histogram {
    fn facts(&self) -> SequenceFacts {
        SequenceFacts {
            words: "how often each token occurs",
            question: "How often does each token occur?",
            deciding: "the positions of the same token",
            padding: self.padding,
            ..OF_COUNTS
        }
    }

    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let counts = tokens.iter().map(|&token| count_of(token, tokens) as u32);
        counts.collect()
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        positions_of(&[tokens[position]], tokens)
    }
}
