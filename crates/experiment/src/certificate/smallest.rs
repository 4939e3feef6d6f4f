//! The inputs of a class with the smallest margins.

use std::sync::atomic::{AtomicU64, Ordering};

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
pub(super) struct Smallest {
    pub(super) most: usize,
    pub(super) found: Vec<Example>,
}

impl Smallest {
    /// Adds an input, if its margin is small enough and it was not found before.
    pub(super) fn push(&mut self, example: Example) {
        let place = self.found.partition_point(|other| {
            let margins = other.margin.total_cmp(&example.margin);
            margins
                .then_with(|| other.tokens.cmp(&example.tokens))
                .is_lt()
        });
        if place < self.most && self.found.get(place) != Some(&example) {
            self.found.insert(place, example);
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

/// The limit of all threads. It only falls.
#[derive(Debug)]
pub(super) struct Limit(AtomicU64);

impl Limit {
    pub(super) fn new(limit: f64) -> Self {
        Self(AtomicU64::new(limit.to_bits()))
    }

    pub(super) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub(super) fn lower(&self, limit: f64) {
        let lower = |old| (limit < f64::from_bits(old)).then_some(limit.to_bits());
        // It is an error if it is lower already.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower);
    }
}
