//! The formats of dataset files: the one that a name tells, and how each is read and written.

use std::fmt;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;

use super::contents::{DatasetFile, refused};
use super::error::FileError;
use super::table::{Form, Table};
use super::text::text_of;
use super::{csv, jsonl, npz, text};

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

impl Table {
    /// Reads a dataset file. `name` is what messages call it.
    ///
    /// # Errors
    /// When the bytes are damaged, or hold no samples: says where and what.
    pub fn read(
        reader: impl Read + Seek,
        format: Format,
        name: impl fmt::Display,
    ) -> Result<Self, FileError> {
        let name = name.to_string();
        let read = || {
            let mut reader = BufReader::new(reader);
            if format == Format::Npz {
                let rows = npz::read(&mut reader, &name)?;
                return Ok(Self::new(&name, Form::Arrays(Box::new(rows)), Vec::new()));
            }
            let (text, is_marked) = text_of(reader)?;
            match format {
                Format::Npz | Format::Txt => Ok(text::read(&text, &name)),
                Format::Csv => csv::read(text, is_marked, &name),
                Format::Jsonl => jsonl::read(&text, &name),
            }
        };
        let table = read().map_err(|message| FileError::new(&name, message))?;
        let is_empty = match &table.form {
            Form::Arrays(rows) => rows.is_empty(),
            Form::Cells { .. } | Form::Objects(_) | Form::Lines => table.len() == 0,
        };
        if is_empty {
            return Err(table.refuse("it holds no samples"));
        }
        Ok(table)
    }
}

/// Writes both splits.
///
/// # Errors
/// When writing fails.
pub fn write(contents: DatasetFile<'_>, format: Format, writer: impl Write) -> std::io::Result<()> {
    contents.check_classes()?;
    match format {
        Format::Npz => npz::write(contents, writer),
        Format::Csv => csv::write(contents, writer),
        Format::Jsonl => jsonl::write(contents, writer),
        Format::Txt => Err(refused("a text file has neither labels nor splits")),
    }
}
