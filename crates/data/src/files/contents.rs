//! What the writers of all formats write: splits, with the names of classes and without padding.

use std::collections::HashSet;
use std::{fmt, io};

use serde_json::Value;

use super::labels::{Label, Labels};
use super::rows::{Rows, value};
use crate::config::DatasetConfig;
use crate::dataset::Splits;
use crate::shape::SampleShape;
use crate::task::{IGNORED, Task};
use crate::words::{VALUE_END, Words};

/// Splits, and the config that gives them their meaning.
#[derive(Clone, Copy, Debug)]
pub struct DatasetToWrite<'a> {
    /// The samples.
    pub splits: &'a Splits,
    /// The config of the samples.
    pub config: &'a DatasetConfig,
    /// The token that pads them.
    pub padding_token: Option<u32>,
    /// The file that they come from: of its texts, tokens keep neither unknown words nor what was cut.
    pub rows: Option<&'a Rows>,
}

impl<'a> DatasetToWrite<'a> {
    /// The cells of all samples, those of training first: split, labels, and what the sample holds.
    pub(super) fn samples(self) -> io::Result<impl Iterator<Item = Vec<Value>>> {
        let shape = SampleShape::new(self.config, self.padding_token);
        let words = self.words();
        let rows = self.rows.filter(|rows| rows.are_texts());
        let order = rows.map(|rows| rows.parts(self.config)).transpose();
        let (train, held_out) = order.map_err(io::Error::other)?.unwrap_or_default();
        let named = [
            ("train", &self.splits.train, train),
            ("held_out", &self.splits.held_out, held_out),
        ];
        let class = move |class: u32| {
            let name = self.config.classes.get(class as usize);
            name.map_or(Value::from(class), |name| Value::from(&**name))
        };
        Ok(named.into_iter().flat_map(move |(split, dataset, order)| {
            (0..dataset.len()).map(move |sample| {
                let tokens = dataset.tokens(sample);
                let mut cells = vec![Value::from(split)];
                match self.config.task {
                    Task::Classification => cells.push(class(dataset.label(sample))),
                    Task::TokenClassification => {
                        let count = shape.without_padding(tokens).count();
                        let labels = shape.values_without_padding(dataset.labels_of(sample), count);
                        let each = labels.map(|label| (label != IGNORED).then(|| class(label)));
                        cells.push(each.collect());
                    }
                    Task::NextToken => {}
                }
                match (rows.zip(order.get(sample)), words) {
                    (Some((rows, &row)), _) => cells.extend(self.as_written(rows.text(row))),
                    (None, Some(words)) => cells.push(words.join(tokens).into()),
                    (None, None) => cells.push(shape.without_padding(tokens).collect()),
                }
                cells
            })
        }))
    }

    /// The words that samples are written in; `None` for tokens, which a file may have in place of texts.
    pub(super) fn words(self) -> Option<&'a Words> {
        let words = self.config.words.as_ref();
        words.filter(|_| self.rows.is_none_or(Rows::are_texts))
    }

    /// The names of the columns, where those of tokens are `tokens`.
    pub(super) fn names(self, tokens: impl Iterator<Item = String>) -> io::Result<Vec<String>> {
        let columns = &self.config.columns;
        let mut names = vec!["split".to_owned()];
        match self.config.task {
            Task::Classification => names.push(columns.label_name().to_owned()),
            Task::TokenClassification => names.push("labels".to_owned()),
            Task::NextToken => {}
        }
        match self.words() {
            Some(_) if !columns.features.is_empty() => names.extend_from_slice(&columns.features),
            Some(_) => names.push(columns.text_name().to_owned()),
            None => names.extend(tokens),
        }
        match twice(&names) {
            Some(name) => Err(refused(format!(
                "two of its columns would have the name `{name}`"
            ))),
            None => Ok(names),
        }
    }

    /// A text of a file, or the values of its columns.
    fn as_written(self, text: &str) -> Vec<Value> {
        let features = &self.config.columns.features;
        if features.is_empty() {
            return vec![text.into()];
        }
        let values = features.iter().zip(text.split_inclusive(VALUE_END));
        let values = values.map(|(name, word)| {
            // All but the name and the end.
            let cell = word.get(value(name, "").len() - 1..word.len() - 1);
            cell.unwrap_or_default().into()
        });
        values.collect()
    }

    /// Refuses classes that no reader takes as labels, and weights.
    pub(super) fn check(self) -> io::Result<()> {
        if self.splits.train.weights().is_some() {
            return Err(refused(
                "it would lack the weights of the samples; remove data.sample_weight, or the array sample_weight",
            ));
        }
        if self.rows.is_some_and(|rows| rows.are_windows) {
            return Err(refused(
                "it would lack the token that follows each window; use the text file",
            ));
        }
        let mut labels = Labels::default();
        for name in &self.config.classes {
            let label = Label::of_text(name).and_then(|label| labels.index(label));
            label.map_err(refused)?;
        }
        match labels.mixed().filter(|_| self.config.words.is_some()) {
            Some((number, name)) => Err(refused(format!(
                "its classes mix a number, {number}, and a name, `{name}`; rename one in data.classes"
            ))),
            None => Ok(()),
        }
    }
}

/// A name that two columns have.
pub(super) fn twice(names: &[String]) -> Option<&str> {
    let mut different = HashSet::new();
    let names = names.iter().map(|name| name.trim());
    let mut filled = names.filter(|name| !name.is_empty());
    filled.find(|name| !different.insert(*name))
}

/// The error of samples that could be written, but not read.
pub(super) fn refused(reason: impl fmt::Display) -> io::Error {
    let message = format!("this dataset could not be read back: {reason}");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
