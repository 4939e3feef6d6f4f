//! The samples of a file as they stand there: before `[CLS]` and padding are added, and labels become classes.

use std::fmt;

use super::error::FileError;
use super::labels::{Label, Labels, whole_number};
use crate::config::DatasetConfig;
use crate::task::{IGNORED, Task};
use crate::words::VALUE_END;

/// The largest token id: a model has a parameter for each, and at most one more than this.
const MAX_TOKEN_ID: u32 = (1 << 28) - 1;

/// The label of a token that does not count, as PyTorch has it.
pub(super) const NOT_COUNTED: i64 = -100;

/// Labels that usually stand for a missing one, in lower case.
const MISSING: [&str; 5] = ["na", "n/a", "nan", "null", "<na>"];

/// The place of a sample in its file, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// A line of a text file, counted from 1.
    Line(u32),
    /// A row of an array, counted from 0. Pages read no arrays.
    #[cfg_attr(target_family = "wasm", allow(dead_code))]
    Row { held_out: bool, row: u32 },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row { held_out, row } => {
                let array = if *held_out {
                    "held_out_tokens"
                } else {
                    "tokens"
                };
                write!(f, "`{array}`, sample {row}")
            }
        }
    }
}

/// What a sample holds.
#[derive(Clone, Debug)]
pub(super) enum SampleContent {
    /// Token ids.
    Tokens(Vec<u32>),
    /// Words, or the [values](value) of columns.
    Text(String),
}

impl SampleContent {
    /// Token ids of a file.
    pub(super) fn of_ids(ids: impl IntoIterator<Item = i64>) -> Result<Self, String> {
        let tokens = ids.into_iter().map(token_id).collect::<Result<_, _>>()?;
        Ok(Self::Tokens(tokens))
    }

    /// A text of words, between which the end of a value means no more than a blank does.
    pub(super) fn of_words(text: &str) -> Self {
        Self::Text(text.replace(VALUE_END, " "))
    }
}

/// The labels of a sample.
pub(super) enum SampleLabels {
    /// One for the sample, or none.
    One(Option<Label>),
    /// One for each token, or `None` where none counts.
    PerToken(Vec<Option<Label>>),
}

/// A sample as a reader finds it.
pub(super) struct FoundSample {
    pub(super) held_out: bool,
    pub(super) labels: SampleLabels,
    pub(super) content: SampleContent,
}

impl FoundSample {
    /// A training sample without a label.
    pub(super) fn unlabelled(content: SampleContent) -> Self {
        Self {
            held_out: false,
            labels: SampleLabels::One(None),
            content,
        }
    }
}

/// A sample whose labels are known by their index.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) place: Place,
    pub(super) held_out: bool,
    pub(super) label: Option<u32>,
    /// For each token the index of its label, or [`IGNORED`].
    pub(super) token_labels: Option<Vec<u32>>,
    pub(super) content: SampleContent,
    /// The token that follows the last one, if the sample was cut, or if its end is known.
    pub(super) following: Option<u32>,
}

/// Why the samples of a file have no labels.
#[derive(Clone, Debug)]
pub(super) enum Unlabelled {
    /// They are lines of text.
    Lines,
    /// No column is that of labels. A sentence lists the columns.
    NoColumn(String),
}

/// The samples of a file, in its order.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// What messages call the file.
    pub(super) name: String,
    pub(super) labels: Labels,
    /// The names of the classes and the padding token, where the file has them itself.
    pub(super) classes: Vec<String>,
    pub(super) padding_token: Option<u32>,
    /// Why no sample can have a label.
    pub(super) unlabelled: Option<Unlabelled>,
    /// How the file writes the weight of each sample, if it has weights; an array has none for held-out samples, which are last.
    pub(super) weights: Option<Vec<String>>,
    pub(super) samples: Vec<Sample>,
    /// Whether they are windows of one text, each of which follows the one before it.
    pub(super) are_windows: bool,
}

impl Rows {
    /// The samples that a reader finds at these places of the file that messages call `name`.
    pub(super) fn collect(
        name: impl fmt::Display,
        found: impl Iterator<Item = (Place, Result<FoundSample, String>)>,
    ) -> Result<Self, FileError> {
        let mut rows = Self {
            name: name.to_string(),
            ..Self::default()
        };
        for (place, found) in found {
            if let Err(reason) = found.and_then(|found| rows.push(place, found)) {
                return Err(FileError::new(&rows.name, format!("{place}: {reason}")));
            }
        }
        if rows.is_empty() {
            return Err(FileError::new(&rows.name, "it holds no samples"));
        }
        Ok(rows)
    }

