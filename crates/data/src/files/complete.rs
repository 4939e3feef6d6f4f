//! The keys of a config whose values its dataset file can give.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::rows::Rows;
use crate::cls::{CLS, ClsPlace};
use crate::config::{ColumnNames, DatasetConfig, Source};
use crate::fold::Fold;
use crate::task::Task;
use crate::words::Words;

/// The keys of a config whose values its dataset file can give; `None` where the config does not set one. Those that the file does
/// not give are not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FileKeys {
    /// `data.seed`, which the file does not give: with `held_out`, it decides which texts give their words.
    #[serde(default, skip_serializing)]
    pub seed: u64,
    /// `data.task`, which the file does not give: it says what the classes are.
    #[serde(default, skip_serializing)]
    pub task: Task,
    /// `data.held_out`, which only texts give.
    pub held_out: Option<usize>,
    /// `data.fold`, which the file does not give: it decides in place of `held_out`.
    #[serde(skip_serializing)]
    pub fold: Option<Fold>,
    /// `data.words`, which only texts give.
    pub words: Option<Words>,
    /// `data.vocab_size`.
    pub vocab_size: Option<u32>,
    /// `data.seq_len`.
    pub seq_len: Option<usize>,
    /// `data.n_classes`.
    pub n_classes: Option<usize>,
    /// `data.classes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// `data.cls`, which the file does not give: it says where the file's `[CLS]` is, if it has one.
    #[serde(default, skip_serializing)]
    pub cls: ClsPlace,
    /// `model.attention.padding_token`.
    #[serde(skip)]
    pub padding_token: Option<u32>,
}

impl FileKeys {
    /// Whether they leave nothing to a file with these columns, as those of a run's own config.
    pub fn are_complete(&self, columns: &ColumnNames) -> bool {
        let has_sizes =
            self.vocab_size.is_some() && self.seq_len.is_some() && self.n_classes.is_some();
        let is_of_tokens = columns.text.is_none() && columns.features.is_empty();
        let has_words = |words: &Words| !words.vocabulary.is_empty();
        has_sizes && self.words.as_ref().map_or(is_of_tokens, has_words)
    }

    /// The config of a file's samples, to which these keys are [complete](Rows::complete).
    pub fn config(self, file: impl Into<PathBuf>, columns: ColumnNames) -> DatasetConfig {
        DatasetConfig {
            seed: self.seed,
            task: self.task,
            source: Source::File(file.into()),
            columns,
            words: self.words,
            vocab_size: self.vocab_size.unwrap_or_default(),
            seq_len: self.seq_len.unwrap_or_default(),
            n_classes: self.n_classes.unwrap_or_default(),
            classes: self.classes.unwrap_or_default(),
            cls: self.cls,
            held_out: self.held_out.unwrap_or_default(),
            fold: self.fold,
            label_noise: 0.0,
            rule: None,
        }
    }
}

impl Rows {
    /// Fills in the keys that a config does not set, so that these samples fit. Keys that contradict the samples
    /// stay as they are: [`fit`](Self::fit) refuses them.
    ///
    /// If samples differ in length, the padding token is that of the file, or else one past the largest id.
    #[must_use]
    pub fn complete(&self, keys: FileKeys) -> FileKeys {
        let keys = if self.are_texts() {
            self.complete_texts(keys)
        } else {
            keys
        };
        let cls = usize::from(self.has_cls(keys.cls));
        let lengths = (0..self.len()).map(|row| self.tokens(row).len() - cls);
        let longest = lengths.clone().max().unwrap_or(0);
        let is_ragged = lengths.min().is_some_and(|shortest| shortest < longest);
        let all = (0..self.len()).flat_map(|row| self.tokens(row));
        let largest = all.copied().max().unwrap_or(0);
        // The ids of a vocabulary that the config sets are tokens, all of them.
        let adds_padding = is_ragged && keys.vocab_size.is_none();
        // Where 0 is padding, it cannot be so for a model with [CLS], which is 0.
        let of_file = self.padding_token;
        let of_file = of_file.filter(|&token| token >= keys.cls.first_token());
        let padding_token = keys.padding_token.or(of_file);
        let padding_token = padding_token.or(adds_padding.then_some(largest + 1));
        let last = largest.max(padding_token.unwrap_or(1)).max(1);
        let numbered = keys.n_classes.is_some() && self.labels.are_numbers();
        let classes = keys.classes.or_else(|| {
            // With one label alone, training is refused for that reason.
            let names = match &self.classes[..] {
                [] => self.labels.names(),
                names => names.to_vec(),
            };
            (!numbered && names.len() > 1).then_some(names)
        });
        let vocab_size = keys.vocab_size.unwrap_or(last.saturating_add(1));
        let found = match keys.task {
            Task::NextToken => vocab_size as usize,
            _ => classes.as_ref().map_or(self.labels.len(), Vec::len),
        };
        FileKeys {
            vocab_size: Some(vocab_size),
            seq_len: keys.seq_len.or(Some(longest)),
            n_classes: keys.n_classes.or(Some(found.max(2))),
            classes,
            padding_token,
            ..keys
        }
    }

    /// Whether samples hold `[CLS]` in this place, as the first one does.
    pub(super) fn has_cls(&self, place: ClsPlace) -> bool {
        !self.is_empty() && place.is_in(self.tokens(0))
    }

    /// Whether `[CLS]` is last in every sample, and nowhere else.
    pub fn ends_in_cls(&self) -> bool {
        let ends = |row| {
            self.tokens(row).iter().position(|&token| token == CLS)
                == self.tokens(row).len().checked_sub(1)
        };
        (0..self.len()).all(|row| self.tokens(row).len() > 1 && ends(row))
    }
}
