//! Labels against predicted classes, and the ratios of counts that follow from them.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// The most classes whose confusion is shown as a matrix.
const MATRIX_LIMIT: usize = 256;

/// How many samples of each class are classified as which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    n_classes: usize,
    /// Of each label and predicted class that occur together.
    samples: BTreeMap<[u32; 2], usize>,
}

/// How many samples of a class are classified correctly, and how many are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of the class, and classified as it.
    pub found: usize,
    /// Of the class, and classified as another.
    pub missed: usize,
    /// Of another class, and classified as this one.
    pub false_alarms: usize,
}

impl Confusion {
    /// The labels of samples and their predicted classes.
    pub fn of(n_classes: usize, samples: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut confusion = Self {
            n_classes,
            samples: BTreeMap::new(),
        };
        for sample in samples {
            *confusion.samples.entry(sample).or_insert(0) += 1;
        }
        confusion
    }

    /// For each label, how many of its samples are classified as which class; `None` with more than 256 classes.
    /// `[label, predicted]`
    pub fn matrix(&self) -> Option<Vec<Vec<usize>>> {
        if self.n_classes > MATRIX_LIMIT {
            return None;
        }
        let mut matrix = vec![vec![0; self.n_classes]; self.n_classes];
        for ([label, predicted], samples) in self.cells() {
            matrix[label][predicted] = samples;
        }
        Some(matrix)
    }

    /// Each label and predicted class that occur together, in order, and how many samples have them.
    pub fn cells(&self) -> impl Iterator<Item = ([usize; 2], usize)> {
        let cells = self.samples.iter();
        cells.map(|(classes, &samples)| (classes.map(|class| class as usize), samples))
    }
}

impl Serialize for Confusion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.matrix().serialize(serializer)
    }
}

impl Counts {
    /// The samples of the class.
    pub fn samples(&self) -> usize {
        self.found + self.missed
    }

    /// The samples that are classified as it.
    pub fn predicted(&self) -> usize {
        self.found + self.false_alarms
    }

    /// Share of samples of the class among those classified as it.
    pub fn precision(&self) -> Option<f64> {
        share(self.found, self.predicted())
    }

    /// Share of samples of the class that are classified as it.
    pub fn recall(&self) -> Option<f64> {
        share(self.found, self.samples())
    }

    /// Harmonic mean of precision and recall.
    pub fn f1(&self) -> Option<f64> {
        let twice = 2 * self.found;
        share(twice, twice + self.missed + self.false_alarms)
    }
}

/// Adds a sample to the counts of the classes.
///
/// # Panics
/// When there is no such class.
pub(crate) fn count_sample(counts: &mut [Counts], label: u32, predicted: u32) {
    if label == predicted {
        counts[label as usize].found += 1;
    } else {
        counts[label as usize].missed += 1;
        counts[predicted as usize].false_alarms += 1;
    }
}

/// F1 of class 1 of two; of more classes the mean over those that samples have or are classified as.
pub fn f1(counts: &[Counts]) -> Option<f64> {
    f1_over(counts, |class| counts[class] != Counts::default())
}

/// F1 of class 1 of two; of more classes the mean over those that `counts_class` accepts.
pub(crate) fn f1_over(counts: &[Counts], counts_class: impl Fn(usize) -> bool) -> Option<f64> {
    if let [_, positive] = counts {
        return positive.f1();
    }
    let chosen = (0..counts.len()).filter(|&class| counts_class(class));
    mean(chosen.map(|class| counts[class].f1().unwrap_or(0.0)))
}

/// A ratio of class 1 of two; of more classes its [mean](mean_over_classes).
pub(super) fn over_classes(counts: &[Counts], ratio: fn(&Counts) -> Option<f64>) -> Option<f64> {
    match counts {
        [_, positive] => ratio(positive),
        _ => mean_over_classes(counts, ratio),
    }
}

/// The mean of a ratio over the classes that samples have or are classified as. There a ratio without samples counts as
/// 0, as with scikit-learn's `average="macro", zero_division=0`.
pub(super) fn mean_over_classes(
    counts: &[Counts],
    ratio: fn(&Counts) -> Option<f64>,
) -> Option<f64> {
    let occurring = counts.iter().filter(|&&counts| counts != Counts::default());
    mean(occurring.map(|counts| ratio(counts).unwrap_or(0.0)))
}

/// The mean; `None` without values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