    fn push(&mut self, place: Place, found: FoundSample) -> Result<(), String> {
        let (count, kind, others) = match &found.content {
            SampleContent::Tokens(tokens) if tokens.is_empty() => {
                return Err("the sample has no tokens".to_owned());
            }
            SampleContent::Tokens(tokens) => (tokens.len(), "tokens", "text"),
            SampleContent::Text(_) => (0, "text", "tokens"),
        };
        if !self.is_empty() && self.are_texts() != (count == 0) {
            return Err(format!(
                "the sample has {kind}, but those before it have {others}"
            ));
        }
        let (mut label, mut token_labels) = (None, None);
        match found.labels {
            SampleLabels::One(one) => {
                label = one.map(|label| self.labels.index(label)).transpose()?;
            }
            SampleLabels::PerToken(labels) if labels.len() != count => {
                return Err(format!(
                    "the sample has {count} tokens and {} labels; give a label for each token, or null where none counts",
                    labels.len()
                ));
            }
            SampleLabels::PerToken(labels) => {
                let index = |label| match label {
                    None | Some(Label::Number(NOT_COUNTED)) => Ok(IGNORED),
                    Some(label) => self.labels.index(label),
                };
                token_labels = Some(labels.into_iter().map(index).collect::<Result<_, _>>()?);
            }
        }
        self.samples.push(Sample {
            place,
            held_out: found.held_out,
            label,
            token_labels,
            content: found.content,
            following: None,
        });
        Ok(())
    }

    /// The same samples, each with the token that follows it, for samples whose next token is asked.
    #[must_use]
    pub fn followed_by(mut self, following: impl IntoIterator<Item = u32>) -> Self {
        for (sample, token) in self.samples.iter_mut().zip(following) {
            sample.following = Some(token);
        }
        self
    }

    /// What messages call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Whether samples have a label per token.
    pub fn has_token_labels(&self) -> bool {
        let mut samples = self.samples.iter();
        samples.any(|sample| sample.token_labels.is_some())
    }

    /// Says which labels of the config's task are missing, and what to do; `None` if all samples have them. For a file without a
    /// column of labels, it also suggests the `remedy`.
    pub fn missing_labels(&self, config: &DatasetConfig, remedy: &str) -> Option<String> {
        match config.task {
            Task::NextToken => None,
            Task::TokenClassification if self.has_token_labels() && self.labels.len() == 0 => {
                Some("all labels are null; give one that is not".to_owned())
            }
            Task::TokenClassification if self.has_token_labels() => {
                let lacks = |row: usize| self.samples[row].token_labels.is_none();
                let (place, share) = self.share(lacks)?;
                Some(format!(
                    "{place}: the sample has no label per token ({share} have none); give it `labels`, without a `label` beside them, or delete the row"
                ))
            }
            Task::TokenClassification => Some(
                "the samples have no label per token; give `labels`, in .jsonl as a list beside `tokens`, in .npz with two axes"
                    .to_owned(),
            ),
            Task::Classification if self.has_token_labels() => Some(
                "the samples have a label per token, for which data.task is \"token-classification\"; here each sample needs one label"
                    .to_owned(),
            ),
            Task::Classification => {
                let (place, share) = self.share(|row| self.label(row).is_none())?;
                let column = config.columns.label_name();
                let none = format!("{place}: the sample has no label ({share} have none)");
                Some(match (&self.unlabelled, place) {
                    (Some(Unlabelled::Lines), _) => format!("its lines have no labels; give a .csv, .tsv or .jsonl file with a column `{column}`"),
                    (Some(Unlabelled::NoColumn(listed)), _) => format!("it has no column `{column}`; add it, or {remedy}; {listed}"),
                    (None, Place::Row { .. }) => format!("{none}: add the array `labels`, with a label for each sample"),
                    (None, Place::Line(_)) => format!("{none}: its `{column}` is empty; fill it in, or delete the row"),
                })
            }
        }
    }

    /// Whether a label is the number of a class, and not its name, in a config whose classes have names.
    pub fn has_numbered_labels(&self, config: &DatasetConfig) -> bool {
        self.labels.has_number(&config.classes)
    }

