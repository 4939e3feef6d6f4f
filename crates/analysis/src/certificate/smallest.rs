//! The inputs of a class with the smallest margins.

use serde::{Deserialize, Serialize};

/// An input as the engine answers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The tokens, `[CLS]` among them. `[position]`
    pub tokens: Vec<u32>,
    /// The class that the rule gives it.
    pub label: u32,
    /// The class that the model gives it.
    pub predicted: u32,
    /// The label's logit less the largest other one; with one logit, the log-odds of the label.
    pub margin: f64,
}

/// So many of a class at most, in the order of margins and then of tokens.
#[derive(Clone, Debug)]
pub(super) struct SmallestMargins {
    pub(super) most: usize,
    pub(super) found: Vec<Example>,
}

impl SmallestMargins {
    /// Adds an input, if its margin is small enough and it was not found before.
    pub(super) fn push(&mut self, example: Example) {
        let rank = self.found.partition_point(|other| {
            let margins = other.margin.total_cmp(&example.margin);
            margins
                .then_with(|| other.tokens.cmp(&example.tokens))
                .is_lt()
        });
        if rank < self.most && self.found.get(rank) != Some(&example) {
            self.found.insert(rank, example);
            self.found.truncate(self.most);
        }
    }

    /// The largest margin that another one can have.
    pub(super) fn limit(&self) -> f64 {
        match self.found.last() {
            Some(last) if self.found.len() == self.most => last.margin,
            _ => f64::INFINITY,
        }
    }
}
