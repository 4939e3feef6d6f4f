//! Dataset files: npz, CSV and JSONL, written and read back.
//!
//! Each holds both splits: token ids with `[CLS]` = 0 first, a label of 0 or 1, and whether the
//! sample is held out. The file's ending names the format.

mod jsonl;
mod npz;
mod table;

use std::fmt;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;

use crate::{CLS, ClsPlace, Dataset, DatasetConfig, InvalidValue, Splits, Stream, random};

/// A dataset file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `tokens`, `labels`, `held_out_tokens`, `held_out_labels`, for `numpy.load`.
    Npz,
    /// `split,label,token_0,token_1,...`
    Csv,
    /// `{"split":"train","label":0,"tokens":[0,45,...]}` a line.
    Jsonl,
}

impl Format {
    /// The format that a path's ending names.
    ///
    /// # Errors
    /// When it names none of the three.
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
    let mut samples = Samples::default();
    match format {
        Format::Npz => npz::read(reader, &mut samples),
        Format::Csv => table::read(reader, &mut samples),
        Format::Jsonl => jsonl::read(reader, &mut samples),
    }
    .and_then(|()| samples.splits())
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

/// Checks samples against the length, the place of `[CLS]`, the vocabulary, and the rule that should
/// have labelled them.
fn check(dataset: &Dataset, config: &DatasetConfig) -> Result<(), String> {
    let &DatasetConfig {
        vocab_size,
        seq_len,
        cls,
        ..
    } = config;
    if dataset.positions() != seq_len + 1 {
        return Err(format!(
            "its samples have {} tokens beside [CLS], but data.seq_len is {seq_len}",
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
        if let Some(rule) = &config.rule
            && rule.label_for(tokens) != dataset.label(sample)
        {
            return Err(format!(
                "sample {sample} is labelled {}, but data.rule ({}) gives {}; mend one or drop the rule",
                u8::from(dataset.label(sample)),
                rule.describe(),
                u8::from(rule.label_for(tokens)),
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
                "the file names its {} held-out samples itself; drop held_out",
                held_out.len()
            ),
        ));
    }
    if config.held_out >= train.len() {
        return Err(InvalidValue::new(
            "held_out",
            format!(
                "{} held-out samples of {} leave none to train on",
                config.held_out,
                train.len()
            ),
        ));
    }
    let mut order: Vec<usize> = (0..train.len()).collect();
    random::shuffle(&mut order, &mut Stream::Split.rng(config.seed));
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

const TRAIN: &str = "train";
const HELD_OUT: &str = "held_out";

/// The splits with the names they have in files.
fn named(splits: &Splits) -> [(&'static str, &Dataset); 2] {
    [(TRAIN, &splits.train), (HELD_OUT, &splits.held_out)]
}

/// Where a sample stands, for messages.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// In a text file, counted from 1.
    Line(u64),
    /// In an array, counted from 0.
    Row(&'a str, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(array, sample) => write!(f, "`{array}`, sample {sample}"),
        }
    }
}

/// Checks samples as they are read, and sorts them into splits.
#[derive(Default)]
struct Samples {
    /// From the first sample on, which says how long samples are.
    splits: Option<Splits>,
    cls_position: usize,
    /// The sample being read.
    tokens: Vec<u32>,
}

impl Samples {
    fn push(
        &mut self,
        place: Place<'_>,
        held_out: bool,
        label: i64,
        tokens: &[i64],
    ) -> Result<(), String> {
        let splits = if let Some(splits) = &mut self.splits {
            splits
        } else {
            let seq_len = tokens.len().saturating_sub(1);
            if seq_len == 0 {
                return Err(format!("{place}: a sample is [CLS] and at least one token"));
            }
            let cls = match tokens.first() {
                Some(&token) if token == i64::from(CLS) => ClsPlace::First,
                _ => ClsPlace::Last,
            };
            self.cls_position = cls.position(seq_len);
            self.splits.insert(Splits {
                train: Dataset::empty(seq_len),
                held_out: Dataset::empty(seq_len),
            })
        };
        let positions = splits.train.positions();
        if tokens.len() != positions {
            return Err(format!(
                "{place}: {} tokens, where the first sample has {positions}",
                tokens.len()
            ));
        }
        self.tokens.clear();
        for &token in tokens {
            let id = u32::try_from(token);
            let id = id.map_err(|_| format!("{place}: {token} is no token id"))?;
            self.tokens.push(id);
        }
        let cls_count = self.tokens.iter().filter(|&&token| token == CLS).count();
        if self.tokens[self.cls_position] != CLS || cls_count != 1 {
            return Err(format!(
                "{place}: a sample starts with [CLS] = 0, or all end with it, and holds no other 0"
            ));
        }
        if !matches!(label, 0 | 1) {
            return Err(format!("{place}: label {label} is neither 0 nor 1"));
        }
        let split = if held_out {
            &mut splits.held_out
        } else {
            &mut splits.train
        };
        split.push(&self.tokens, label == 1);
        Ok(())
    }

    fn splits(self) -> Result<Splits, String> {
        self.splits
            .filter(|splits| !splits.train.is_empty())
            .ok_or_else(|| "it holds no training samples".to_owned())
    }
}

/// Whether a split's name means held out.
fn held_out(name: &str, place: Place<'_>) -> Result<bool, String> {
    match name {
        TRAIN => Ok(false),
        HELD_OUT => Ok(true),
        _ => Err(format!(
            "{place}: split `{name}` is neither `{TRAIN}` nor `{HELD_OUT}`"
        )),
    }
}
