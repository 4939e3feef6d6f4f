//! Dataset files: npz, CSV and JSONL, written and read back; and samples as lines of text.
//!
//! A file gives [`Rows`]: token ids, with a label and a split. [`Rows::complete`] answers the keys that a config
//! leaves out, and [`Rows::fit`] makes the samples of an experiment from them.

mod complete;
#[cfg(feature = "files")]
mod contents;
mod fit;
#[cfg(feature = "files")]
mod formats;
#[cfg(feature = "files")]
mod jsonl;
mod labels;
#[cfg(feature = "files")]
mod npz;
mod rows;
#[cfg(feature = "files")]
mod table;
#[cfg(feature = "files")]
mod text;
#[cfg(feature = "files")]
mod texts;

use std::fmt;

pub use complete::FileKeys;
#[cfg(feature = "files")]
pub use contents::Contents;
#[cfg(feature = "files")]
pub use formats::{Format, read, read_lines, write};
pub use labels::numbers_are_names;
pub use rows::Rows;

use labels::Label;
use rows::{Counted, Held, Place, is_held_out};

use crate::invalid::InvalidValue;

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

fn finished(rows: Rows, done: Result<(), String>) -> Result<Rows, FileError> {
    match done {
        Ok(()) if rows.is_empty() => Err(FileError::new(&rows.name, "it holds no samples")),
        Ok(()) => Ok(rows),
        Err(message) => Err(FileError::new(&rows.name, message)),
    }
}
