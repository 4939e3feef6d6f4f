//! What the writers of all formats write: splits, with the names of classes and without padding.

use std::{fmt, io};

use headlight_input::{LINE_LIMIT, size};
use serde::{Serialize, Serializer};

use super::labels::{Label, mixed};
use super::rows::{Rows, value};
use crate::config::DatasetConfig;
use crate::dataset::Splits;
use crate::shape::SampleShape;
use crate::task::{IGNORED, Task};
use crate::words::{VALUE_END, Words};

/// What a reader may take at once beside the record that it reads, in bytes.
const READ_AHEAD: usize = 1 << 14;

/// Splits, and the config that gives them their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The samples.
    pub splits: &'a Splits,
    /// Their config.
    pub config: &'a DatasetConfig,
    /// The token that pads them.
    pub padding_token: Option<u32>,
    /// The file that they come from: of its texts, tokens keep neither unknown words nor what was cut.
    pub rows: Option<&'a Rows>,
}

/// A sample of a file.
pub(super) struct Sample<'a> {
    pub(super) split: &'static str,
    pub(super) labels: Given<'a>,
    pub(super) content: Content<'a>,
}

/// What a sample holds.
pub(super) enum Content<'a> {
    Tokens(Vec<u32>),
    Text(String),
    /// A value of each column.
    Values(Vec<&'a str>),
}

/// The labels of a sample.
pub(super) enum Given<'a> {
    One(Class<'a>),
    /// One for each token, or `None` where none counts.
    Each(Vec<Option<Class<'a>>>),
    /// None: they follow from the tokens.
    None,
}

/// A class as files have it: by number, or by name.
pub(super) enum Class<'a> {
    Number(u32),
    Name(&'a str),
}

impl fmt::Display for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl Serialize for Class<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u32(*number),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl<'a> Contents<'a> {
    /// All samples, those of training first.
    ///
    /// # Errors
    /// When the rows are not those of the config.
    pub(super) fn samples(self) -> io::Result<impl Iterator<Item = Sample<'a>>> {
        let shape = SampleShape::new(self.config, self.padding_token);
        let words = self.words();
        let rows = self.rows.filter(|rows| rows.are_texts());
        let order = rows.map(|rows| rows.parts(self.config)).transpose();
        let (train, held_out) = order.map_err(io::Error::other)?.unwrap_or_default();
        let named = [
            ("train", &self.splits.train, train),
            ("held_out", &self.splits.held_out, held_out),
        ];
        Ok(named.into_iter().flat_map(move |(split, dataset, order)| {
            (0..dataset.len()).map(move |sample| {
                let tokens = dataset.tokens(sample);
                let row = order.get(sample);
                let class = |class: u32| {
                    let name = self.config.classes.get(class as usize);
                    name.map_or(Class::Number(class), |name| Class::Name(name))
                };
                let labels = match self.config.task {
                    Task::Classification => Given::One(class(dataset.label(sample))),
                    Task::TokenClassification => {
                        let count = shape.without_padding(tokens).count();
                        let own = shape.first(dataset.labels_of(sample), count);
                        let each = own.map(|label| (label != IGNORED).then(|| class(label)));
                        Given::Each(each.collect())
                    }
                    Task::NextToken => Given::None,
                };
                Sample {
                    split,
                    labels,
                    content: match (rows.zip(row), words) {
                        (Some((rows, &row)), _) => self.as_written(rows.text(row)),
                        (None, Some(words)) => Content::Text(words.join(tokens)),
                        (None, None) => Content::Tokens(shape.without_padding(tokens).collect()),
                    },
                }
            })
        }))
    }

    /// The words that samples are written in; `None` for tokens, which a file may have in place of texts.
    pub(super) fn words(self) -> Option<&'a Words> {
        let words = self.config.words.as_ref();
        words.filter(|_| self.rows.is_none_or(Rows::are_texts))
    }

    /// A text of a file, or the values of its columns.
    fn as_written(self, text: &'a str) -> Content<'a> {
        let features = &self.config.columns.features;
        if features.is_empty() {
            return Content::Text(text.to_owned());
        }
        let values = features.iter().zip(text.split(VALUE_END));
        let values = values.map(|(name, word)| {
            let own = word.strip_prefix(&*value(name, ""));
            own.unwrap_or_default()
        });
        Content::Values(values.collect())
    }

    /// Refuses classes that no reader takes as labels.
    pub(super) fn check_classes(self) -> io::Result<()> {
        let labels = self.config.classes.iter().map(|name| Label::of_text(name));
        let labels: Vec<Label> = labels.collect::<Result<_, _>>().map_err(refused)?;
        match mixed(labels.iter()).filter(|_| self.config.words.is_some()) {
            Some((number, name)) => Err(refused(format!(
                "its classes are a number, {number}, and a name, `{name}`; rename one in data.classes"
            ))),
            None => Ok(()),
        }
    }
}

/// The error of samples that could be written, but not read.
pub(super) fn refused(reason: impl fmt::Display) -> io::Error {
    let message = format!("this dataset could not be read back: {reason}");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Refuses a line or a record of more bytes than a reader takes.
pub(super) fn check_length(bytes: usize) -> io::Result<()> {
    if bytes + READ_AHEAD > LINE_LIMIT as usize {
        return Err(refused(format!(
            "a sample would have a line of {bytes} bytes, and {} are read; choose .npz for tokens, or shorten the samples",
            size(LINE_LIMIT)
        )));
    }
    Ok(())
}
