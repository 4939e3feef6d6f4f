//! Counts the answers to all inputs: regions whose bounds decide are counted at once, and others are divided.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use headlight_data::LabelRule;

use super::answers::{Answers, margin};
use super::labels::{Counts, Labels};
use super::progress::Progress;
use super::region::{Bounds, Reading};
use crate::config::ExperimentConfig;
use crate::error::Error;

/// Inputs that the engine computes together.
const TOGETHER: usize = 256;

/// Regions with so few inputs are computed one by one.
const SMALL: u64 = 32;

/// Inputs of a region whose labels are found one by one before the next look at whether to stop.
const LABELLED: u64 = 1 << 14;

/// Regions that threads take from one list, at least.
const TASKS: usize = 256;

/// What a search needs, shared by all threads.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) config: &'a ExperimentConfig,
    pub(super) rule: &'a LabelRule,
    pub(super) reading: &'a Reading,
    pub(super) labels: Option<&'a Labels>,
    /// The first token of each position.
    pub(super) first: &'a [u32],
    pub(super) answers: &'a Answers,
    pub(super) threads: usize,
    pub(super) progress: &'a Progress<'a>,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Inputs of each class, and those that are answered wrongly.
    pub(super) inputs: Vec<u64>,
    pub(super) wrong: Vec<u64>,
    /// Of the wrong ones of each class, those with each token at each position. `[class][position][token]`
    pub(super) tokens: Vec<Vec<Vec<u64>>>,
    /// The same of all inputs of each class, right or wrong.
    pub(super) all: Vec<Vec<Vec<u64>>>,
    /// Inputs that the engine computed.
    pub(super) computed: u64,
}

impl Tally {
    pub(super) fn new(classes: usize, tokens: &[usize]) -> Self {
        let counts: Vec<Vec<u64>> = tokens.iter().map(|&count| vec![0; count]).collect();
        Self {
            inputs: vec![0; classes],
            wrong: vec![0; classes],
            tokens: vec![counts.clone(); classes],
            all: vec![counts; classes],
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let each = |own: &mut [u64], other: &[u64]| {
            for (own, other) in own.iter_mut().zip(other) {
                *own += other;
            }
        };
        each(&mut self.inputs, &other.inputs);
        each(&mut self.wrong, &other.wrong);
        for (own, other) in [
            (&mut self.tokens, &other.tokens),
            (&mut self.all, &other.all),
        ] {
            let rows = own.iter_mut().flatten();
            rows.zip(other.iter().flatten())
                .for_each(|(own, other)| each(own, other));
        }
        self.computed += other.computed;
    }

    fn count(&mut self, tokens: &[u32], label: u32, is_right: bool) {
        self.inputs[label as usize] += 1;
        if !is_right {
            self.wrong[label as usize] += 1;
            add_one(&mut self.tokens[label as usize], tokens);
        }
    }
}

/// Counts the tokens of an input. `[position][token]`
fn add_one(counts: &mut [Vec<u64>], tokens: &[u32]) {
    for (counts, &token) in counts.iter_mut().zip(tokens) {
        counts[token as usize] += 1;
    }
}

/// The tokens of a position, counted from the first. Regions share them.
pub(super) type Set = Arc<[u32]>;

/// A region: some tokens of each position.
pub(super) type Sets = Vec<Set>;

/// The inputs of a region.
pub(super) fn size(sets: &Sets) -> u64 {
    sets.iter().map(|set| set.len() as u64).product()
}

/// The position where a region that was bounded is divided, and its tokens in two parts.
pub(super) fn divided<'s>(bounds: &Bounds, sets: impl Fn(usize) -> &'s [u32]) -> (usize, [Set; 2]) {
    let position = bounds.split;
    let own = sets(position);
    let halves = [true, false].map(|is_low| {
        let adds = own.iter().zip(&bounds.adds);
        let half = adds.filter(|(_, add)| (**add <= bounds.threshold) == is_low);
        half.map(|(&token, _)| token).collect()
    });
    if halves.iter().any(|half: &Set| half.is_empty()) {
        let (low, high) = own.split_at(own.len() / 2);
        return (position, [low.into(), high.into()]);
    }
    (position, halves)
}

impl Search<'_> {
    /// The class of a sample, whose tokens count from the first of each position.
    pub(super) fn label(&self, tokens: &[u32]) -> u32 {
        if let Some(labels) = self.labels {
            return labels.of(tokens);
        }
        let data = &self.config.data;
        self.rule
            .label_for(&self.absolute(tokens), data.cls, data.n_classes)
    }

    /// The tokens of samples, one after the other, that count from the first of each position.
    pub(super) fn absolute(&self, tokens: &[u32]) -> Vec<u32> {
        let first = self.first.iter().cycle();
        tokens
            .iter()
            .zip(first)
            .map(|(token, first)| token + first)
            .collect()
    }

    /// Counts the answers to all inputs of a region.
    ///
    /// # Errors
    /// As [`Progress::each`].
    pub(super) fn count(&self, region: &Sets) -> Result<Tally, Error> {
        let mut first = Worker::new(self);
        let mut tasks = first.divide(region.clone(), if self.threads > 1 { TASKS } else { 1 });
        // The largest first, so that the share that is done soon tells how long it takes.
        tasks.sort_by_key(|sets| core::cmp::Reverse(size(sets)));
        let next = AtomicUsize::new(0);
        let parts = self.progress.each(self.threads.min(tasks.len()), || {
            let mut worker = Worker::new(self);
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.visit(&mut task.clone());
            }
            worker.finish()
        })?;
        let mut tally = first.finish();
        for part in &parts {
            tally.add(part);
        }
        if let Some(labels) = self.labels {
            let mut counts = Counts::default();
            let get = |position: usize| &region[position][..];
            counts.count(labels, get, self.reading.classes);
            for (class, all) in tally.all.iter_mut().enumerate() {
                counts.add_tokens(labels, get, class as u32, all);
            }
        }
        Ok(tally)
    }
}

