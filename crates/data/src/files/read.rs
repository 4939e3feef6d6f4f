//! Reads a dataset file into a table.

use std::fmt;
use std::io::{BufReader, Read, Seek};

use super::error::FileError;
use super::formats::Format;
use super::table::{Form, Table};
use super::text::text_of;
use super::{csv, jsonl, npz, text};

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
