//! Goes through all inputs, prefix by prefix: what follows a prefix is counted at once if it cannot change the answer, or left out if its
//! margins are too large.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::labels::Counts;
use super::logits::Logits;
use super::near::Near;
use super::prefix::Prefix;
use super::search::{Queue, Search, Tally};
use super::smallest::Limit;
use super::table::Table;
use crate::error::Error;

/// Inputs that the engine computes at once.
const TO_COUNT: usize = 256;
const TO_LIST: usize = 16;

/// Inputs with the same answer whose labels are found one by one before the next look at whether to stop, at most.
const LABELLED: u64 = 1 << 14;

/// Prefixes that threads take from one list, at least, if inputs have so many.
const TASKS: u64 = 256;

/// Prefixes between two reports of what is counted.
const LOOK: u32 = 1024;

/// The inputs that a search goes through, shared by all threads.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    pub(super) search: &'a Search<'a>,
    pub(super) table: &'a Table,
    pub(super) logits: &'a Logits,
    /// Margins that are no larger are the engine's to find.
    pub(super) near: Near,
}

/// What a search is for.
#[derive(Clone, Copy, Debug)]
enum Goal<'a> {
    Count,
    /// The inputs of a class with the smallest margins.
    List(usize, &'a Limit),
}

/// Counts the answers to all inputs.
///
/// # Errors
/// As [`Progress::each`](super::progress::Progress::each), and when an answer is not finite.
pub(super) fn count(inputs: &Inputs<'_>, tally: &mut Tally) -> Result<(), Error> {
    walk(inputs, Goal::Count, tally)
}

/// Finds the inputs of a class with the smallest margins.
///
/// # Errors
/// As [`count`].
pub(super) fn list(inputs: &Inputs<'_>, class: usize, tally: &mut Tally) -> Result<(), Error> {
    let limit = Limit::new(tally.smallest[class].limit());
    walk(inputs, Goal::List(class, &limit), tally)
}

fn walk(inputs: &Inputs<'_>, goal: Goal<'_>, tally: &mut Tally) -> Result<(), Error> {
    let (table, search) = (inputs.table, inputs.search);
    let count = |length: usize| table.inputs[0] / table.inputs[length];
    let last = table.len() - 1;
    let length = (0..last).find(|&length| count(length) >= TASKS);
    let length = length.unwrap_or(last);
    let mut tasks: Vec<u64> = (0..count(length)).collect();
    if let Goal::List(class, _) = goal {
        // Where margins are small in the middle, the limit soon falls.
        let mut prefix = Prefix::new(table, inputs.logits);
        let mut lead = |task: u64| {
            prefix.number(length, task);
            prefix.centre(length);
            prefix.bounds.lead(class)
        };
        let mut leads: Vec<(f64, u64)> = tasks.iter().map(|&task| (lead(task), task)).collect();
        leads.sort_by(|a, b| a.0.total_cmp(&b.0));
        tasks = leads.into_iter().map(|(_, task)| task).collect();
    }
    let next = AtomicUsize::new(0);
    let parts = search.progress.each(search.threads, || {
        let mut worker = Worker {
            inputs,
            goal,
            prefix: Prefix::new(table, inputs.logits),
            counts: Counts::default(),
            tally: Tally::new(search),
            queue: Queue::new(search),
            done: 0,
            visits: 0,
        };
        while let Some(&task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            worker.prefix.number(length, task);
            worker.visit(length, None)?;
        }
        worker.ask()?;
        worker.look();
        Ok(worker.tally)
    })?;
    for part in parts {
        tally.add(part?);
    }
    Ok(())
}

/// One thread's part.
struct Worker<'a> {
    inputs: &'a Inputs<'a>,
    goal: Goal<'a>,
    prefix: Prefix<'a>,
    counts: Counts,
    tally: Tally,
    queue: Queue<'a>,
    /// Inputs that are counted since the last look, and visits.
    done: u64,
    visits: u32,
}

