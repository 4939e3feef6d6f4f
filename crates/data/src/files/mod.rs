//! Dataset files: npz, CSV and JSONL, written and read back; and samples as lines of text.
//!
//! A file gives [`Rows`]: token ids, with a label and a split. [`Rows::complete`] answers the keys that a config
//! leaves out, and [`Rows::fit`] makes the samples of an experiment from them.

mod choice;
mod complete;
mod contents;
mod error;
mod fit;
mod formats;
mod header;
mod jsonl;
mod labels;
mod line_ends;
mod missing;
#[cfg_attr(target_family = "wasm", path = "no_npz.rs")]
mod npz;
mod profile;
mod records;
mod rows;
mod same;
mod table;
mod text;
mod texts;

use std::fmt;
use std::io::Read;

pub use choice::{Choice, LABELS, TEXTS};
pub use complete::FileKeys;
pub use contents::Contents;
pub use error::{FileError, FitError};
pub use formats::{Format, read, read_lines, write};
pub use labels::numbers_are_names;
pub use profile::Profile;
pub use records::Records;
pub use records::{separator_of, write_header};
pub use rows::Rows;

use crate::config::Columns;
use labels::Label;
use rows::{Counted, Held, Place, is_held_out};

/// Takes samples that are in no file as [`read`] takes those of a CSV file: for each its tokens, and the text of its label
/// and of its split. Messages call them `name`, and count them from line 1.
///
/// # Errors
/// As [`read`].
pub fn listed<'a>(
    samples: impl Iterator<Item = (&'a [i64], &'a str, &'a str)>,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let mut rows = Rows::new(name, Counted::Lines);
    let mut numbered = (1..).zip(samples);
    let done = numbered.try_for_each(|(line, (tokens, label, split))| {
        let place = Place::Line(line);
        let at = |reason: String| format!("{place}: {reason}");
        let label = Label::of_text(label).map_err(at)?;
        let held_out = is_held_out(split).map_err(at)?;
        rows.push(place, held_out, Some(label), Held::Tokens(tokens))
    });
    finished(rows, done)
}

/// Reads the samples of a CSV file, from the columns that a config names. `name` is what messages call the file.
///
/// # Errors
/// When the bytes are damaged, or hold something else than samples: says where and what.
pub fn read_table(
    reader: impl Read,
    columns: &Columns,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let mut rows = Rows::new(name, Counted::Lines);
    let done = table::read(line_ends::text(reader), columns, &mut rows);
    finished(rows, done)
}

fn finished(rows: Rows, done: Result<(), String>) -> Result<Rows, FileError> {
    match done {
        Ok(()) if rows.is_empty() => Err(FileError::new(&rows.name, "it holds no samples")),
        Ok(()) => Ok(rows),
        Err(message) => Err(FileError::new(&rows.name, message)),
    }
}
