//! The inputs of a class with the smallest margins, found prefix by prefix: prefixes whose least margin is too large are left out.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering as AtomicOrdering};

use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::search::{Prefix, Search};
use super::sums::Reach;
use crate::error::Error;

/// Inputs that the engine computes at once.
const AT_ONCE: usize = 16;

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

/// By margin and then by tokens.
fn order(a: &Example, b: &Example) -> Ordering {
    a.margin
        .total_cmp(&b.margin)
        .then_with(|| a.tokens.cmp(&b.tokens))
}

/// The largest margin of which an input can be among the smallest, shared by all threads. It only falls.
struct Limit(AtomicU64);

impl Limit {
    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(AtomicOrdering::Relaxed))
    }

    fn lower(&self, limit: f64) {
        let lower = |old| (limit < f64::from_bits(old)).then_some(limit.to_bits());
        // It is an error if it is lower already.
        let _ = self
            .0
            .fetch_update(AtomicOrdering::Relaxed, AtomicOrdering::Relaxed, lower);
    }
}

/// The inputs of a class with the smallest margins, among those of a search and those that were found before.
///
/// # Errors
/// As [`Progress::each`](super::progress::Progress::each), and when an answer is not finite.
pub(super) fn smallest(
    search: &Search<'_>,
    class: u32,
    most: usize,
    found: Vec<Example>,
) -> Result<Vec<Example>, Error> {
    let limit = Limit(AtomicU64::new(f64::INFINITY.to_bits()));
    let mut first = Worker::new(search, class, most, &limit);
    first.found.clone_from(&found);
    first.lower();
    let (length, tasks) = search.tasks();
    let mut open: Vec<(f64, u64)> = Vec::new();
    for task in 0..tasks {
        first.prefix.number(length, task);
        open.extend(first.least(length).map(|least| (least, task)));
    }
    open.sort_by(|a, b| a.0.total_cmp(&b.0));
    let next = AtomicUsize::new(0);
    let results = search.progress.each(search.threads, || {
        let mut worker = Worker::new(search, class, most, &limit);
        while let Some(&(least, task)) = open.get(next.fetch_add(1, AtomicOrdering::Relaxed)) {
            if search.progress.is_stopped() {
                break;
            }
            worker.prefix.number(length, task);
            worker.visit(length, least)?;
        }
        worker.ask()?;
        Ok(worker.found)
    })?;
    let mut all = found;
    for found in results {
        all.extend(found?);
    }
    all.sort_by(order);
    all.truncate(most);
    Ok(all)
}

/// One thread's part of a search for inputs of one class.
struct Worker<'a> {
    search: &'a Search<'a>,
    class: u32,
    most: usize,
    limit: &'a Limit,
    /// Those found so far, in their order.
    found: Vec<Example>,
    prefix: Prefix<'a>,
    reach: Reach,
    before: Vec<Vec<u64>>,
    counts: Vec<u64>,
    answers: Answers,
    /// Inputs for the engine, one after the other.
    queue: Vec<u32>,
}

impl<'a> Worker<'a> {
    fn new(search: &'a Search<'a>, class: u32, most: usize, limit: &'a Limit) -> Self {
        Self {
            search,
            class,
            most,
            limit,
            found: Vec::new(),
            prefix: Prefix::new(search.sums),
            reach: Reach::default(),
            before: Vec::new(),
            counts: Vec::new(),
            answers: search.answers.clone(),
            queue: Vec::new(),
        }
    }

    /// Whether inputs with such a margin may be among the smallest, as float64 has it.
    fn may_count(&self, margin: f64) -> bool {
        margin - self.search.near <= self.limit.get()
    }

    /// The least margin of the class's inputs with the prefix, unless none of them can count.
    fn least(&mut self, length: usize) -> Option<f64> {
        self.prefix.reach(length, &mut self.reach);
        let least = self.reach.margin(self.class as usize);
        if !self.may_count(least) {
            return None;
        }
        let has = match self.search.labels {
            Some(labels) => {
                labels.count(&self.prefix.tokens, &mut self.before, &mut self.counts);
                self.counts[self.class as usize] > 0
            }
            None => {
                length < self.search.first.len()
                    || self.search.label(&self.prefix.tokens) == self.class
            }
        };
        has.then_some(least)
    }

    /// Searches the inputs with the prefix of this length.
    fn visit(&mut self, length: usize, least: f64) -> Result<(), Error> {
        if !self.may_count(least) || self.search.progress.is_stopped() {
            return Ok(());
        }
        if length == self.search.first.len() {
            self.queue.extend_from_slice(&self.prefix.tokens);
            if self.queue.len() >= AT_ONCE * self.prefix.tokens.len() {
                self.ask()?;
            }
            return Ok(());
        }
        let (mut longer, sums) = (Vec::new(), self.search.sums);
        let tokens = sums.tokens[sums.order[length]].clone();
        let is_last = length + 1 == self.search.first.len();
        if is_last && let Some(logits) = self.prefix.last_logits(&mut self.reach) {
            let margins = logits
                .iter()
                .map(|logit| if self.class == 1 { *logit } else { -logit });
            longer.extend(margins.zip(tokens));
            longer.retain(|(margin, token)| {
                self.prefix.tokens[sums.order[length]] = *token;
                self.may_count(*margin) && self.search.label(&self.prefix.tokens) == self.class
            });
        } else {
            for token in tokens {
                self.prefix.set(length, token);
                longer.extend(self.least(length + 1).map(|least| (least, token)));
            }
        }
        longer.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (least, token) in longer {
            self.prefix.set(length, token);
            self.visit(length + 1, least)?;
        }
        self.prefix.clear(length);
        Ok(())
    }

    /// Asks the engine about the inputs that wait for it.
    fn ask(&mut self) -> Result<(), Error> {
        let tokens = self.search.absolute(&core::mem::take(&mut self.queue));
        let positions = self.search.first.len();
        let labels = vec![self.class; tokens.len() / positions];
        let answers = self.answers.of(&tokens, &labels)?;
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
            self.found.insert(place, example);
            self.found.truncate(self.most);
        }
        self.lower();
        Ok(())
    }

    /// Tells all threads the last margin that was found, if there are enough.
    fn lower(&self) {
        if let Some(last) = self.found.get(self.most - 1) {
            self.limit.lower(last.margin);
        }
    }
}
