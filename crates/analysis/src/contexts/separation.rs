//! How far vectors of different classes are apart.

use std::collections::{BTreeMap, BTreeSet};

use headlight_data::Dataset;

use super::{ContextLevel, Occurrence};

/// The fewest occurrences of a class whose separation from others is measured. Of one occurrence in each of two classes,
/// the separation is 1 wherever the vectors are; of three in each, a random division of them separates a fifth.
pub const MIN_OCCURRENCES_PER_CLASS: usize = 3;

/// The occurrences that a sample's class is about, if two classes have enough of them.
#[derive(Clone, Debug)]
pub struct Separation {
    /// How many occurrences each class is about.
    pub classes: BTreeMap<u32, usize>,
    /// Those that count: their indices among all, their tokens and their classes.
    counted: Vec<(usize, u32, u32)>,
}

impl Separation {
    /// Of the occurrences in a dataset.
    pub fn of(occurrences: &[Occurrence], dataset: &Dataset) -> Self {
        let asked = occurrences
            .iter()
            .enumerate()
            .filter(|(_, found)| found.is_asked);
        let label = |found: &Occurrence| dataset.label(found.sample as usize);
        let asked = asked.map(|(index, found)| (index, found.token, label(found)));
        let mut counted: Vec<(usize, u32, u32)> = asked.collect();
        let mut classes = BTreeMap::new();
        for &(_, _, class) in &counted {
            *classes.entry(class).or_default() += 1;
        }
        let is_enough = |count: usize| count >= MIN_OCCURRENCES_PER_CLASS;
        let is_measured = classes.values().filter(|&&count| is_enough(count)).count() > 1;
        counted.retain(|(_, _, class)| is_measured && is_enough(classes[class]));
        Self { classes, counted }
    }

    /// What the separation is on average if the classes have no meaning; `None` if it is not measured.
    pub fn chance(&self) -> Option<f64> {
        let words: BTreeSet<u32> = self.counted.iter().map(|&(_, token, _)| token).collect();
        let classes: BTreeSet<u32> = self.counted.iter().map(|&(_, _, class)| class).collect();
        let free = self.counted.len().checked_sub(words.len())?;
        let chance = classes.len().saturating_sub(1) as f64 / free as f64;
        (classes.len() > 1 && free > 0).then(|| chance.min(1.0))
    }

    /// The share of the variance at a place of the model that is between the means of the classes (the correlation ratio, η²).
    /// 0: the means of the classes are equal; 1: all vectors of a class are equal. `None` if it is not measured, or the vectors
    /// do not differ.
    ///
    /// Words differ from each other, so each vector is taken from the mean of its word's.
    pub fn at(&self, level: &ContextLevel, width: usize) -> Option<f64> {
        let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
        let [mut all, mut total, mut within] = [0.0; 3];
        for index in 0..width {
            let rows = self.counted.iter().map(|&(row, ..)| row);
            let numbers = rows.map(|row| f64::from(level.vectors[row * width + index]));
            let values: Vec<f64> = numbers.collect();
            let from_words = self.centred(&values, |&(_, token, _)| token);
            let from_classes = self.centred(&from_words, |&(_, _, class)| class);
            all += squares(&values);
            total += squares(&from_words);
            within += squares(&from_classes);
        }
        (total > 1e-12 * all).then(|| 1.0 - within / total)
    }

    /// Values of the occurrences that count, each taken from the mean of its group.
    fn centred(&self, values: &[f64], group: fn(&(usize, u32, u32)) -> u32) -> Vec<f64> {
        let pairs = || self.counted.iter().map(group).zip(values);
        let mut means: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (group, value) in pairs() {
            let (sum, count) = means.entry(group).or_default();
            *sum += value;
            *count += 1.0;
        }
        let centred = pairs().map(|(group, value)| value - means[&group].0 / means[&group].1);
        centred.collect()
    }
}