/// One thread's part of a count.
struct Worker<'a, 'b> {
    search: &'a Search<'b>,
    bounds: Bounds,
    counts: Counts,
    tally: Tally,
    answers: Answers,
    /// Inputs for the engine, one after the other, and their labels.
    queue: Vec<u32>,
    queue_labels: Vec<u32>,
}

impl<'a, 'b> Worker<'a, 'b> {
    fn new(search: &'a Search<'b>) -> Self {
        let attention = &search.reading.attention;
        let stride = attention.stride();
        let tokens: Vec<usize> = attention
            .rows
            .iter()
            .map(|rows| rows.len() / stride)
            .collect();
        Self {
            search,
            bounds: Bounds::default(),
            counts: Counts::default(),
            tally: Tally::new(search.reading.classes, &tokens),
            answers: search.answers.clone(),
            queue: Vec::new(),
            queue_labels: Vec::new(),
        }
    }

    fn finish(mut self) -> Tally {
        self.ask();
        self.tally
    }

    /// Divides a region until there are so many, or all are counted.
    fn divide(&mut self, region: Sets, count: usize) -> Vec<Sets> {
        let mut open = std::collections::VecDeque::from([region]);
        while open.len() < count
            && let Some(mut sets) = open.pop_front()
        {
            if let Some((position, halves)) = self.counted(&sets) {
                for half in halves {
                    sets[position] = half;
                    open.push_back(sets.clone());
                }
            }
        }
        open.into()
    }

    /// Counts all inputs of a region.
    fn visit(&mut self, sets: &mut Sets) {
        if self.search.progress.is_stopped() {
            return;
        }
        let Some((position, halves)) = self.counted(sets) else {
            return;
        };
        let whole = sets[position].clone();
        for half in halves {
            sets[position] = half;
            self.visit(sets);
        }
        sets[position] = whole;
    }

    /// Counts the inputs of a region, or else divides it.
    fn counted(&mut self, sets: &Sets) -> Option<(usize, [Set; 2])> {
        let get = |position: usize| &sets[position][..];
        self.search.reading.bound(&get, &mut self.bounds);
        let size = size(sets);
        let is_decided = self.bounds.narrowest() > 0.0;
        match self.search.labels {
            Some(labels) if is_decided => self.add_all(labels, sets),
            // Labels of inputs one by one, if there is no other way.
            None if is_decided && size <= LABELLED => {
                self.each(sets, &mut Vec::new(), Some(self.bounds.class as u32));
            }
            _ if size <= SMALL => self.each(sets, &mut Vec::new(), None),
            _ => return Some(divided(&self.bounds, get)),
        }
        self.search.progress.done.fetch_add(size, Ordering::Relaxed);
        None
    }

    /// Counts the inputs of a region that all have the same answer.
    fn add_all(&mut self, labels: &Labels, sets: &Sets) {
        let get = |position: usize| &sets[position][..];
        self.counts.count(labels, get, self.search.reading.classes);
        for label in 0..self.search.reading.classes {
            let count = self.counts.of_class[label];
            self.tally.inputs[label] += count;
            if label != self.bounds.class && count > 0 {
                self.tally.wrong[label] += count;
                self.counts
                    .add_tokens(labels, get, label as u32, &mut self.tally.tokens[label]);
            }
        }
    }

    /// Counts all inputs that begin with some tokens, one by one; the answer may be known.
    fn each(&mut self, sets: &Sets, tokens: &mut Vec<u32>, answer: Option<u32>) {
        if let Some(set) = sets.get(tokens.len()) {
            for &token in &**set {
                tokens.push(token);
                self.each(sets, tokens, answer);
                tokens.pop();
            }
            return;
        }
        let label = self.search.label(tokens);
        if self.search.labels.is_none() {
            add_one(&mut self.tally.all[label as usize], tokens);
        }
        if let Some(answer) = answer {
            self.tally.count(tokens, label, answer == label);
            return;
        }
        let logits = self.search.reading.logits(tokens, &mut self.bounds.scratch);
        let margin = margin(logits, label as usize);
        if margin.abs() > self.bounds.error {
            self.tally.count(tokens, label, margin > 0.0);
            return;
        }
        self.queue.extend_from_slice(tokens);
        self.queue_labels.push(label);
        if self.queue_labels.len() == TOGETHER {
            self.ask();
        }
    }

    /// Asks the engine about the inputs that wait for it.
    fn ask(&mut self) {
        let labels = core::mem::take(&mut self.queue_labels);
        if labels.is_empty() {
            return;
        }
        let relative = core::mem::take(&mut self.queue);
        self.tally.computed += labels.len() as u64;
        let answers = self.answers.of(&self.search.absolute(&relative), &labels);
        let samples = relative.chunks_exact(self.search.first.len());
        for (((predicted, _), label), tokens) in answers.into_iter().zip(labels).zip(samples) {
            self.tally.count(tokens, label, predicted == label);
        }
    }
}
