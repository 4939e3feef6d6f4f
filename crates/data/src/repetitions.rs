//! Samples that say little about a model, because it was trained on the same ones.

use std::collections::HashSet;

use crate::config::{DatasetConfig, Source};
use crate::dataset::{Dataset, Splits, TextUnit};
use crate::test_set::TestSet;

impl Splits {
    /// Which samples of a file or of these test sets are also training samples, and how many; empty if there are none.
    pub fn repetitions(&self, config: &DatasetConfig, tests: &[TestSet]) -> Vec<(String, usize)> {
        let held_out = match (&config.source, &self.texts) {
            (Source::Generated(_), _) => ("", 0),
            (_, None) => (
                "Held-out samples with the tokens of a training sample",
                self.held_out.known_from(&self.train),
            ),
            (_, Some(texts)) if texts.unit == TextUnit::Values => (
                "Held-out rows that have the values of a training row",
                texts.repeated,
            ),
            (_, Some(texts)) => (
                "Held-out texts that are also training texts, ignoring case, blanks and punctuation",
                texts.repeated,
            ),
        };
        let tests = tests.iter().zip(&self.tests).map(|(test, samples)| {
            let name = &test.name;
            let what = format!("Samples of test set `{name}` with the tokens of a training sample");
            (what, samples.known_from(&self.train))
        });
        let all = [held_out].map(|(what, count)| (what.to_owned(), count));
        let all = all.into_iter().chain(tests);
        all.filter(|&(_, count)| count > 0).collect()
    }
}

impl Dataset {
    /// How many of these samples have the tokens of a training sample.
    pub fn known_from(&self, train: &Self) -> usize {
        let known: HashSet<&[u32]> = (0..train.len())
            .map(|sample| train.tokens(sample))
            .collect();
        let is_known = |&sample: &usize| known.contains(self.tokens(sample));
        (0..self.len()).filter(is_known).count()
    }
}
