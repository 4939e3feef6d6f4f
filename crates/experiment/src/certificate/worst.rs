//! The inputs of a class with the smallest margins, found by dividing the region with the least bound first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering as AtomicOrdering};

use serde::{Deserialize, Serialize};

use super::answers::{Answers, margin};
use super::region::Bounds;
use super::search::{Search, Set, Sets, divided, size};
use crate::error::Error;

/// Regions that are divided before the limit is looked at again.
const TOGETHER: usize = 512;

/// Fewer regions are divided by one thread.
const ALONE: usize = 64;

/// Inputs that the engine computes at once.
const AT_ONCE: usize = 16;

/// Regions with so few inputs are computed one by one.
const SMALL: u64 = 32;

/// Regions that wait, at most; more are searched as they come.
const MOST_OPEN: usize = 1 << 19;

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

/// A region that waits, with a bound of the margins of its inputs.
struct Open {
    least: f64,
    split: usize,
    halves: [Set; 2],
    sets: Sets,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The heap has the least bound on top.
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        other.least.total_cmp(&self.least)
    }
}

/// The inputs of a class with the smallest margins, in a region and among those that were found before.
///
/// # Errors
/// As [`Progress::each`](super::progress::Progress::each).
pub(super) fn worst(
    search: &Search<'_>,
    class: u32,
    most: usize,
    found: Vec<Example>,
    region: &Sets,
) -> Result<Vec<Example>, Error> {
    let mut first = Worker::new(search, class, most, found);
    let mut open = BinaryHeap::new();
    open.extend(first.bound(region.clone()));
    let mut found = first.finish();
    loop {
        let limit = limit(&found, most);
        // Few at first: each of them may lower the limit.
        let count = (open.len() / 8).clamp(1, TOGETHER);
        let next = core::iter::from_fn(|| open.pop().filter(|region| region.least <= limit));
        let next: Vec<Open> = next.take(count).collect();
        if next.is_empty() {
            return Ok(found);
        }
        let may_wait = open.len() < MOST_OPEN;
        let taken = AtomicUsize::new(0);
        let work = || {
            let mut worker = Worker::new(search, class, most, found.clone());
            let mut parts = Vec::new();
            while let Some(region) = next.get(taken.fetch_add(1, AtomicOrdering::Relaxed)) {
                worker.divide(region, &mut |worker, part| {
                    if may_wait {
                        parts.push(part);
                    } else {
                        worker.descend(&part);
                    }
                });
            }
            (parts, worker.finish())
        };
        // What takes longer is watched.
        let results = if may_wait && next.len() < ALONE {
            vec![work()]
        } else {
            search.progress.each(search.threads, work)?
        };
        search.progress.look()?;
        for (parts, own) in results {
            open.extend(parts);
            found.extend(own);
        }
        found.sort_by(order);
        found.dedup();
        found.truncate(most);
    }
}

/// By margin and then by tokens.
fn order(a: &Example, b: &Example) -> Ordering {
    a.margin
        .total_cmp(&b.margin)
        .then_with(|| a.tokens.cmp(&b.tokens))
}

/// Margins above it do not count.
fn limit(found: &[Example], most: usize) -> f64 {
    found
        .get(most - 1)
        .map_or(f64::INFINITY, |last| last.margin)
}

/// One thread's part of a search for inputs of one class.
struct Worker<'a, 'b> {
    search: &'a Search<'b>,
    class: u32,
    most: usize,
    /// Those found so far, in their order.
    found: Vec<Example>,
    bounds: Bounds,
    answers: Option<Answers>,
    /// Inputs for the engine, one after the other.
    queue: Vec<u32>,
}

impl<'a, 'b> Worker<'a, 'b> {
    fn new(search: &'a Search<'b>, class: u32, most: usize, found: Vec<Example>) -> Self {
        Self {
            search,
            class,
            most,
            found,
            bounds: Bounds::default(),
            answers: None,
            queue: Vec::new(),
        }
    }

    fn finish(mut self) -> Vec<Example> {
        self.ask();
        self.found
    }

    /// Hands the halves of a region on, unless they have no input that could count.
    fn divide(&mut self, region: &Open, each: &mut dyn FnMut(&mut Self, Open)) {
        let mut sets = region.sets.clone();
        for half in &region.halves {
            sets[region.split].clone_from(half);
            if let Some(part) = self.bound(sets.clone()) {
                each(self, part);
            }
        }
    }

    /// Searches a region to its end.
    fn descend(&mut self, region: &Open) {
        if region.least <= limit(&self.found, self.most) && !self.search.progress.is_stopped() {
            self.divide(region, &mut |worker, part| worker.descend(&part));
        }
    }

    /// A region with its bound, unless it has no input that could count, or so few that they are computed here.
    fn bound(&mut self, sets: Sets) -> Option<Open> {
        let get = |position: usize| &sets[position][..];
        if self
            .search
            .labels
            .is_some_and(|labels| !labels.has(get, self.class))
        {
            return None;
        }
        self.search.reading.bound(&get, &mut self.bounds);
        let least = self.bounds.least_margin(self.class as usize);
        if least > limit(&self.found, self.most) {
            return None;
        }
        if size(&sets) <= SMALL {
            self.each(&sets, &mut Vec::new());
            return None;
        }
        let (split, halves) = divided(&self.bounds, get);
        Some(Open {
            least,
            split,
            halves,
            sets,
        })
    }

    /// Computes all inputs that begin with some tokens.
    fn each(&mut self, sets: &Sets, tokens: &mut Vec<u32>) {
        if let Some(set) = sets.get(tokens.len()) {
            for &token in &**set {
                tokens.push(token);
                self.each(sets, tokens);
                tokens.pop();
            }
            return;
        }
        if self.search.label(tokens) != self.class {
            return;
        }
        let logits = self.search.reading.logits(tokens, &mut self.bounds.scratch);
        let margin = margin(logits, self.class as usize);
        if margin - self.bounds.error > limit(&self.found, self.most) {
            return;
        }
        self.queue.extend_from_slice(tokens);
        if self.queue.len() >= AT_ONCE * tokens.len() {
            self.ask();
        }
    }

    /// Asks the engine about the inputs that wait for it.
    fn ask(&mut self) {
        let relative = core::mem::take(&mut self.queue);
        if relative.is_empty() {
            return;
        }
        let tokens = self.search.absolute(&relative);
        let positions = self.search.first.len();
        let labels = vec![self.class; tokens.len() / positions];
        let answers = self
            .answers
            .get_or_insert_with(|| self.search.answers.clone());
        let answers = answers.of(&tokens, &labels);
        for ((predicted, margin), tokens) in answers.into_iter().zip(tokens.chunks_exact(positions))
        {
            let example = Example {
                tokens: tokens.to_vec(),
                label: self.class,
                predicted,
                margin,
            };
            let place = self
                .found
                .partition_point(|other| order(other, &example).is_lt());
            if place < self.most && self.found.get(place) != Some(&example) {
                self.found.insert(place, example);
                self.found.truncate(self.most);
            }
        }
    }
}
