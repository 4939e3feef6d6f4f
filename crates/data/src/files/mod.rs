//! Dataset files: npz, CSV and JSONL, written and read back; and samples as lines of text.
//!
//! A file gives [`Rows`]: token ids, with a label and a split. [`Rows::complete`] answers the keys that a config
//! leaves out, and [`Rows::fit`] makes the samples of an experiment from them.

mod complete;
mod contents;
mod fit;
mod jsonl;
mod labels;
mod npz;
mod rows;
mod table;
mod text;

use std::fmt;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;

pub use complete::FileKeys;
pub use contents::Contents;
pub use labels::numbers_are_names;
pub use rows::Rows;

use rows::Counted;

use crate::invalid::InvalidValue;

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

/// Why the samples of a file cannot be used with a config.
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
pub fn write(contents: Contents<'_>, format: Format, writer: impl Write) -> std::io::Result<()> {
    match format {
        Format::Npz => npz::write(contents, writer),
        Format::Csv => table::write(contents, writer),
        Format::Jsonl => jsonl::write(contents, writer),
    }
}

/// Reads the samples of a dataset file. `name` is what messages call the file.
///
/// # Errors
/// When the bytes are damaged, or hold something else than samples: says where and what.
pub fn read(
    reader: impl Read + Seek,
    format: Format,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let reader = BufReader::new(reader);
    let counted = match format {
        Format::Npz => Counted::Arrays,
        Format::Csv | Format::Jsonl => Counted::Lines,
    };
    let mut rows = Rows::new(name, counted);
    let done = match format {
        Format::Npz => npz::read(reader, &mut rows),
        Format::Csv => table::read(reader, &mut rows),
        Format::Jsonl => jsonl::read(reader, &mut rows),
    };
    finished(rows, done)
}

/// Reads samples from text, as [`read`]: the token ids of one sample per line, separated by blanks or commas.
///
/// # Errors
/// As [`read`].
pub fn read_text(reader: impl Read, name: impl fmt::Display) -> Result<Rows, FileError> {
    let mut rows = Rows::new(name, Counted::Lines);
    let done = text::read(BufReader::new(reader), &mut rows);
    finished(rows, done)
}

fn finished(rows: Rows, done: Result<(), String>) -> Result<Rows, FileError> {
    match done {
        Ok(()) if rows.is_empty() => Err(FileError::new(&rows.name, "it holds no samples")),
        Ok(()) => Ok(rows),
        Err(message) => Err(FileError::new(&rows.name, message)),
    }
}
