//! The samples of a file as they stand there: before `[CLS]` and padding are added, and labels become classes.

use std::fmt;

use super::error::FileError;
use super::labels::{Label, Labels, whole_number};
use crate::config::DatasetConfig;
use crate::task::{IGNORED, Task};
use crate::words::VALUE_END;

/// One more than the largest token id: a model has a parameter for each, and at most as many as this.
const TOKEN_LIMIT: u32 = 1 << 28;

/// The label of a token that does not count, as PyTorch has it.
pub(super) const NOT_COUNTED: i64 = -100;

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

/// What all samples of a file hold, one after the other.
#[derive(Clone, Debug)]
enum Content {
    Tokens(Vec<u32>),
    Texts(String),
}

impl Default for Content {
    fn default() -> Self {
        Self::Tokens(Vec::new())
    }
}

/// What one sample holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum SampleContent<'a> {
    /// Token ids.
    Tokens(&'a [i64]),
    /// Words, or the [values](value) of columns.
    Text(&'a str),
}

/// What is known of a sample besides.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The end of its content.
    end: u32,
    place: Place,
    held_out: bool,
    /// The index of its label.
    label: Option<u32>,
    /// Whether each of its tokens has a label.
    has_each: bool,
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
    /// Why there are no labels, if a config names a column that the file lacks.
    pub(super) unlabelled: Option<String>,
    content: Content,
    samples: Vec<Sample>,
    /// The index of the label of each token, or [`IGNORED`], in samples that have one per token; else empty.
    each: Vec<u32>,
    /// For each sample that was cut, or whose end is known: the token that follows its last one. Else empty.
    pub(super) following: Vec<u32>,
}

impl Rows {
    pub(super) fn new(name: impl fmt::Display) -> Self {
        Self {
            name: name.to_string(),
            ..Self::default()
        }
    }

    /// The same with the token that follows each sample, for samples whose next token is asked.
    #[must_use]
    pub fn followed_by(self, following: Vec<u32>) -> Self {
        Self { following, ..self }
    }

    /// These samples, unless one was refused or there is none.
    pub(super) fn finished(self, done: Result<(), String>) -> Result<Self, FileError> {
        match done {
            Ok(()) if self.is_empty() => Err(FileError::new(&self.name, "it holds no samples")),
            Ok(()) => Ok(self),
            Err(message) => Err(FileError::new(&self.name, message)),
        }
    }

    /// Appends a sample.
    pub(super) fn push(
        &mut self,
        place: Place,
        held_out: bool,
        label: Option<Label>,
        held: SampleContent<'_>,
    ) -> Result<(), String> {
        let at = |reason: &str| format!("{place}: {reason}");
        if self.is_empty() && !matches!(held, SampleContent::Tokens(_)) {
            self.content = Content::Texts(String::new());
        }
        let end = match (&mut self.content, held) {
            (Content::Tokens(_), SampleContent::Tokens([])) => {
                return Err(at("the sample has no tokens"));
            }
            (Content::Tokens(all), SampleContent::Tokens(tokens)) => {
                for &token in tokens {
                    all.push(token_id(token).map_err(|reason| at(&reason))?);
                }
                all.len()
            }
            (Content::Texts(all), SampleContent::Text(text)) => {
                all.push_str(text);
                all.len()
            }
            (Content::Tokens(_), _) => {
                return Err(at("the sample has text, but those before it have tokens"));
            }
            (Content::Texts(_), SampleContent::Tokens(_)) => {
                return Err(at("the sample has tokens, but those before it have text"));
            }
        };
        let label = label.map(|label| self.labels.index(label)).transpose();
        self.samples.push(Sample {
            // A file of at most 1 GiB has fewer tokens and characters than 2^32.
            end: end as u32,
            place,
            held_out,
            label: label.map_err(|reason| at(&reason))?,
            has_each: false,
        });
        if self.are_each() {
            self.each.resize(end, IGNORED);
        }
        Ok(())
    }

    /// Appends a sample with a label per token, or `None` where none counts.
    pub(super) fn push_each(
        &mut self,
        place: Place,
        held_out: bool,
        labels: impl ExactSizeIterator<Item = Result<Option<Label>, String>>,
        tokens: &[i64],
    ) -> Result<(), String> {
        let at = |reason: String| format!("{place}: {reason}");
        let (count, given) = (tokens.len(), labels.len());
        if count != given {
            return Err(at(format!(
                "the sample has {count} tokens and {given} labels; give a label for each token, or null where none counts"
            )));
        }
        self.push(place, held_out, None, SampleContent::Tokens(tokens))?;
        let row = self.len() - 1;
        self.samples[row].has_each = true;
        self.each.resize(self.extent(row).start, IGNORED);
        for label in labels {
            let index = label.and_then(|label| match label {
                None | Some(Label::Number(NOT_COUNTED)) => Ok(IGNORED),
                Some(own) => self.labels.index(own),
            });
            self.each.push(index.map_err(at)?);
        }
        Ok(())
    }

