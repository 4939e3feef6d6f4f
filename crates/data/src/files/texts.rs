//! The texts of a file as token ids.

use std::collections::HashSet;

use super::complete::FileKeys;
use super::error::FileError;
use super::rows::{Rows, SampleContent};
use crate::cls::CLS;
use crate::config::DatasetConfig;
use crate::dataset::{Parts, TextCounts};
use crate::task::Task;
use crate::words::{Encoder, PAD, UNK, Words};

/// The most words of a text that a model takes, unless its config says otherwise: attention grows with their square.
const MOST_WORDS: usize = 128;

/// Without a number and without splits of its own, a file has this part of its texts held out.
const HELD_OUT_PART: usize = 5;

impl Rows {
    /// As [`complete`](Self::complete), for texts: the vocabulary comes from those that are trained on.
    pub(super) fn complete_texts(&self, mut keys: FileKeys) -> FileKeys {
        let own_split = (0..self.len()).any(|row| self.is_held_out(row));
        if keys.held_out.is_none() && keys.fold.is_none() && !own_split {
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
            let most = if are_values { usize::MAX } else { MOST_WORDS };
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

    /// As [`tokenized`](Self::tokenized), with the words of these held-out texts also counted by themselves.
    pub(super) fn tokenized_parts(
        &self,
        config: &DatasetConfig,
        held_out: &[usize],
    ) -> Result<(Self, TextCounts), FileError> {
        let held_out: HashSet<usize> = held_out.iter().copied().collect();
        let Some(words) = &config.words else {
            return Err(self.refuse(
                0,
                "the sample is a text, but the model was trained on token ids; give token ids",
            ));
        };
        let encoder = Encoder::new(words);
        let mut counts = TextCounts {
            parts: if self.are_values() {
                Parts::Values
            } else {
                config.parts()
            },
            ..TextCounts::default()
        };
        let mut rows = self.without_samples();
        for row in 0..self.len() {
            let text = self.text(row);
            let all = encoder.encode(text);
            let kept = &all[..all.len().min(config.seq_len)];
            let cut = all.len() - kept.len();
            let is_empty = all == [UNK] && words.count(text) == 0;
            let unknown =
                kept.iter().filter(|&&token| token == UNK).count() - usize::from(is_empty);
            counts.texts += 1;
            counts.empty += usize::from(is_empty);
            let words = kept.len() - usize::from(is_empty);
            counts.words += words;
            counts.unknown += unknown;
            if held_out.contains(&row) {
                counts.held_out_words += words;
                counts.held_out_unknown += unknown;
            }
            counts.cut_texts += usize::from(cut > 0);
            counts.cut_words += cut;
            if config.task == Task::NextToken {
                // `[CLS]` follows the last word, as it stands before the first.
                rows.following
                    .push(all.get(kept.len()).copied().unwrap_or(CLS));
            }
            let tokens: Vec<i64> = kept.iter().map(|&token| token.into()).collect();
            let pushed = rows.push_as(self, row, SampleContent::Tokens(&tokens));
            pushed.map_err(|reason| self.refuse(row, &reason))?;
        }
        Ok((rows, counts))
    }
}
