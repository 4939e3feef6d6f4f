//! The formats of dataset files.

use std::fmt;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;

use super::contents::{self, Contents};
use super::error::FileError;
use super::rows::{Counted, Rows};
use super::{finished, jsonl, line_ends, npz, read_table, table, text};
use crate::config::Columns;

/// A dataset file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `tokens`, `labels`, `held_out_tokens`, `held_out_labels`, for `numpy.load`.
    Npz,
    /// `split,label,token_0,token_1,...`
    Csv,
    /// One `{"split":"train","label":0,"tokens":[0,45,...]}` per line.
    Jsonl,
    /// A text per line, without labels.
    Txt,
}

impl Format {
    /// The format of a file to read, by its name: also `.tsv`, which is CSV with tabs, and any of these with `.gz`.
    /// `None` if it is not a dataset file.
    pub fn to_read(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").unwrap_or(name);
        match name.rsplit_once('.') {
            Some((_, "tsv")) => Some(Self::Csv),
            Some((_, "txt")) => Some(Self::Txt),
            _ => Self::of(Path::new(name)).ok(),
        }
    }

    /// The format that the extension of a path to write names.
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

/// Writes both splits.
///
/// # Errors
/// When writing fails.
pub fn write(contents: Contents<'_>, format: Format, writer: impl Write) -> std::io::Result<()> {
    match format {
        Format::Npz => npz::write(contents, writer),
        Format::Csv => table::write(contents, writer),
        Format::Jsonl => jsonl::write(contents, writer),
        Format::Txt => Err(contents::refused(
            "a text file has neither labels nor splits",
        )),
    }
}

/// Reads the samples of a dataset file, from the columns that a config names. `name` is what messages call the file.
///
/// # Errors
/// When the bytes are damaged, or hold something else than samples: says where and what.
pub fn read(
    reader: impl Read + Seek,
    format: Format,
    columns: &Columns,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let counted = match format {
        Format::Npz => Counted::Arrays,
        Format::Csv | Format::Jsonl | Format::Txt => Counted::Lines,
    };
    let mut rows = Rows::new(name, counted);
    let done = match format {
        Format::Txt if *columns != Columns::default() => Err(
            "data.text and data.label name columns of CSV or keys of JSONL, which a text file does not have; remove them"
                .to_owned(),
        ),
        // Unlike lines to predict, empty ones need no answer.
        Format::Txt => text::read(line_ends::text(reader), true, false, &mut rows),
        Format::Npz if *columns != Columns::default() => Err(
            "data.text and data.label name columns of CSV or keys of JSONL, which npz does not have; remove them"
                .to_owned(),
        ),
        Format::Npz => npz::read(BufReader::new(reader), &mut rows),
        Format::Csv => return read_table(reader, columns, &rows.name),
        Format::Jsonl => jsonl::read(line_ends::text(reader), columns, &mut rows),
    };
    finished(rows, done)
}

/// Reads samples from lines of text, as [`read`]: a text each, or token ids, separated by blanks or commas.
///
/// # Errors
/// As [`read`].
pub fn read_lines(
    reader: impl Read,
    are_texts: bool,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let mut rows = Rows::new(name, Counted::Lines);
    let done = text::read(line_ends::text(reader), are_texts, true, &mut rows);
    finished(rows, done)
}
