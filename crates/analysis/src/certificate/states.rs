//! The labels of all samples that share some tokens, counted without a look at each.
//!
//! A rule that reads token by token (`Automaton`) has a small state after each position. So samples are counted by their state, position
//! by position, and those of a class with a token at a position are those that lead to it times those that follow.

use core::ops::Range;
use std::collections::HashMap;

use headlight_data::rules::Automaton;

/// The most cells of the table of states.
const MOST_CELLS: usize = 1 << 22;

/// Which state follows which. Samples are given by the tokens that each position may hold.
#[derive(Clone, Debug)]
pub(super) struct StateTable {
    positions: Vec<Position>,
    /// The class of each last state.
    ends: Vec<u32>,
    classes: usize,
}

/// How many samples have some tokens.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Those that lead to each state. `[position][state]`
    before: Vec<Vec<u64>>,
    /// Those of each class.
    pub(super) of_class: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Position {
    /// The first token, and how many there are.
    first: u32,
    tokens: usize,
    /// States after it, numbered from 0.
    states: usize,
    /// `[state before, token]`
    steps: Vec<u32>,
    /// The states before and after any token, and how many tokens lead from the one to the other.
    any: Vec<(u32, u32, u64)>,
}

impl Position {
    /// Calls `each` with a state before, one after and how many of some tokens lead there.
    fn each(&self, tokens: &[u32], mut each: impl FnMut(usize, usize, u64)) {
        if tokens.len() == self.tokens {
            for &(before, after, count) in &self.any {
                each(before as usize, after as usize, count);
            }
        } else {
            for (before, steps) in self.steps.chunks_exact(self.tokens).enumerate() {
                for &token in tokens {
                    each(before, steps[(token - self.first) as usize] as usize, 1);
                }
            }
        }
    }
}

impl StateTable {
    /// Those of a rule over all samples; `None` if it has too many states.
    pub(super) fn new(
        reader: &Automaton<'_>,
        tokens: &[Range<u32>],
        classes: usize,
    ) -> Option<Self> {
        let mut states = vec![0_u64];
        let mut positions = Vec::new();
        for (position, tokens) in tokens.iter().enumerate() {
            if states.len().saturating_mul(tokens.len()) > MOST_CELLS {
                return None;
            }
            let (mut numbers, mut next) = (HashMap::new(), Vec::new());
            let (mut steps, mut any) = (Vec::new(), Vec::new());
            for (before, &state) in states.iter().enumerate() {
                let mut counts = HashMap::new();
                for token in tokens.clone() {
                    let state = (reader.step)(state, position, token);
                    let number: u32 = *numbers.entry(state).or_insert_with(|| {
                        next.push(state);
                        next.len() as u32 - 1
                    });
                    steps.push(number);
                    *counts.entry(number).or_insert(0) += 1;
                }
                any.extend(
                    counts
                        .into_iter()
                        .map(|(after, count)| (before as u32, after, count)),
                );
            }
            states = next;
            positions.push(Position {
                first: tokens.start,
                tokens: tokens.len(),
                states: states.len(),
                steps,
                any,
            });
        }
        Some(Self {
            positions,
            ends: states.iter().map(|&state| (reader.class)(state)).collect(),
            classes,
        })
    }

    /// The class of a sample.
    pub(super) fn class_of(&self, tokens: &[u32]) -> u32 {
        let step = |state: usize, (position, &token): (&Position, &u32)| {
            position.steps[state * position.tokens + (token - position.first) as usize] as usize
        };
        self.ends[self.positions.iter().zip(tokens).fold(0, step)]
    }

    /// Counts the samples of each class.
    pub(super) fn count(&self, tokens: &[&[u32]]) -> Counts {
        let mut before = vec![vec![1]];
        for (index, (position, held)) in self.positions.iter().zip(tokens).enumerate() {
            let mut next = vec![0; position.states];
            position.each(held, |state, after, count| {
                next[after] += before[index][state] * count;
            });
            before.push(next);
        }
        let mut of_class = vec![0; self.classes];
        for (&class, count) in self.ends.iter().zip(&before[self.positions.len()]) {
            of_class[class as usize] += count;
        }
        Counts { before, of_class }
    }

    /// Adds the samples of a class to those with each token at each position, `[position][token]`; [`count`](Self::count) has counted
    /// them.
    pub(super) fn add_tokens(
        &self,
        tokens: &[&[u32]],
        Counts { before, .. }: &Counts,
        class: u32,
        into: &mut [Vec<u64>],
    ) {
        let mut after: Vec<u64> = self
            .ends
            .iter()
            .map(|&end| u64::from(end == class))
            .collect();
        for (index, position) in self.positions.iter().enumerate().rev() {
            for &token in tokens[index] {
                position.each(&[token], |state, next, _| {
                    into[index][(token - position.first) as usize] +=
                        before[index][state] * after[next];
                });
            }
            let mut sums = vec![0; before[index].len()];
            position.each(tokens[index], |state, next, count| {
                sums[state] += count * after[next];
            });
            after = sums;
        }
    }
}
