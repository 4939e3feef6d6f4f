//! What every search over inputs needs, and what it counts.

use headlight_data::LabelRule;

use super::answers::Answers;
use super::labels::{ANY, Labels};
use super::progress::Progress;
use super::smallest::{Example, Smallest};
use crate::config::ExperimentConfig;
use crate::error::Error;

/// Shared by all threads.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) config: &'a ExperimentConfig,
    pub(super) rule: &'a LabelRule,
    pub(super) labels: Option<&'a Labels>,
    /// The first token of each position, and how many it can have.
    pub(super) first: &'a [u32],
    pub(super) counts: &'a [usize],
    pub(super) answers: &'a Answers,
    /// Examples of each class.
    pub(super) examples: usize,
    pub(super) threads: usize,
    pub(super) progress: &'a Progress<'a>,
}

impl Search<'_> {
    /// The class of an input, whose tokens count from the first of each position.
    pub(super) fn label(&self, tokens: &[u32]) -> u32 {
        if let Some(labels) = self.labels {
            return labels.of(tokens);
        }
        let data = &self.config.data;
        self.rule
            .label_for(&self.absolute(tokens), data.cls, data.n_classes)
    }

    /// The tokens of inputs, one after the other, that count from the first of each position.
    pub(super) fn absolute(&self, tokens: &[u32]) -> Vec<u32> {
        let first = self.first.iter().cycle();
        let pairs = tokens.iter().zip(first);
        pairs.map(|(token, first)| token + first).collect()
    }

    pub(super) fn classes(&self) -> usize {
        self.config.data.n_classes
    }
}

/// What was counted.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Inputs of each class, and those that are answered wrongly.
    pub(super) inputs: Vec<u64>,
    pub(super) wrong: Vec<u64>,
    /// Of the wrong ones of each class, those with each token at each position. `[class][position][token]`
    pub(super) tokens: Vec<Vec<Vec<u64>>>,
    /// The same of all inputs of each class, right or wrong; where labels tell it, they are not counted one by one.
    pub(super) all: Vec<Vec<Vec<u64>>>,
    is_by_labels: bool,
    /// Inputs that the engine computed.
    pub(super) computed: u64,
    /// Examples of each class.
    pub(super) smallest: Vec<Smallest>,
}

impl Tally {
    pub(super) fn new(search: &Search<'_>) -> Self {
        let classes = search.classes();
        let none = Smallest {
            most: search.examples,
            found: Vec::new(),
        };
        let counts: Vec<Vec<u64>> = search.counts.iter().map(|&count| vec![0; count]).collect();
        Self {
            inputs: vec![0; classes],
            wrong: vec![0; classes],
            tokens: vec![counts.clone(); classes],
            all: vec![counts; classes],
            is_by_labels: search.labels.is_some(),
            computed: 0,
            smallest: vec![none; classes],
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        let each = |own: &mut [u64], other: &[u64]| {
            for (own, other) in own.iter_mut().zip(other) {
                *own += other;
            }
        };
        each(&mut self.inputs, &other.inputs);
        each(&mut self.wrong, &other.wrong);
        let rows = self.tokens.iter_mut().chain(&mut self.all).flatten();
        let others = other.tokens.iter().chain(&other.all).flatten();
        rows.zip(others).for_each(|(own, other)| each(own, other));
        self.computed += other.computed;
        for (own, other) in self.smallest.iter_mut().zip(other.smallest) {
            other
                .found
                .into_iter()
                .for_each(|example| own.push(example));
        }
    }

    /// Counts inputs of one class with these tokens, [`ANY`] among them.
    pub(super) fn count(&mut self, tokens: &[u32], label: u32, answer: u32, inputs: u64) {
        let label = label as usize;
        self.inputs[label] += inputs;
        if label != answer as usize {
            self.wrong[label] += inputs;
            add_tokens(&mut self.tokens[label], tokens, inputs);
        }
        if !self.is_by_labels {
            add_tokens(&mut self.all[label], tokens, inputs);
        }
    }
}

/// Adds inputs to those with each token. `[position][token]`
fn add_tokens(counts: &mut [Vec<u64>], tokens: &[u32], inputs: u64) {
    for (counts, &token) in counts.iter_mut().zip(tokens) {
        if token == ANY {
            let each = inputs / counts.len() as u64;
            for count in counts {
                *count += each;
            }
        } else {
            counts[token as usize] += inputs;
        }
    }
}

/// Inputs that wait for the engine.
#[derive(Clone, Debug)]
pub(super) struct Queue<'a> {
    search: &'a Search<'a>,
    answers: Answers,
    /// One after the other, and their labels.
    tokens: Vec<u32>,
    labels: Vec<u32>,
}

impl<'a> Queue<'a> {
    pub(super) fn new(search: &'a Search<'a>) -> Self {
        Self {
            search,
            answers: search.answers.clone(),
            tokens: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Adds an input. Returns how many wait.
    pub(super) fn push(&mut self, tokens: &[u32], label: u32) -> usize {
        self.tokens.extend_from_slice(tokens);
        self.labels.push(label);
        self.labels.len()
    }

    /// Asks the engine about all that wait, keeps those with the smallest margins, and may count its answers.
    ///
    /// # Errors
    /// When an answer is not finite.
    pub(super) fn ask(&mut self, tally: &mut Tally, counts: bool) -> Result<(), Error> {
        let tokens = self.search.absolute(&self.tokens);
        let answers = self.answers.of(&tokens, &self.labels)?;
        let positions = self.search.first.len();
        let own = self.tokens.chunks_exact(positions);
        let inputs = own.zip(tokens.chunks_exact(positions)).zip(&self.labels);
        for (((own, tokens), &label), (predicted, margin)) in inputs.zip(answers) {
            if counts {
                tally.computed += 1;
                tally.count(own, label, predicted, 1);
            }
            tally.smallest[label as usize].push(Example {
                tokens: tokens.to_vec(),
                label,
                predicted,
                margin,
            });
        }
        self.tokens.clear();
        self.labels.clear();
        Ok(())
    }
}
