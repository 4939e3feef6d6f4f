//! The labels of all samples with some tokens at each position, counted without a look at each.
//!
//! A rule that reads token by token (`Reader`) has a small state after each position. So samples are counted by their state, position
//! by position, and those of a class with a token at a position are those that lead to it times those that follow.

use core::ops::Range;
use std::collections::HashMap;

use headlight_data::rules::Reader;

/// The most cells of the table of states.
const MOST_CELLS: usize = 1 << 22;

/// Which state follows which.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    /// `[position][state, token]`, states numbered from 0 at each position.
    steps: Vec<Vec<u32>>,
    /// States before each position, and after the last.
    states: Vec<usize>,
    /// Tokens of each position.
    tokens: Vec<usize>,
    /// The class of each last state.
    classes: Vec<u32>,
}

impl Labels {
    /// Those of a rule over all samples; `None` if it has too many states.
    pub(super) fn new(reader: &Reader<'_>, tokens: &[Range<u32>]) -> Option<Self> {
        let mut states = vec![0_u64];
        let (mut steps, mut counts) = (Vec::new(), vec![1]);
        for (position, tokens) in tokens.iter().enumerate() {
            let mut numbers: HashMap<u64, u32> = HashMap::new();
            let mut next = Vec::new();
            let mut step = Vec::new();
            if states.len().saturating_mul(tokens.len()) > MOST_CELLS {
                return None;
            }
            for &state in &states {
                for token in tokens.clone() {
                    let state = (reader.step)(state, position, token);
                    let number = *numbers.entry(state).or_insert_with(|| {
                        next.push(state);
                        next.len() as u32 - 1
                    });
                    step.push(number);
                }
            }
            states = next;
            counts.push(states.len());
            steps.push(step);
        }
        Some(Self {
            steps,
            states: counts,
            tokens: tokens.iter().map(ExactSizeIterator::len).collect(),
            classes: states.iter().map(|&state| (reader.class)(state)).collect(),
        })
    }

    /// The class of a sample, whose tokens count from the first of each position.
    pub(super) fn of(&self, tokens: &[u32]) -> u32 {
        let steps = self.steps.iter().zip(&self.tokens).zip(tokens);
        let state = steps.fold(0, |state, ((step, count), &token)| {
            step[state * count + token as usize] as usize
        });
        self.classes[state]
    }

    /// Whether some sample of a region has a class.
    pub(super) fn has<'s>(&self, sets: impl Fn(usize) -> &'s [u32], class: u32) -> bool {
        let (mut states, mut next) = (vec![true], Vec::new());
        for (position, step) in self.steps.iter().enumerate() {
            next.clear();
            next.resize(self.states[position + 1], false);
            let rows = step.chunks_exact(self.tokens[position]).zip(&states);
            for (row, _) in rows.filter(|(_, reached)| **reached) {
                for &token in sets(position) {
                    next[row[token as usize] as usize] = true;
                }
            }
            core::mem::swap(&mut states, &mut next);
        }
        let mut ends = states.iter().zip(&self.classes);
        ends.any(|(&reached, &own)| reached && own == class)
    }
}

/// Counts of samples with some tokens at each position.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Samples that lead to a state. `[position][state]`
    before: Vec<Vec<u64>>,
    /// Samples of each class.
    pub(super) of_class: Vec<u64>,
    after: Vec<u64>,
    next: Vec<u64>,
}

impl Counts {
    /// Counts the samples of each class.
    pub(super) fn count<'s>(
        &mut self,
        labels: &Labels,
        sets: impl Fn(usize) -> &'s [u32],
        classes: usize,
    ) {
        let positions = labels.tokens.len();
        self.before.resize_with(positions + 1, Vec::new);
        self.before[0] = vec![1];
        for position in 0..positions {
            let (left, right) = self.before.split_at_mut(position + 1);
            let (before, after) = (&left[position], &mut right[0]);
            after.clear();
            after.resize(labels.states[position + 1], 0);
            let rows = labels.steps[position].chunks_exact(labels.tokens[position]);
            for (row, &count) in rows.zip(before).filter(|(_, count)| **count > 0) {
                for &token in sets(position) {
                    after[row[token as usize] as usize] += count;
                }
            }
        }
        self.of_class.clear();
        self.of_class.resize(classes, 0);
        for (&class, count) in labels.classes.iter().zip(&self.before[positions]) {
            self.of_class[class as usize] += count;
        }
    }

    /// Adds the samples of a class to those with each token at each position, as the last [`count`](Self::count) found them.
    /// `[position][token]`
    pub(super) fn add_tokens<'s>(
        &mut self,
        labels: &Labels,
        sets: impl Fn(usize) -> &'s [u32],
        class: u32,
        into: &mut [Vec<u64>],
    ) {
        self.after.clear();
        self.after
            .extend(labels.classes.iter().map(|&own| u64::from(own == class)));
        for position in (0..labels.tokens.len()).rev() {
            self.next.clear();
            let rows = labels.steps[position].chunks_exact(labels.tokens[position]);
            for (row, &before) in rows.zip(&self.before[position]) {
                let mut all = 0;
                for &token in sets(position) {
                    let after = self.after[row[token as usize] as usize];
                    all += after;
                    into[position][token as usize] += before * after;
                }
                self.next.push(all);
            }
            core::mem::swap(&mut self.after, &mut self.next);
        }
    }
}
