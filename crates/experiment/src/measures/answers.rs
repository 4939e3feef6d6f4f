//! How a model answers many samples.

/// Answers, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    pub(super) count: u64,
    /// Wrong answers, by the class that would be right.
    pub(super) wrong_of_class: Vec<u64>,
    /// Wrong answers that name another token of the sample.
    pub(super) of_another_token: u64,
    /// Wrong answers whose number differs from the label's by at most [`NEAR`].
    pub(super) near: u64,
}

/// The difference of numbers that are near.
const NEAR: u32 = 2;

impl Answers {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            wrong_of_class: vec![0; classes],
            ..Self::default()
        }
    }

    /// How many are wrong.
    pub(super) fn wrong(&self) -> u64 {
        self.wrong_of_class.iter().sum()
    }

    /// The share of the wrong ones that so many are; `None` if none is wrong.
    pub(super) fn of_wrong(&self, count: u64) -> Option<f64> {
        let wrong = self.wrong();
        (wrong > 0).then(|| count as f64 / wrong as f64)
    }

    /// The class with the most wrong answers, and how many they are.
    pub(super) fn worst_class(&self) -> (usize, u64) {
        let classes = self.wrong_of_class.iter().copied().enumerate();
        // The first of several.
        let worst = classes.rev().max_by_key(|&(_, wrong)| wrong);
        worst.unwrap_or_default()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.of_another_token += other.of_another_token;
        self.near += other.near;
        for (own, other) in self.wrong_of_class.iter_mut().zip(&other.wrong_of_class) {
            *own += other;
        }
    }

    /// Counts the answer to a sample.
    pub(super) fn answer(&mut self, tokens: &[u32], label: u32, predicted: u32) {
        self.count += 1;
        if predicted != label {
            self.wrong_of_class[label as usize] += 1;
            self.of_another_token += u64::from(tokens.contains(&predicted));
            self.near += u64::from(predicted.abs_diff(label) <= NEAR);
        }
    }
}
