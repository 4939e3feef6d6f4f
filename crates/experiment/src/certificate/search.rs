//! Counts the answers to all inputs: regions whose bounds decide are counted at once, and others are divided.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use headlight_data::LabelRule;

use super::answers::{Answers, margin};
use super::labels::{Counts, Labels};
use super::region::{Bounds, Reading};
use super::worst::{Example, Worst};
use crate::config::ExperimentConfig;

/// Inputs that the engine computes together.
const TOGETHER: usize = 256;

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
    pub(super) worst: &'a Worst,
    pub(super) answers: &'a Answers,
    /// Inputs that are done.
    pub(super) done: &'a AtomicU64,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Inputs of each class, and those that are answered wrongly.
    pub(super) inputs: Vec<u64>,
    pub(super) wrong: Vec<u64>,
    /// Of the wrong ones of each class, those with each token at each position. `[class][position][token]`
    pub(super) tokens: Vec<Vec<Vec<u64>>>,
    /// Inputs that the engine computed, and regions that were bounded.
    pub(super) computed: u64,
    pub(super) regions: u64,
    pub(super) enumerated: u64,
}

impl Tally {
    pub(super) fn new(classes: usize, tokens: &[usize]) -> Self {
        let counts: Vec<Vec<u64>> = tokens.iter().map(|&count| vec![0; count]).collect();
        Self {
            inputs: vec![0; classes],
            wrong: vec![0; classes],
            tokens: vec![counts; classes],
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
        let rows = self.tokens.iter_mut().flatten();
        rows.zip(other.tokens.iter().flatten())
            .for_each(|(own, other)| each(own, other));
        self.computed += other.computed;
        self.regions += other.regions;
        self.enumerated += other.enumerated;
    }

    fn count(&mut self, tokens: &[u32], label: u32, is_right: bool) {
        self.inputs[label as usize] += 1;
        if !is_right {
            self.wrong[label as usize] += 1;
            for (counts, &token) in self.tokens[label as usize].iter_mut().zip(tokens) {
                counts[token as usize] += 1;
            }
        }
    }
}

/// A region: the tokens of each position, counted from the first.
pub(super) type Sets = Vec<Vec<u32>>;

impl Search<'_> {
    /// Searches a region with so many threads.
    pub(super) fn run(&self, region: Sets, threads: usize) -> Tally {
        let mut first = Worker::new(self, region);
        let tasks = first.divide(if threads > 1 { TASKS } else { 1 });
        let next = AtomicUsize::new(0);
        let work = || {
            let mut worker = Worker::new(self, self.first.iter().map(|_| Vec::new()).collect());
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.take(task.clone());
                worker.visit();
            }
            worker.finish()
        };
        let mut tally = first.finish();
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            tally.add(&work());
            for other in others {
                match other.join() {
                    Ok(own) => tally.add(&own),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        tally
    }
}

/// One thread's part of a search.
struct Worker<'a, 'b> {
    search: &'a Search<'b>,
    /// Tokens of each position; those of the region are in `ranges`.
    order: Sets,
    ranges: Vec<(usize, usize)>,
    bounds: Bounds,
    counts: Counts,
    tally: Tally,
    answers: Answers,
    /// Inputs for the engine, one after the other, and their labels.
    queue: Vec<u32>,
    queue_labels: Vec<u32>,
}

impl<'a, 'b> Worker<'a, 'b> {
    fn new(search: &'a Search<'b>, region: Sets) -> Self {
        let rows = &search.reading.attention.rows;
        let stride = search.reading.attention.stride();
        let tokens: Vec<usize> = rows.iter().map(|rows| rows.len() / stride).collect();
        let mut worker = Self {
            search,
            order: Vec::new(),
            ranges: Vec::new(),
            bounds: Bounds::default(),
            counts: Counts::default(),
            tally: Tally::new(search.reading.classes, &tokens),
            answers: search.answers.clone(),
            queue: Vec::new(),
            queue_labels: Vec::new(),
        };
        worker.take(region);
        worker
    }

    fn take(&mut self, region: Sets) {
        self.ranges = region.iter().map(|set| (0, set.len())).collect();
        self.order = region;
    }

    fn finish(mut self) -> Tally {
        self.ask();
        self.tally
    }

    fn size(&self) -> u64 {
        let sizes = self.ranges.iter().map(|(start, end)| (end - start) as u64);
        sizes.product()
    }

    /// Divides the region until there are so many, or all are decided.
    fn divide(&mut self, count: usize) -> Vec<Sets> {
        let mut open = vec![self.order.clone()];
        let mut index = 0;
        while open.len() - index < count && index < open.len() {
            self.take(core::mem::take(&mut open[index]));
            index += 1;
            if self.is_done() {
                continue;
            }
            if self.is_small() {
                self.enumerate();
                continue;
            }
            let (position, middle) = self.split();
            let (left, right) = self.order[position].split_at(middle);
            for half in [left, right] {
                let mut sets = self.order.clone();
                sets[position] = half.to_vec();
                open.push(sets);
            }
        }
        open.split_off(index)
    }

    /// Counts all inputs of the region.
    fn visit(&mut self) {
        if self.is_done() {
            return;
        }
        if self.is_small() {
            self.enumerate();
            return;
        }
        let (position, middle) = self.split();
        let (start, end) = self.ranges[position];
        for half in [(start, middle), (middle, end)] {
            self.ranges[position] = half;
            self.visit();
        }
        self.ranges[position] = (start, end);
    }

