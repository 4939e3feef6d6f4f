//! What every search over inputs needs, and what it counts.

use core::ops::Range;
use std::sync::Arc;

use headlight_data::LabelRule;

use super::answers::Answers;
use super::progress::Progress;
use super::region::{PositionTokens, Region};
use super::smallest::{Example, SmallestMargins};
use super::states::StateTable;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;

/// Shared by all threads.
pub(super) struct Search<'a> {
    pub(super) config: &'a ExperimentConfig,
    pub(super) rule: &'a LabelRule,
    pub(super) labels: Option<&'a StateTable>,
    /// Those that each position may hold.
    pub(super) tokens: &'a [Range<u32>],
    pub(super) answers: &'a Answers,
    /// Examples of each class.
    pub(super) examples: usize,
    pub(super) threads: usize,
    pub(super) progress: &'a Progress<'a>,
}

impl Search<'_> {
    /// The class of an input.
    pub(super) fn label(&self, tokens: &[u32]) -> u32 {
        let data = &self.config.data;
        match self.labels {
            Some(labels) => labels.class_of(tokens),
            None => self.rule.label_for(tokens, data.cls, data.n_classes),
        }
    }

    /// All inputs, or those with a token at the readout position, without what tokens add.
    pub(super) fn region(&self, read_token: Option<u32>) -> Region {
        let read = self.config.inputs().read_position;
        let held = |(position, all): (usize, &Range<u32>)| {
            let tokens = match read_token {
                Some(token) if position == read => vec![token],
                _ => all.clone().collect(),
            };
            Arc::new(PositionTokens::new(tokens, Vec::new()))
        };
        Region {
            positions: self.tokens.iter().enumerate().map(held).collect(),
        }
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
    /// Inputs that the engine computed.
    pub(super) computed: u64,
    /// Examples of each class.
    pub(super) smallest: Vec<SmallestMargins>,
}

impl Tally {
    pub(super) fn new(search: &Search<'_>) -> Self {
        let classes = search.classes();
        let none = SmallestMargins {
            most: search.examples,
            found: Vec::new(),
        };
        let counts = search.tokens.iter().map(|all| vec![0; all.len()]);
        let counts: Vec<Vec<u64>> = counts.collect();
        Self {
            inputs: vec![0; classes],
            wrong: vec![0; classes],
            tokens: vec![counts.clone(); classes],
            all: vec![counts; classes],
            computed: 0,
            smallest: vec![none; classes],
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        let each = |counts: &mut [u64], others: &[u64]| {
            for (count, other) in counts.iter_mut().zip(others) {
                *count += other;
            }
        };
        each(&mut self.inputs, &other.inputs);
        each(&mut self.wrong, &other.wrong);
        let rows = self.tokens.iter_mut().chain(&mut self.all).flatten();
        let others = other.tokens.iter().chain(&other.all).flatten();
        rows.zip(others).for_each(|(row, other)| each(row, other));
        self.computed += other.computed;
        for (smallest, other) in self.smallest.iter_mut().zip(other.smallest) {
            other
                .found
                .into_iter()
                .for_each(|example| smallest.push(example));
        }
    }

    /// Counts an input.
    pub(super) fn count(&mut self, search: &Search<'_>, tokens: &[u32], label: u32, answer: u32) {
        let (class, is_wrong) = (label as usize, label != answer);
        self.inputs[class] += 1;
        self.wrong[class] += u64::from(is_wrong);
        for (position, (token, all)) in tokens.iter().zip(search.tokens).enumerate() {
            let index = (token - all.start) as usize;
            self.tokens[class][position][index] += u64::from(is_wrong);
            self.all[class][position][index] += u64::from(search.labels.is_none());
        }
    }
}

/// Inputs that wait for the engine.
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
    pub(super) fn ask(&mut self, tally: &mut Tally, counts: bool) -> Result<(), Error> {
        let answers = self.answers.predict(&self.tokens, &self.labels)?;
        let inputs = self.tokens.chunks_exact(self.search.tokens.len());
        for ((tokens, &label), (predicted, margin)) in inputs.zip(&self.labels).zip(answers) {
            if counts {
                tally.computed += 1;
                tally.count(self.search, tokens, label, predicted);
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
