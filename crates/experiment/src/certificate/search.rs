//! Counts the answers to all inputs, prefix by prefix: what follows a prefix is counted at once if it cannot change the answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use headlight_data::LabelRule;

use super::answers::Answers;
use super::labels::{ANY, Labels};
use super::progress::Progress;
use super::sums::{Reach, Sums};
use crate::config::ExperimentConfig;
use crate::error::Error;

/// Inputs that the engine computes together.
const TOGETHER: usize = 256;

/// Inputs with the same answer whose labels are found one by one before the next look at whether to stop, at most.
const LABELLED: u64 = 1 << 14;

/// Prefixes that threads take from one list, at least, if inputs have so many.
const TASKS: u64 = 256;

/// Prefixes between two reports of what is counted.
const LOOK: u32 = 1024;

/// What a search needs, shared by all threads.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) config: &'a ExperimentConfig,
    pub(super) rule: &'a LabelRule,
    pub(super) sums: &'a Sums,
    pub(super) labels: Option<&'a Labels>,
    /// The first token of each position.
    pub(super) first: &'a [u32],
    pub(super) answers: &'a Answers,
    /// Margins that are no larger are the engine's to find.
    pub(super) near: f64,
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
            computed: 0,
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

/// A prefix that is extended and shortened: its tokens, and the sums of each of its parts.
#[derive(Clone, Debug)]
pub(super) struct Prefix<'a> {
    sums: &'a Sums,
    /// Tokens count from the first of each position; [`ANY`] where the prefix has none.
    pub(super) tokens: Vec<u32>,
    /// `[length][head, 1 + width]`
    rows: Vec<Vec<f64>>,
}

impl<'a> Prefix<'a> {
    pub(super) fn new(sums: &'a Sums) -> Self {
        let (position, token) = (sums.order[0], sums.tokens[sums.order[0]].start);
        let zeros = vec![0.0; sums.row(position, token).len()];
        Self {
            sums,
            tokens: vec![ANY; sums.order.len()],
            rows: vec![zeros; sums.order.len() + 1],
        }
    }

    /// Gives the prefix of a length one more token.
    pub(super) fn set(&mut self, length: usize, token: u32) {
        let position = self.sums.order[length];
        self.tokens[position] = token;
        if let [before, after] = &mut self.rows[length..length + 2] {
            let row = self.sums.row(position, token);
            for ((after, before), row) in after.iter_mut().zip(before).zip(row) {
                *after = *before + row;
            }
        }
    }

    /// Takes the last token of a prefix that is longer by one than so much.
    pub(super) fn clear(&mut self, length: usize) {
        self.tokens[self.sums.order[length]] = ANY;
    }

    pub(super) fn reach(&self, length: usize, reach: &mut Reach) {
        self.sums.reach(length, &self.rows[length], reach);
    }

    /// As [`Sums::last_logits`] of a prefix that lacks one token.
    pub(super) fn last_logits<'r>(&self, reach: &'r mut Reach) -> Option<&'r [f64]> {
        self.sums
            .last_logits(&self.rows[self.tokens.len() - 1], reach)
    }

    /// Makes it the prefix of this number among all of its length.
    pub(super) fn number(&mut self, length: usize, mut number: u64) {
        self.tokens.fill(ANY);
        for length in 0..length {
            let tokens = self.sums.tokens[self.sums.order[length]].clone();
            self.set(length, tokens.start + (number % tokens.len() as u64) as u32);
            number /= tokens.len() as u64;
        }
    }
}

impl Search<'_> {
    /// The class of a sample.
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

    /// The length of prefixes that are enough for all threads, and how many there are.
    pub(super) fn tasks(&self) -> (usize, u64) {
        let inputs = &self.sums.inputs;
        let count = |length: usize| inputs[0] / inputs[length];
        let last = inputs.len() - 1;
        let length = (1..last)
            .find(|&length| count(length) >= TASKS)
            .unwrap_or(last);
        (length, count(length))
    }

    /// Counts the answers to all inputs.
    ///
    /// # Errors
    /// As [`Progress::each`], and when an answer is not finite.
    pub(super) fn count(&self) -> Result<Tally, Error> {
        let (length, tasks) = self.tasks();
        let next = AtomicUsize::new(0);
        let parts = self.progress.each(self.threads, || {
            let mut worker = Worker::new(self);
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed) as u64;
                if task >= tasks || self.progress.is_stopped() {
                    return worker.finish();
                }
                worker.prefix.number(length, task);
                worker.visit(length, None)?;
            }
        })?;
        let mut parts = parts.into_iter();
        let mut tally = parts.next().transpose()?.unwrap_or_default();
        for part in parts {
            tally.add(&part?);
        }
        if let Some(labels) = self.labels {
            let mut tokens = vec![ANY; self.first.len()];
            tokens[self.sums.order[0]] = self.sums.tokens[self.sums.order[0]].start;
            let mut before = Vec::new();
            labels.count(&tokens, &mut before, &mut Vec::new());
            for (class, all) in tally.all.iter_mut().enumerate() {
                labels.add_tokens(&tokens, &before, class as u32, all);
            }
        }
        Ok(tally)
    }
}

/// One thread's part of a count.
struct Worker<'a> {
    search: &'a Search<'a>,
    prefix: Prefix<'a>,
    reach: Reach,
    /// Samples of the prefix: those that lead to each state, and those of each class.
    before: Vec<Vec<u64>>,
    counts: Vec<u64>,
    tally: Tally,
    answers: Answers,
    /// Inputs for the engine, one after the other, and their labels.
    queue: Vec<u32>,
    queue_labels: Vec<u32>,
    /// Inputs that are counted since the last look, and visits.
    done: u64,
    visits: u32,
}

