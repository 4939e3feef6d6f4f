//! Dataset files: npz, CSV and JSONL, written and read back.
//!
//! Each holds both splits: token ids with `[CLS]` = 0 first, a label of 0 or 1, and whether the
//! sample is held out. The file's ending names the format.

mod jsonl;
mod npz;
mod table;

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use crate::{
    CLS, ClsPlace, DataError, Dataset, DatasetConfig, InvalidValue, Source, Splits, Stream, random,
};

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
                path,
                "the ending says no dataset format; use .npz, .csv or .jsonl",
            )),
        }
    }
}

/// A dataset file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct FileError {
    path: PathBuf,
    message: String,
}

impl FileError {
    fn new(path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            message: message.into(),
        }
    }
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

/// Reads both splits, in the format that the path's ending names.
///
/// # Errors
/// When the file is missing, is damaged, or holds samples that are none.
pub fn read(path: &Path) -> Result<Splits, FileError> {
    let format = Format::of(path)?;
    let file = File::open(path).map_err(|error| FileError::new(path, error.to_string()))?;
    let reader = BufReader::new(file);
    let rows = match format {
        Format::Npz => npz::read(reader),
        Format::Csv => table::read(reader),
        Format::Jsonl => jsonl::read(reader),
    };
    rows.and_then(assemble)
        .map_err(|message| FileError::new(path, message))
}

/// The splits of a config whose source is a file, checked against the config.
pub(crate) fn splits(config: &DatasetConfig, path: &Path) -> Result<Splits, DataError> {
    debug_assert!(matches!(config.source, Source::File(_)));
    let mut splits = read(path)?;
    for dataset in [&splits.train, &splits.held_out] {
        check(dataset, config).map_err(|message| FileError::new(path, message))?;
    }
    if config.held_out > 0 {
        splits = split_off(splits, config)?;
    }
    Ok(splits)
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

/// A sample as a file holds it, with the place it stands at for messages.
struct Row {
    place: String,
    held_out: bool,
    label: i64,
    tokens: Vec<i64>,
}

/// Checks rows and sorts them into splits.
fn assemble(rows: Vec<Row>) -> Result<Splits, String> {
    let Some(first) = rows.iter().find(|row| !row.held_out) else {
        return Err("it holds no training samples".to_owned());
    };
    let positions = first.tokens.len();
    if positions < 2 {
        return Err(format!(
            "{}: a sample is [CLS] and at least one token",
            first.place
        ));
    }
    let cls = match first.tokens.first() {
        Some(&token) if token == i64::from(CLS) => ClsPlace::First,
        _ => ClsPlace::Last,
    };
    let cls_position = cls.position(positions - 1);
    let mut splits = Splits {
        train: Dataset::empty(positions - 1),
        held_out: Dataset::empty(positions - 1),
    };
    for row in rows {
        let place = &row.place;
        if row.tokens.len() != positions {
            return Err(format!(
                "{place}: {} tokens, where the first sample has {positions}",
                row.tokens.len()
            ));
        }
        let tokens: Vec<u32> = row
            .tokens
            .iter()
            .map(|&token| {
                u32::try_from(token).map_err(|_| format!("{place}: {token} is no token id"))
            })
            .collect::<Result<_, _>>()?;
        let cls_count = tokens.iter().filter(|&&token| token == CLS).count();
        if tokens[cls_position] != CLS || cls_count != 1 {
            return Err(format!(
                "{place}: a sample starts with [CLS] = 0, or all end with it, and holds no other 0"
            ));
        }
        if !matches!(row.label, 0 | 1) {
            return Err(format!("{place}: label {} is neither 0 nor 1", row.label));
        }
        let split = if row.held_out {
            &mut splits.held_out
        } else {
            &mut splits.train
        };
        split.push(&tokens, row.label == 1);
    }
    Ok(splits)
}

/// Whether a split's name means held out.
fn held_out(name: &str, place: &str) -> Result<bool, String> {
    match name {
        TRAIN => Ok(false),
        HELD_OUT => Ok(true),
        _ => Err(format!(
            "{place}: split `{name}` is neither `{TRAIN}` nor `{HELD_OUT}`"
        )),
    }
}
