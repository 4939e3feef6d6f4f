//! The comparison of numbers, each within a bound.

use serde::Serialize;

/// Numbers of this run, compared with those of the reference run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// `forward`, `gradient` or `training`.
    pub level: &'static str,
    /// The name of the numbers.
    pub what: String,
    /// The count of the numbers.
    pub numbers: usize,
    /// The largest absolute difference.
    pub largest: f64,
    /// The largest difference allowed on a CPU, in words.
    pub bound: &'static str,
    /// Whether every difference is within the bound.
    pub within: bool,
}

/// The largest difference from the recorded number that is allowed on a CPU: the largest of an absolute one, one relative
/// to the number, and one relative to the largest number of its array.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    absolute: f64,
    relative: f64,
    of_largest: f64,
    words: &'static str,
}

impl Bound {
    pub(super) const WEIGHTS: Self = Self::absolute(1e-6, "1e-6");
    pub(super) const CONTEXT: Self = Self {
        of_largest: 1e-6,
        ..Self::absolute(1e-6, "1e-6, or 1e-6 of the largest value")
    };
    pub(super) const SCORES: Self = Self::absolute(2e-6, "2e-6");
    pub(super) const LOGITS: Self = Self::absolute(5e-6, "5e-6");
    pub(super) const LOSS: Self = Self::absolute(1e-4, "1e-4");
    pub(super) const PROBABILITY: Self = Self::absolute(1e-3, "1e-3");
    pub(super) const GRADIENT: Self = Self {
        relative: 1e-4,
        ..Self::absolute(1e-6, "1e-6, or 1e-4 of the value")
    };

    const fn absolute(absolute: f64, words: &'static str) -> Self {
        Self {
            absolute,
            relative: 0.0,
            of_largest: 0.0,
            words,
        }
    }
}

/// Compares numbers one by one.
pub(super) fn compare(
    level: &'static str,
    what: String,
    ours: &[f32],
    theirs: &[f32],
    bound: Bound,
) -> Comparison {
    let mut largest = 0.0_f64;
    let mut within = ours.len() == theirs.len();
    let largest_value = theirs
        .iter()
        .fold(0.0_f32, |most, value| most.max(value.abs()));
    let absolute = bound
        .absolute
        .max(bound.of_largest * f64::from(largest_value));
    for (&ours, &theirs) in ours.iter().zip(theirs) {
        let difference = (f64::from(ours) - f64::from(theirs)).abs();
        largest = largest.max(difference);
        within &= difference <= absolute.max(bound.relative * f64::from(theirs).abs());
    }
    Comparison {
        level,
        what,
        numbers: theirs.len(),
        largest,
        bound: bound.words,
        within,
    }
}