    /// Whether inputs are computed one by one.
    fn is_small(&self) -> bool {
        self.size() <= 32
    }

    /// Bounds the region, and counts it if that decides.
    fn is_done(&mut self) -> bool {
        let Self { search, order, ranges, bounds, counts, tally, .. } = self;
        let sets = |position: usize| {
            let (start, end) = ranges[position];
            &order[position][start..end]
        };
        search.reading.bound(&sets, bounds);
        tally.regions += 1;
        if bounds.narrowest() <= 0.0 {
            return false;
        }
        let classes = search.reading.classes;
        let is_worse = |label: usize| bounds.least_margin(label) <= search.worst.limit(label);
        let Some(labels) = search.labels else {
            return false;
        };
        counts.count(labels, sets, classes);
        if (0..classes).any(|label| counts.of_class[label] > 0 && is_worse(label)) {
            return false;
        }
        for label in 0..classes {
            let count = counts.of_class[label];
            tally.inputs[label] += count;
            if label != bounds.class && count > 0 {
                tally.wrong[label] += count;
                counts.add_tokens(labels, sets, label as u32, &mut tally.tokens[label]);
            }
        }
        search.done.fetch_add(self.size(), Ordering::Relaxed);
        true
    }

    /// Moves the tokens of a position apart; returns the position and where its second half starts.
    fn split(&mut self) -> (usize, usize) {
        let position = self.bounds.split;
        let (start, end) = self.ranges[position];
        let (adds, threshold) = (&self.bounds.adds[position], self.bounds.threshold);
        let own = &mut self.order[position][start..end];
        let is_low = |index: usize| adds[index] <= threshold;
        let (low, high): (Vec<usize>, Vec<usize>) = (0..own.len()).partition(|&index| is_low(index));
        let middle = if low.is_empty() || high.is_empty() { own.len() / 2 } else { low.len() };
        let moved: Vec<u32> = low.iter().chain(&high).map(|&index| own[index]).collect();
        own.copy_from_slice(&moved);
        (position, start + middle)
    }

    /// Computes each input of the region.
    fn enumerate(&mut self) {
        let size = self.size();
        let stride = self.search.reading.attention.stride();
        let positions = self.order.len();
        let mut sums = vec![0.0; (positions + 1) * stride];
        let mut tokens = vec![0; positions];
        self.tally.enumerated += size;
        self.each(0, &mut sums, &mut tokens);
        self.search.done.fetch_add(size, Ordering::Relaxed);
    }

    fn each(&mut self, position: usize, sums: &mut [f64], tokens: &mut [u32]) {
        let stride = self.search.reading.attention.stride();
        if position == self.order.len() {
            let start = position * stride;
            return self.one(&sums[start..start + stride], tokens);
        }
        let (start, end) = self.ranges[position];
        for index in start..end {
            let token = self.order[position][index];
            tokens[position] = token;
            let row = &self.search.reading.attention.rows[position][token as usize * stride..][..stride];
            let (before, after) = sums[position * stride..].split_at_mut(stride);
            for ((after, before), row) in after.iter_mut().zip(&*before).zip(row) {
                *after = before + row;
            }
            self.each(position + 1, sums, tokens);
        }
    }

    fn one(&mut self, sums: &[f64], tokens: &[u32]) {
        let search = self.search;
        let attention = &search.reading.attention;
        let mut x = attention.base.middle.clone();
        for head in sums.chunks_exact(1 + attention.width) {
            let share = 1.0 / head[0];
            for (x, sum) in x.iter_mut().zip(&head[1..]) {
                *x += sum * share;
            }
        }
        let logits = search.reading.tail.value(&x, &mut self.bounds.scratch);
        let label = match search.labels {
            Some(labels) => labels.of(tokens),
            None => {
                let own: Vec<u32> = tokens.iter().zip(search.first).map(|(token, first)| token + first).collect();
                let data = &search.config.data;
                search.rule.label_for(&own, data.cls, data.n_classes)
            }
        };
        let margin = margin(logits, label as usize);
        let error = self.bounds.error;
        if margin.abs() <= error || margin - error <= search.worst.limit(label as usize) {
            self.queue.extend(tokens);
            self.queue_labels.push(label);
            if self.queue_labels.len() == TOGETHER {
                self.ask();
            }
        } else {
            self.tally.count(tokens, label, margin > 0.0);
        }
    }

    /// Asks the engine about the inputs that wait for it.
    fn ask(&mut self) {
        let labels = core::mem::take(&mut self.queue_labels);
        if labels.is_empty() {
            return;
        }
        let positions = self.search.first.len();
        let relative = core::mem::take(&mut self.queue);
        let first = self.search.first.iter().cycle();
        let tokens: Vec<u32> = relative.iter().zip(first).map(|(token, first)| token + first).collect();
        self.tally.computed += labels.len() as u64;
        let answers = self.answers.of(&tokens, &labels);
        for (index, ((predicted, margin), label)) in answers.into_iter().zip(labels).enumerate() {
            let at = index * positions..(index + 1) * positions;
            self.tally.count(&relative[at.clone()], label, predicted == label);
            if margin <= self.search.worst.limit(label as usize) {
                self.search.worst.add(Example {
                    tokens: tokens[at].to_vec(),
                    label,
                    predicted,
                    margin,
                });
            }
        }
    }
}
