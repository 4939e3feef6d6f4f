//! The inputs with the smallest margins of each class.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// An input as the engine answers it.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The tokens, [CLS] among them. `[position]`
    pub tokens: Vec<u32>,
    /// The class that the rule gives it.
    pub label: u32,
    /// The class that the model gives it.
    pub predicted: u32,
    /// The label's logit less the largest other one; with one logit, the log-odds of the label.
    pub margin: f64,
}

/// The first of all inputs of each class, by margin and then by tokens. Threads share it.
#[derive(Debug)]
pub(super) struct Worst {
    most: usize,
    classes: Vec<OfClass>,
}

#[derive(Debug)]
struct OfClass {
    examples: Mutex<Vec<Example>>,
    /// The bits of the margin of the last one, once there are enough.
    limit: AtomicU64,
}

impl Worst {
    pub(super) fn new(classes: usize, most: usize) -> Self {
        let of_class = |_| OfClass {
            examples: Mutex::default(),
            limit: AtomicU64::new(f64::INFINITY.to_bits()),
        };
        Self {
            most: most.max(1),
            classes: (0..classes).map(of_class).collect(),
        }
    }

    /// Inputs of a class with larger margins do not count.
    pub(super) fn limit(&self, class: usize) -> f64 {
        f64::from_bits(self.classes[class].limit.load(Ordering::Relaxed))
    }

    pub(super) fn add(&self, example: Example) {
        let class = &self.classes[example.label as usize];
        let mut examples = class.examples.lock().unwrap_or_else(PoisonError::into_inner);
        let key = |example: &Example| (example.margin, example.tokens.clone());
        let before = |other: &Example| {
            let (own, other) = (key(&example), key(other));
            other.0.total_cmp(&own.0).then(other.1.cmp(&own.1)).is_lt()
        };
        let place = examples.partition_point(before);
        if place == self.most || examples.get(place) == Some(&example) {
            return;
        }
        examples.insert(place, example);
        examples.truncate(self.most);
        if let (true, Some(last)) = (examples.len() == self.most, examples.last()) {
            class.limit.store(last.margin.to_bits(), Ordering::Relaxed);
        }
    }

    /// Those of each class.
    pub(super) fn into_examples(self) -> Vec<Vec<Example>> {
        let classes = self.classes.into_iter();
        classes
            .map(|class| class.examples.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }
}