impl Worker<'_> {
    /// Tells what is counted.
    fn look(&mut self) {
        let done = core::mem::take(&mut self.done);
        let progress = self.inputs.search.progress;
        progress.done.fetch_add(done, Ordering::Relaxed);
    }

    /// Asks the engine about the inputs that wait for it.
    fn ask(&mut self) -> Result<(), Error> {
        let is_count = matches!(self.goal, Goal::Count);
        self.queue.ask(&mut self.tally, is_count)?;
        if let Goal::List(class, limit) = self.goal {
            limit.lower(self.tally.smallest[class].limit());
        }
        Ok(())
    }

    /// Goes through all inputs with the prefix of this length; perhaps all of them have a label.
    fn visit(&mut self, length: usize, mut label: Option<u32>) -> Result<(), Error> {
        self.visits += 1;
        if self.visits.is_multiple_of(LOOK) {
            self.look();
        }
        let (search, table) = (self.inputs.search, self.inputs.table);
        if search.progress.is_stopped() {
            return Ok(());
        }
        if let (None, Some(labels)) = (label, search.labels) {
            labels.count(&self.prefix.tokens, &mut self.counts);
            let mut counts = self.counts.of_class.iter();
            let is_all = |&count: &u64| count == table.inputs[length];
            label = counts.position(is_all).map(|label| label as u32);
            if let Goal::List(class, _) = self.goal
                && self.counts.of_class[class] == 0
            {
                return Ok(());
            }
        }
        if length + 1 == table.len() {
            return self.complete(length, label);
        }
        self.prefix.centre(length);
        let near = self.inputs.near;
        let (class, threshold) = match self.goal {
            Goal::Count => (self.prefix.bounds.leading(), near.least),
            Goal::List(class, _) => match self.limit() {
                limit if limit.is_finite() => (class, limit),
                // Without a limit all that matters is the order.
                _ => (class, self.prefix.bounds.lead(class)),
            },
        };
        let bounds = self.prefix.bounds.least(class, threshold, near.scaled);
        let mut order: Vec<usize> = (0..bounds.len()).collect();
        if let Goal::List(..) = self.goal {
            order.sort_by(|&a, &b| bounds[a].total_cmp(&bounds[b]));
        }
        for token in order {
            let is_above = bounds[token] > 0.0;
            match self.goal {
                Goal::List(..) if is_above && self.limit() <= threshold => {}
                Goal::Count if is_above && self.can_add(length + 1) => {
                    self.prefix.name(length, token);
                    self.add(length + 1, class as u32, label);
                }
                _ => {
                    self.prefix.set(length, token);
                    self.visit(length + 1, label)?;
                }
            }
        }
        self.prefix.clear(length);
        Ok(())
    }

    /// The largest margin in float64 of an input that can be among the smallest, less what `s` adds to it.
    fn limit(&self) -> f64 {
        match self.goal {
            Goal::Count => f64::INFINITY,
            Goal::List(_, limit) => limit.get() + self.inputs.near.least,
        }
    }

    /// Whether inputs with the prefix of a length can be counted without a long way through all of them.
    fn can_add(&self, length: usize) -> bool {
        self.inputs.search.labels.is_some() || self.inputs.table.inputs[length] <= LABELLED
    }

    /// Counts the inputs with the prefix of a length, all of which have the same answer.
    fn add(&mut self, length: usize, answer: u32, label: Option<u32>) {
        let (search, inputs) = (self.inputs.search, self.inputs.table.inputs[length]);
        let tokens = &self.prefix.tokens;
        if let Some(label) = label {
            self.tally.count(tokens, label, answer, inputs);
        } else if let Some(labels) = search.labels {
            labels.count(tokens, &mut self.counts);
            for (class, &count) in self.counts.of_class.iter().enumerate() {
                self.tally.inputs[class] += count;
                if class != answer as usize && count > 0 {
                    self.tally.wrong[class] += count;
                    let into = &mut self.tally.tokens[class];
                    labels.add_tokens(tokens, &self.counts, class as u32, into);
                }
            }
        } else if length < self.inputs.table.len() {
            for token in 0..self.prefix.next(length) {
                self.prefix.name(length, token);
                self.add(length + 1, answer, None);
            }
            self.prefix.clear(length);
            return;
        } else {
            let label = search.label(tokens);
            self.tally.count(tokens, label, answer, 1);
        }
        self.done += inputs;
    }

    /// Goes through the inputs with the prefix, which lacks one token.
    fn complete(&mut self, length: usize, label: Option<u32>) -> Result<(), Error> {
        let search = self.inputs.search;
        self.prefix.complete();
        for token in 0..self.prefix.next(length) {
            self.prefix.name(length, token);
            let (tokens, last) = (&self.prefix.tokens, &self.prefix.last);
            if let Goal::List(class, _) = self.goal {
                let scaled = self.inputs.near.scaled * last.inverse(token);
                if last.margin(class, token) > self.limit() + scaled {
                    continue;
                }
                let label = label.unwrap_or_else(|| search.label(tokens));
                if label as usize == class && self.queue.push(tokens, label) == TO_LIST {
                    self.ask()?;
                }
                continue;
            }
            let label = label.unwrap_or_else(|| search.label(tokens));
            let answer = last.leading(token);
            self.done += 1;
            if last.margin(answer, token) > self.inputs.near.at(last.inverse(token)) {
                self.tally.count(tokens, label, answer as u32, 1);
            } else if self.queue.push(tokens, label) == TO_COUNT {
                self.ask()?;
            }
        }
        self.prefix.clear(length);
        Ok(())
    }
}
