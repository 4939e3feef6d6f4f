//! The texts of a file as token ids, and which samples are those of another file.

use std::collections::HashSet;

use super::complete::FileKeys;
use super::error::FileError;
use super::rows::{Rows, SampleContent};
use crate::cls::CLS;
use crate::config::DatasetConfig;
use crate::dataset::{Dataset, TextCounts, TextUnit};
use crate::task::Task;
use crate::words::{Encoder, PAD, UNK, VALUE_END, Words, composed, letters};

/// The most words of a text that a model takes, unless its config says otherwise: attention grows with their square.
const MAX_WORDS: usize = 128;

/// Without a number and without splits of its own, a file has this part of its samples held out.
pub const HELD_OUT_PART: usize = 5;

impl Rows {
    /// As [`complete`](Self::complete), for texts: the vocabulary comes from those that are trained on.
    pub(super) fn complete_texts(&self, mut keys: FileKeys) -> FileKeys {
        let has_split = (0..self.len()).any(|row| self.is_held_out(row));
        if keys.held_out.is_none() && keys.fold.is_none() && !has_split {
            keys.held_out = Some(self.len() / HELD_OUT_PART);
        }
        let are_values = self.are_values();
        let mut words = keys.words.take().unwrap_or_else(|| Words {
            // Values are taken as they are.
            lowercase: !are_values,
            ..Words::default()
        });
        if words.vocabulary.is_empty() {
            // Where the number of held-out texts is refused later, the vocabulary does not matter.
            let train = match keys.fold {
                Some(fold) => self.fold(fold, keys.seed),
                None => self.split(keys.held_out.unwrap_or(0), keys.seed, true),
            };
            let train = train.map_or_else(|_| Vec::new(), |(train, _)| train);
            words.learn(train.iter().map(|&row| self.text(row)));
        }
        let longest = || {
            let lengths = (0..self.len()).map(|row| words.count(self.text(row)));
            let most = if are_values { usize::MAX } else { MAX_WORDS };
            lengths.max().unwrap_or(0).clamp(1, most)
        };
        FileKeys {
            vocab_size: keys.vocab_size.or(Some(words.vocab_size())),
            seq_len: keys.seq_len.or_else(|| Some(longest())),
            padding_token: keys.padding_token.or(Some(PAD)),
            words: Some(words),
            ..keys
        }
    }

    /// The texts that a config holds out, in the order of the held-out samples.
    pub fn held_out_texts(&self, config: &DatasetConfig) -> Vec<&str> {
        let (_, held_out) = self.parts(config).unwrap_or_default();
        held_out.into_iter().map(|row| self.text(row)).collect()
    }

    /// The same samples as token ids, at most [`seq_len`](DatasetConfig::seq_len) each, and what became of the words.
    ///
    /// # Errors
    /// When the samples are texts, and the config has no words.
    pub fn tokenized(&self, config: &DatasetConfig) -> Result<(Self, TextCounts), FileError> {
        self.tokenized_parts(config, &[])
    }

    /// As [`tokenized`](Self::tokenized), with the words of these held-out texts also counted by themselves. A window of training has no
    /// held-out token after it.
    pub(super) fn tokenized_parts(
        &self,
        config: &DatasetConfig,
        held_out: &[usize],
    ) -> Result<(Self, TextCounts), FileError> {
        let Some(words) = &config.words else {
            return Err(self.refuse(
                0,
                "the sample is a text, but the model was trained on token ids; give token ids",
            ));
        };
        let held_out: HashSet<usize> = held_out.iter().copied().collect();
        let encoder = Encoder::new(words);
        let unit = if self.are_values() {
            TextUnit::Values
        } else {
            config.text_unit()
        };
        let mut counts = TextCounts {
            texts: self.len(),
            unit,
            ..TextCounts::default()
        };
        let mut rows = self.clone();
        for (row, sample) in rows.samples.iter_mut().enumerate() {
            let text = self.text(row);
            let mut tokens = encoder.encode(text);
            if config.task == Task::NextToken {
                // `[CLS]` follows the last word, as it stands before the first.
                let next = tokens.get(config.seq_len);
                let next = next.copied().or((!words.one_text).then_some(CLS));
                sample.following = next;
            }
            let is_empty = tokens == [UNK] && words.count(text) == 0;
            let cut = tokens.len().saturating_sub(config.seq_len);
            tokens.truncate(config.seq_len);
            counts.empty += usize::from(is_empty);
            counts.cut_texts += usize::from(cut > 0);
            counts.cut_words += cut;
            if !is_empty {
                let unknown = tokens.iter().filter(|&&token| token == UNK).count();
                counts.words += tokens.len();
                counts.unknown += unknown;
                if held_out.contains(&row) {
                    counts.held_out_words += tokens.len();
                    counts.held_out_unknown += unknown;
                }
            }
            sample.content = SampleContent::Tokens(tokens);
        }
        // What is trained on ends where the held-out part begins.
        let is_followed = |&row: &usize| {
            self.are_windows && held_out.contains(&row) == held_out.contains(&(row - 1))
        };
        for row in (1..rows.len()).filter(is_followed) {
            rows.samples[row - 1].following = Some(rows.tokens(row)[0]);
        }
        Ok((rows, counts))
    }

    /// How many texts of these rows are also texts of other rows.
    pub(super) fn equal(&self, rows: &[usize], other: &Self, others: &[usize]) -> usize {
        let others = others.iter().filter_map(|&row| plain(other.text(row)));
        let known: HashSet<String> = others.collect();
        let texts = rows.iter().filter_map(|&row| plain(self.text(row)));
        texts.filter(|text| known.contains(text)).count()
    }

    /// How many of some of these texts are also among those of `training_file` that a model of a config was trained on. `None` if
    /// either are no texts, or do not fit the config.
    pub fn trained_on_texts(
        &self,
        rows: &[usize],
        training_file: &Self,
        config: &DatasetConfig,
    ) -> Option<usize> {
        let (train, _) = training_file.parts(config).ok()?;
        (self.are_texts() && training_file.are_texts())
            .then(|| self.equal(rows, training_file, &train))
    }

    /// How many of these rows' samples are equal to training samples of a model. `None` if they do not fit the config.
    pub fn trained_on(
        &self,
        rows: &[usize],
        train: &Dataset,
        config: &DatasetConfig,
        padding_token: Option<u32>,
    ) -> Option<usize> {
        let given = self.dataset(config, padding_token).ok()?;
        Some(given.select(rows).known_from(train))
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