impl<'a> Worker<'a> {
    fn new(search: &'a Search<'a>) -> Self {
        let tokens: Vec<usize> = search
            .sums
            .tokens
            .iter()
            .map(|tokens| tokens.end as usize)
            .collect();
        Self {
            search,
            prefix: Prefix::new(search.sums),
            reach: Reach::default(),
            before: Vec::new(),
            counts: Vec::new(),
            tally: Tally::new(search.config.data.n_classes, &tokens),
            answers: search.answers.clone(),
            queue: Vec::new(),
            queue_labels: Vec::new(),
            done: 0,
            visits: 0,
        }
    }

    fn finish(mut self) -> Result<Tally, Error> {
        self.ask()?;
        self.look();
        Ok(self.tally)
    }

    /// Tells what is counted.
    fn look(&mut self) {
        let done = core::mem::take(&mut self.done);
        self.search.progress.done.fetch_add(done, Ordering::Relaxed);
    }

    /// Counts all inputs with the prefix of this length; perhaps all of them have a label.
    fn visit(&mut self, length: usize, label: Option<u32>) -> Result<(), Error> {
        self.visits += 1;
        if self.visits.is_multiple_of(LOOK) {
            self.look();
        }
        if self.search.progress.is_stopped() {
            return Ok(());
        }
        let (sums, last) = (self.search.sums, self.search.first.len());
        let inputs = sums.inputs[length];
        self.prefix.reach(length, &mut self.reach);
        let answer = self.reach.decided(self.search.near);
        if length == last {
            return self.leaf(answer, label);
        }
        let label = match (label, self.search.labels) {
            (None, Some(labels)) => {
                labels.count(&self.prefix.tokens, &mut self.before, &mut self.counts);
                let mut counts = self.counts.iter();
                counts
                    .position(|&count| count == inputs)
                    .map(|label| label as u32)
            }
            _ => label,
        };
        match answer {
            Some(answer) if self.search.labels.is_some() => {
                self.add(answer, label, inputs);
                self.done += inputs;
                return Ok(());
            }
            Some(answer) if inputs <= LABELLED => {
                self.each(length, answer)?;
                self.look();
                return Ok(());
            }
            _ => {}
        }
        if length + 1 == last && self.prefix.last_logits(&mut self.reach).is_some() {
            let position = sums.order[length];
            for token in sums.tokens[position].clone() {
                self.prefix.tokens[position] = token;
                let answer = self.reach.last_decided(token, self.search.near);
                self.leaf(answer, label)?;
            }
        } else {
            for token in sums.tokens[sums.order[length]].clone() {
                self.prefix.set(length, token);
                self.visit(length + 1, label)?;
            }
        }
        self.prefix.clear(length);
        Ok(())
    }

    /// Counts the inputs of the prefix, all of which have the same answer.
    fn add(&mut self, answer: u32, label: Option<u32>, inputs: u64) {
        let tokens = &self.prefix.tokens;
        if let Some(label) = label {
            self.tally.inputs[label as usize] += inputs;
            if label != answer {
                self.tally.wrong[label as usize] += inputs;
                for (counts, &token) in self.tally.tokens[label as usize].iter_mut().zip(tokens) {
                    match counts.get_mut(token as usize) {
                        Some(count) => *count += inputs,
                        None => {
                            let each = inputs / counts.len() as u64;
                            counts.iter_mut().for_each(|count| *count += each);
                        }
                    }
                }
            }
            return;
        }
        for (class, &count) in self.counts.iter().enumerate() {
            self.tally.inputs[class] += count;
            if class != answer as usize && count > 0 {
                self.tally.wrong[class] += count;
                if let Some(labels) = self.search.labels {
                    labels.add_tokens(
                        tokens,
                        &self.before,
                        class as u32,
                        &mut self.tally.tokens[class],
                    );
                }
            }
        }
    }

    /// Counts the inputs of the prefix one by one, all of which have the same answer.
    fn each(&mut self, length: usize, answer: u32) -> Result<(), Error> {
        if length == self.search.first.len() {
            return self.leaf(Some(answer), None);
        }
        for token in self.search.sums.tokens[self.search.sums.order[length]].clone() {
            self.prefix.set(length, token);
            self.each(length + 1, answer)?;
        }
        self.prefix.clear(length);
        Ok(())
    }

    /// Counts one input, or keeps it for the engine if it has no answer yet.
    fn leaf(&mut self, answer: Option<u32>, label: Option<u32>) -> Result<(), Error> {
        let tokens = &self.prefix.tokens;
        let label = label.unwrap_or_else(|| self.search.label(tokens));
        if self.search.labels.is_none() {
            add_one(&mut self.tally.all[label as usize], tokens);
        }
        self.done += 1;
        if let Some(answer) = answer {
            self.tally.count(tokens, label, answer == label);
            return Ok(());
        }
        self.queue.extend_from_slice(tokens);
        self.queue_labels.push(label);
        if self.queue_labels.len() == TOGETHER {
            self.ask()?;
        }
        Ok(())
    }

    /// Asks the engine about the inputs that wait for it.
    fn ask(&mut self) -> Result<(), Error> {
        let labels = core::mem::take(&mut self.queue_labels);
        let relative = core::mem::take(&mut self.queue);
        self.tally.computed += labels.len() as u64;
        let answers = self.answers.of(&self.search.absolute(&relative), &labels)?;
        let samples = relative.chunks_exact(self.search.first.len());
        for (((predicted, _), label), tokens) in answers.into_iter().zip(labels).zip(samples) {
            self.tally.count(tokens, label, predicted == label);
        }
        Ok(())
    }
}
