//! Which samples are the same: texts apart from case, blanks and punctuation, and others as they are.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::rows::Rows;
use crate::config::DatasetConfig;
use crate::dataset::Dataset;
use crate::words::{VALUE_END, letters};

impl Rows {
    /// How many texts of these rows are also texts of other rows.
    pub(super) fn equal(&self, rows: &[usize], other: &Self, others: &[usize]) -> usize {
        let others = others.iter().filter_map(|&row| of_text(other.text(row)));
        count(
            others,
            rows.iter().filter_map(|&row| of_text(self.text(row))),
        )
    }

    /// How many of these samples equal samples that a model of a config was trained on, where it was trained on some of `own`.
    /// `None` if samples of either do not fit the config.
    pub fn trained_on(
        &self,
        own: &Self,
        config: &DatasetConfig,
        padding_token: Option<u32>,
    ) -> Option<usize> {
        let (train, _) = own.parts(config).ok()?;
        if self.are_texts() && own.are_texts() {
            let all: Vec<usize> = (0..self.len()).collect();
            return Some(self.equal(&all, own, &train));
        }
        let own = own.dataset(config, padding_token).ok()?;
        let given = self.dataset(config, padding_token).ok()?;
        let known = train.iter().map(|&row| plain(own.tokens(row)));
        Some(count(known, tokens(&given)))
    }

    /// As [`trained_on`](Self::trained_on), of training samples that a config generates.
    pub fn trained_on_generated(
        &self,
        train: &Dataset,
        config: &DatasetConfig,
        padding_token: Option<u32>,
    ) -> Option<usize> {
        let given = self.dataset(config, padding_token).ok()?;
        Some(count(tokens(train), tokens(&given)))
    }
}

/// How many samples are among the known ones.
fn count(known: impl Iterator<Item = u64>, given: impl Iterator<Item = u64>) -> usize {
    let known: HashSet<u64> = known.collect();
    given.filter(|sample| known.contains(sample)).count()
}

fn tokens(dataset: &Dataset) -> impl Iterator<Item = u64> {
    (0..dataset.len()).map(|sample| plain(dataset.tokens(sample)))
}

/// Stands for a sample as it is.
fn plain(sample: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    sample.hash(&mut hasher);
    hasher.finish()
}

/// Stands for a text in lower case without blanks and punctuation; `None` if nothing is left. Of values of columns, all
/// characters count.
fn of_text(text: &str) -> Option<u64> {
    if text.ends_with(VALUE_END) {
        return Some(plain(text));
    }
    let mut letters = letters(text).flat_map(char::to_lowercase).peekable();
    letters.peek()?;
    let mut hasher = DefaultHasher::new();
    letters.for_each(|letter| letter.hash(&mut hasher));
    Some(hasher.finish())
}
