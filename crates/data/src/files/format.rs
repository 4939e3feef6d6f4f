//! The formats of dataset files: the one that a name tells, and how each is read and written.

use std::fmt;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;

use super::contents::{DatasetToWrite, refused};
use super::csv::header_names;
use super::error::FileError;
use super::table::{Form, SampleTable};
use super::text::text_of;
use super::{csv, jsonl, npz, text};
use crate::config::DatasetConfig;

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
    /// The format of a file to read, by its name, and whether it is packed: also `.tsv`, which is CSV with tabs, and any of these
    /// with `.gz`. `None` if it is not a dataset file.
    pub fn to_read(path: &Path) -> Option<(Self, bool)> {
        let name = path.file_name()?.to_str()?;
        let unpacked = name.strip_suffix(".gz");
        let format = match unpacked.unwrap_or(name).rsplit_once('.') {
            Some((_, "tsv")) => Self::Csv,
            Some((_, "txt")) => Self::Txt,
            _ => Self::of(Path::new(unpacked.unwrap_or(name))).ok()?,
        };
        Some((format, unpacked.is_some()))
    }

    /// The format of samples without a name, by their first bytes; `data` is the config that takes them.
    pub fn of_start(start: &[u8], data: &DatasetConfig) -> Self {
        let start = String::from_utf8_lossy(start).to_ascii_lowercase();
        let text = start.trim_start_matches('\u{feff}').trim_start();
        let first = data.columns.features.first();
        let name = first.map_or(data.columns.text_name(), String::as_str);
        let name = name.to_ascii_lowercase();
        match text.split(['\n', '\r']).next().unwrap_or_default() {
            line if line.starts_with("pk") => Self::Npz,
            line if line.starts_with('{') => Self::Jsonl,
            line if line.contains("token_") || line.starts_with("sep=") => Self::Csv,
            line if data.words.is_some() && header_names(line).any(|one| one == name) => Self::Csv,
            _ => Self::Txt,
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

impl SampleTable {
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
pub fn write(
    contents: DatasetToWrite<'_>,
    format: Format,
    writer: impl Write,
) -> std::io::Result<()> {
    contents.check()?;
    match format {
        Format::Npz => npz::write(contents, writer),
        Format::Csv => csv::write(contents, writer),
        Format::Jsonl => jsonl::write(contents, writer),
        Format::Txt => Err(refused("a text file has neither labels nor splits")),
    }
}
