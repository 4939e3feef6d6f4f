//! Which samples are the same: texts apart from case, blanks and punctuation, and others as they are.

use std::collections::HashSet;

use super::rows::Rows;
use crate::config::DatasetConfig;
use crate::dataset::Dataset;
use crate::words::{VALUE_END, composed, letters};

impl Rows {
    /// How many texts of these rows are also texts of other rows.
    pub(super) fn equal(&self, rows: &[usize], other: &Self, others: &[usize]) -> usize {
        let others = others.iter().filter_map(|&row| plain(other.text(row)));
        let known: HashSet<String> = others.collect();
        let own = rows.iter().filter_map(|&row| plain(self.text(row)));
        own.filter(|text| known.contains(text)).count()
    }

    /// How many of some of these texts are also among those of `own` that a model of a config was trained on. `None` if either are
    /// no texts, or do not fit the config.
    pub fn trained_on_texts(
        &self,
        rows: &[usize],
        own: &Self,
        config: &DatasetConfig,
    ) -> Option<usize> {
        let (train, _) = own.parts(config).ok()?;
        (self.are_texts() && own.are_texts()).then(|| self.equal(rows, own, &train))
    }

    /// How many of some of these samples equal training samples of a model. `None` if they do not fit the config.
    pub fn trained_on(
        &self,
        rows: &[usize],
        train: &Dataset,
        config: &DatasetConfig,
        padding_token: Option<u32>,
    ) -> Option<usize> {
        let given = self.dataset(config, padding_token).ok()?;
        let known: HashSet<&[u32]> = (0..train.len())
            .map(|sample| train.tokens(sample))
            .collect();
        let is_known = |&&row: &&usize| known.contains(given.tokens(row));
        Some(rows.iter().filter(is_known).count())
    }
}

/// A text in lower case without blanks and punctuation; `None` if nothing is left. Of values of columns, all characters count.
fn plain(text: &str) -> Option<String> {
    if text.ends_with(VALUE_END) {
        return Some(text.to_owned());
    }
    let letters: String = letters(&composed(text))
        .flat_map(char::to_lowercase)
        .collect();
    (!letters.is_empty()).then_some(letters)
}