    /// Whether samples are texts, and not token ids.
    pub fn are_texts(&self) -> bool {
        let first = self.samples.first();
        first.is_some_and(|first| matches!(first.content, SampleContent::Text(_)))
    }

    /// Whether samples are values of columns, each a position.
    pub(super) fn are_values(&self) -> bool {
        !self.is_empty() && self.text(0).ends_with(VALUE_END)
    }

    /// The token ids of a sample; none if it is a text.
    pub(super) fn tokens(&self, row: usize) -> &[u32] {
        match &self.samples[row].content {
            SampleContent::Tokens(tokens) => tokens,
            SampleContent::Text(_) => &[],
        }
    }

    /// The text of a sample; empty if it holds token ids.
    pub(super) fn text(&self, row: usize) -> &str {
        match &self.samples[row].content {
            SampleContent::Text(text) => text,
            SampleContent::Tokens(_) => "",
        }
    }

    pub(super) fn refuse(&self, row: usize, reason: &str) -> FileError {
        FileError::new(&self.name, format!("{}: {reason}", self.place(row)))
    }

    /// The index of the sample's label, if it has one.
    pub(super) fn label(&self, row: usize) -> Option<u32> {
        self.samples[row].label
    }

    /// Whether the file holds a sample out.
    ///
    /// # Panics
    /// When there is no such sample.
    pub fn is_held_out(&self, row: usize) -> bool {
        self.samples[row].held_out
    }

    pub(super) fn place(&self, row: usize) -> Place {
        self.samples[row].place
    }

    /// What a reader should know of the rows, as sentences: labels that hardly differ; empty cells of these columns, if they are the
    /// samples; labels that read as missing.
    pub fn notes(&self, features: &[String]) -> Vec<String> {
        let mut sentences = self.labels.notes();
        for (column, name) in features.iter().enumerate().filter(|_| self.are_values()) {
            let empty = value(name, "");
            let cell = |row: usize| self.text(row).split_inclusive(VALUE_END).nth(column);
            if let Some((first, share)) = self.share(|row| cell(row) == Some(&*empty)) {
                let empty = empty.trim_end_matches(VALUE_END);
                sentences.push(format!(
                    "the column `{name}` is empty in {share} rows, first in {first}; an empty cell counts as a value, `{empty}`; if \
                     that is wrong, fill these cells in, or delete the rows"
                ));
            }
        }
        for index in 0..self.labels.len() as u32 {
            let label = self.labels.text(index);
            if MISSING.contains(&label.to_lowercase().as_str())
                && let Some((first, share)) = self.share(|row| self.label(row) == Some(index))
            {
                sentences.push(format!(
                    "the label `{label}` of {share} rows, first in {first}, is a class of its own; if it stands for a missing label, \
                     delete these rows"
                ));
            }
        }
        sentences
    }

    /// The place of the first sample that is so, and how many of all are; `None` if none is.
    fn share(&self, is_so: impl Fn(usize) -> bool) -> Option<(Place, String)> {
        let mut rows = (0..self.len()).filter(|&row| is_so(row));
        let first = self.place(rows.next()?);
        Some((first, format!("{} of {}", 1 + rows.count(), self.len())))
    }
}

/// The word that stands for a value of a column, and what ends it. No value has blanks around it, and no whole number a fraction.
pub(super) fn value(column: &str, value: &str) -> String {
    let plain = |text: &str| text.replace(char::is_control, " ");
    let (column, value) = (plain(column), plain(value));
    let value = match value.trim() {
        number if whole_number(number).is_some() => number.split('.').next().unwrap_or_default(),
        value => value,
    };
    format!("{column}={value}{VALUE_END}")
}

/// A token id of a file.
pub(super) fn token_id(number: i64) -> Result<u32, String> {
    let id = u32::try_from(number).ok().filter(|&id| id <= MAX_TOKEN_ID);
    id.ok_or_else(|| not_an_id(&number))
}

/// Why something is no token id.
pub(super) fn not_an_id(found: &dyn fmt::Display) -> String {
    format!("{found} is not a token id; ids are whole numbers from 0 to {MAX_TOKEN_ID}")
}

/// Whether samples of a split are held out.
pub(super) fn is_held_out(split: &str) -> Result<bool, String> {
    match split {
        "train" => Ok(false),
        "held_out" | "val" | "validation" | "test" => Ok(true),
        _ => Err(format!(
            "unknown split `{split}`; use train or held_out (val, validation and test are held out too)"
        )),
    }
}
