//! Dataset files: npz, CSV and JSONL, written and read back.
//!
//! Each format holds both splits. A sample has token ids including `[CLS]` = 0, a label from 0
//! to 255, and a split.

mod builder;
mod jsonl;
mod npz;
mod table;

use std::fmt;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;

use builder::SplitsBuilder;

use crate::cls::{CLS, ClsPlace};
use crate::config::DatasetConfig;
use crate::dataset::{Dataset, Splits};
use crate::invalid::InvalidValue;
use crate::random::{Stream, shuffle};

/// A dataset file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `tokens`, `labels`, `held_out_tokens`, `held_out_labels`, for `numpy.load`.
    Npz,
    /// `split,label,token_0,token_1,...`
    Csv,
    /// One `{"split":"train","label":0,"tokens":[0,45,...]}` per line.
    Jsonl,
}

impl Format {
    /// The format that the extension of a path names.
    ///
    /// # Errors
    /// When the extension is none of the three.
    pub fn of(path: &Path) -> Result<Self, FileError> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("npz") => Ok(Self::Npz),
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Jsonl),
            _ => Err(FileError::new(
                path.display(),
                "unknown file extension; use .npz, .csv or .jsonl",
            )),
        }
    }
}

/// A dataset file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct FileError {
    /// The name that the caller gave the file, such as its path.
    pub name: String,
    /// What is wrong with it, with its place in the file.
    pub message: String,
}

impl FileError {
    fn new(name: impl fmt::Display, message: impl Into<String>) -> Self {
        Self {
            name: name.to_string(),
            message: message.into(),
        }
    }
}

/// Why the splits of a file cannot be used with a config.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// A value of the config is invalid, or does not fit the file.
    #[error(transparent)]
    Config(#[from] InvalidValue),
    /// The samples of the file do not fit the config.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Writes both splits.
///
/// # Errors
/// When writing fails.
pub fn write(splits: &Splits, format: Format, writer: impl Write) -> std::io::Result<()> {
    match format {
        Format::Npz => npz::write(splits, writer),
        Format::Csv => table::write(splits, writer),
        Format::Jsonl => jsonl::write(splits, writer),
    }
}

/// Reads both splits. `name` is what messages call the file.
///
/// Samples are read one by one, and take as much memory as a [`Dataset`] of them.
///
/// # Errors
/// When the bytes are damaged or hold invalid samples: says where and what.
pub fn read(
    reader: impl Read + Seek,
    format: Format,
    name: impl fmt::Display,
) -> Result<Splits, FileError> {
    let reader = BufReader::new(reader);
    let mut builder = SplitsBuilder::default();
    match format {
        Format::Npz => npz::read(reader, &mut builder),
        Format::Csv => table::read(reader, &mut builder),
        Format::Jsonl => jsonl::read(reader, &mut builder),
    }
    .and_then(|()| builder.splits())
    .map_err(|message| FileError::new(name, message))
}

/// Checks the splits of the file `name` against a config, and moves
/// [`held_out`](DatasetConfig::held_out) samples out of training where the config asks for that.
///
/// # Errors
/// When a value of the config is invalid, or the samples do not fit the config.
pub fn fit(
    config: &DatasetConfig,
    splits: Splits,
    name: impl fmt::Display,
) -> Result<Splits, FitError> {
    config.validate()?;
    for dataset in [&splits.train, &splits.held_out] {
        check(dataset, config).map_err(|message| FileError::new(&name, message))?;
    }
    if config.held_out == 0 {
        return Ok(splits);
    }
    Ok(split_off(splits, config)?)
}

/// Checks samples against the length, the place of `[CLS]`, the vocabulary, and the rule, if there is
/// one.
fn check(dataset: &Dataset, config: &DatasetConfig) -> Result<(), String> {
    let &DatasetConfig {
        vocab_size,
        seq_len,
        n_classes,
        cls,
        ..
    } = config;
    if dataset.positions() != seq_len + 1 {
        return Err(format!(
            "its samples have {} tokens besides [CLS], but data.seq_len is {seq_len}",
            dataset.positions() - 1
        ));
    }
    if !dataset.is_empty() && dataset.tokens(0)[cls.position(seq_len)] != CLS {
        let other = match cls {
            ClsPlace::First => ClsPlace::Last,
            ClsPlace::Last => ClsPlace::First,
        };
        return Err(format!(
            "its samples have [CLS] {}, but data.cls is \"{}\"",
            other.name(),
            cls.name()
        ));
    }
    for sample in 0..dataset.len() {
        let tokens = dataset.tokens(sample);
        if let Some(token) = tokens.iter().find(|&&token| token >= vocab_size) {
            return Err(format!(
                "sample {sample} holds token {token}, but data.vocab_size is {vocab_size}"
            ));
        }
        let label = dataset.label(sample);
        if usize::from(label) >= n_classes {
            return Err(format!(
                "sample {sample} is labelled {label}, but data.n_classes is {n_classes}; set it to {} or more",
                usize::from(label) + 1
            ));
        }
        let Some(rule) = &config.rule else { continue };
        let by_rule = rule.label_for(tokens, n_classes);
        if by_rule != label {
            return Err(format!(
                "sample {sample} is labelled {label}, but data.rule ({}) gives {by_rule}; fix the label or the rule, or remove the rule",
                rule.describe(),
            ));
        }
    }
    Ok(())
}

/// Moves `config.held_out` random samples out of training.
fn split_off(splits: Splits, config: &DatasetConfig) -> Result<Splits, InvalidValue> {
    let Splits { train, held_out } = splits;
    if !held_out.is_empty() {
        return Err(InvalidValue::new(
            "held_out",
            format!(
                "the file has its own {} held-out samples; remove held_out",
                held_out.len()
            ),
        ));
    }
    if config.held_out >= train.len() {
        return Err(InvalidValue::new(
            "held_out",
            format!(
                "{} held-out samples of {} leave none to train on; lower held_out",
                config.held_out,
                train.len()
            ),
        ));
    }
    let mut order: Vec<usize> = (0..train.len()).collect();
    shuffle(&mut order, &mut Stream::Split.rng(config.seed));
    order[config.held_out..].sort_unstable();
    let gather = |samples: &[usize]| {
        let mut part = Dataset::empty(train.positions() - 1);
        for &sample in samples {
            part.push(train.tokens(sample), train.label(sample));
        }
        part
    };
    let (held_out, rest) = order.split_at(config.held_out);
    Ok(Splits {
        train: gather(rest),
        held_out: gather(held_out),
    })
}