    /// What messages call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same file of texts without its samples.
    pub(super) fn without_samples(&self) -> Self {
        Self {
            name: self.name.clone(),
            labels: self.labels.clone(),
            ..Self::default()
        }
    }

    /// Appends a sample with the place, split and label of another one of the same file.
    pub(super) fn push_as(
        &mut self,
        of: &Self,
        row: usize,
        held: SampleContent<'_>,
    ) -> Result<(), String> {
        self.push(of.place(row), of.is_held_out(row), None, held)?;
        self.samples[row].label = of.label(row);
        Ok(())
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
    pub fn are_each(&self) -> bool {
        !self.each.is_empty()
    }

    /// The index of the label of each of a sample's tokens, or [`IGNORED`]; `None` if it has none of them.
    pub(super) fn each(&self, row: usize) -> Option<&[u32]> {
        let has_each = self.samples[row].has_each;
        has_each.then(|| &self.each[self.extent(row)])
    }

    /// Which labels of a config's task are missing, and what to do; `None` if all samples have them.
    pub fn missing_labels(&self, config: &DatasetConfig) -> Option<String> {
        match config.task {
            Task::NextToken => None,
            Task::TokenClassification if self.are_each() => {
                let (place, share) = self.lacking(|row| self.each(row).is_none())?;
                Some(format!(
                    "{place}: the sample has no label per token ({share}); give it `labels`, without a `label` beside them, or delete the row"
                ))
            }
            Task::TokenClassification => Some(
                "the samples have no label per token; give `labels`, in .jsonl as a list beside `tokens`, in .npz with two axes"
                    .to_owned(),
            ),
            Task::Classification if self.are_each() => Some(
                "the samples have a label per token, for which data.task is \"token-classification\"; here each sample needs one label"
                    .to_owned(),
            ),
            Task::Classification => {
                let (place, share) = self.lacking(|row| self.label(row).is_none())?;
                if let Some(reason) = &self.unlabelled {
                    return Some(reason.clone());
                }
                let column = config.columns.label_name();
                let remedy = match place {
                    Place::Row { .. } => "add the array `labels`, with a label for each sample".to_owned(),
                    Place::Line(_) if self.labels.len() == 0 => format!(
                        "labels are the column `{column}` of a .csv, .tsv or .jsonl file; add it, or name the column of labels in \
                         data.label"
                    ),
                    Place::Line(_) => format!("its `{column}` is empty; fill it in, or delete the row"),
                };
                Some(format!("{place}: the sample has no label ({share}): {remedy}"))
            }
        }
    }

    /// The place of the first sample that lacks something, and how many do; `None` if none does.
    fn lacking(&self, lacks: impl Fn(usize) -> bool) -> Option<(Place, String)> {
        let mut lacking = (0..self.len()).filter(|&row| lacks(row));
        let place = self.place(lacking.next()?);
        Some((
            place,
            format!("{} of {} have none", 1 + lacking.count(), self.len()),
        ))
    }

    /// Whether samples are texts, and not token ids.
    pub fn are_texts(&self) -> bool {
        matches!(self.content, Content::Texts(_))
    }

    /// Whether samples are values of columns, each a position.
    pub(super) fn are_values(&self) -> bool {
        !self.is_empty() && self.text(0).ends_with(VALUE_END)
    }

    /// The token ids of a sample; none if it is a text.
    pub(super) fn tokens(&self, row: usize) -> &[u32] {
        self.all_tokens().get(self.extent(row)).unwrap_or_default()
    }

    /// The text of a sample; empty if it holds token ids.
    pub(super) fn text(&self, row: usize) -> &str {
        match &self.content {
            Content::Texts(all) => all.get(self.extent(row)).unwrap_or_default(),
            Content::Tokens(_) => "",
        }
    }

    fn extent(&self, row: usize) -> std::ops::Range<usize> {
        let before = row.checked_sub(1).map(|before| self.samples[before].end);
        before.unwrap_or(0) as usize..self.samples[row].end as usize
    }

    /// All token ids, whatever their sample.
    pub(super) fn all_tokens(&self) -> &[u32] {
        match &self.content {
            Content::Tokens(all) => all,
            Content::Texts(_) => &[],
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

/// A text of words, between which the end of a value means no more than a blank does.
pub(super) fn words(text: &str) -> String {
    text.replace(VALUE_END, " ")
}

/// A token id of a file.
pub(super) fn token_id(number: i64) -> Result<u32, String> {
    let id = u32::try_from(number).ok().filter(|&id| id < TOKEN_LIMIT);
    id.ok_or_else(|| format!("{number} is not a token id; ids are below {TOKEN_LIMIT}"))
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
