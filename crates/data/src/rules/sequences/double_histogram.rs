//! How many tokens occur as often as each (Weiss et al. 2021, "Thinking Like Transformers").

use std::collections::BTreeSet;

use headlight_schema::section;

use super::{OF_COUNTS, SequenceFacts, SequenceRule, count_of};
use crate::cls::ClsPlace;

section! {
    /// The class of each position is how many different tokens occur as often as its token, itself included.
    #[derive(Copy, Eq)]
    pub struct DoubleHistogram {
        /// The token after the end of samples that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
    }
}

impl SequenceRule for DoubleHistogram {
    fn facts(&self) -> SequenceFacts {
        SequenceFacts {
            words: "how many tokens occur as often as each token",
            question: "How many tokens occur as often as each token?",
            deciding: "the positions of tokens that occur as often",
            padding: self.padding,
            ..OF_COUNTS
        }
    }

    fn labels(&self, tokens: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let different: BTreeSet<u32> = tokens.iter().copied().collect();
        let counts: Vec<usize> = different
            .iter()
            .map(|&token| count_of(token, tokens))
            .collect();
        let label = |&token: &u32| {
            let count = count_of(token, tokens);
            counts.iter().filter(|&&other| other == count).count() as u32
        };
        tokens.iter().map(label).collect()
    }

    fn deciding(&self, tokens: &[u32], position: usize) -> Vec<usize> {
        let count = count_of(tokens[position], tokens);
        let is_as_frequent = |&other: &usize| count_of(tokens[other], tokens) == count;
        (0..tokens.len()).filter(is_as_frequent).collect()
    }
}
