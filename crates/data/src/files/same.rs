//! Which samples are the same: texts apart from case, blanks and punctuation, and others as they are.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use headlight_keys::InvalidValue;

use super::rows::Rows;
use crate::config::DatasetConfig;
use crate::dataset::Dataset;
use crate::words::{VALUE_END, letters};

impl Rows {
    /// How many held-out texts are also training texts.
    pub(super) fn repeated(&self, config: &DatasetConfig) -> Result<usize, InvalidValue> {
        if self.are_values() {
            return Ok(0);
        }
        let (train, held_out) = self.parts(config)?;
        let hashed = |&row: &usize| hash(self.text(row));
        let known: HashSet<u64> = train.iter().filter_map(hashed).collect();
        let held_out = held_out.iter().filter_map(hashed);
        Ok(held_out.filter(|hash| known.contains(hash)).count())
    }

    /// How many of these samples a model of a config was trained on, where it was trained on some of `own`. `None` if samples
    /// of either do not fit the config.
    pub fn trained_on(
        &self,
        own: &Self,
        config: &DatasetConfig,
        padding_token: Option<u32>,
    ) -> Option<usize> {
        let (train, _) = own.parts(config).ok()?;
        if self.are_texts() && own.are_texts() {
            let hash =
                |rows: &Self, row| hash(rows.text(row)).unwrap_or_else(|| plain(rows.text(row)));
            let known = train.iter().map(|&row| hash(own, row));
            return Some(count(known, (0..self.len()).map(|row| hash(self, row))));
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

/// How many samples are among the known ones, each of which counts once.
fn count(known: impl Iterator<Item = u64>, given: impl Iterator<Item = u64>) -> usize {
    let mut left: HashMap<u64, usize> = HashMap::new();
    known.for_each(|hash| *left.entry(hash).or_default() += 1);
    let is_left = |hash: &u64| {
        let left = left.get_mut(hash).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    given.filter(is_left).count()
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
fn hash(text: &str) -> Option<u64> {
    if text.ends_with(VALUE_END) {
        return Some(plain(text));
    }
    let mut letters = letters(text).flat_map(char::to_lowercase).peekable();
    letters.peek()?;
    let mut hasher = DefaultHasher::new();
    letters.for_each(|letter| letter.hash(&mut hasher));
    Some(hasher.finish())
}
