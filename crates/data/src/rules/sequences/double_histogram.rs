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

    fn labels(&self, own: &[u32], _cls: ClsPlace) -> Vec<u32> {
        let different: BTreeSet<u32> = own.iter().copied().collect();
        let counts: Vec<usize> = different
            .iter()
            .map(|&token| count_of(token, own))
            .collect();
        let label = |&token: &u32| {
            let count = count_of(token, own);
            counts.iter().filter(|&&other| other == count).count() as u32
        };
        own.iter().map(label).collect()
    }

    fn deciding(&self, own: &[u32], position: usize) -> Vec<usize> {
        let count = count_of(own[position], own);
        let is_as_frequent = |&place: &usize| count_of(own[place], own) == count;
        (0..own.len()).filter(is_as_frequent).collect()
    }
}
