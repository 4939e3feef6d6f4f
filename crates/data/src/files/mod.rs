//! Dataset files: npz, CSV and JSONL, written and read back; and samples as lines of text.
//!
//! A file is read once into a [`Table`]. [`Table::choose`] finds its columns, and [`Table::samples`] gives [`Rows`]: token ids
//! or texts, with a label and a split. [`Rows::complete`] answers the keys that a config leaves out, and [`Rows::fit`] makes
//! the samples of an experiment from them.

mod choice;
mod complete;
mod contents;
mod csv;
mod error;
mod fit;
mod formats;
mod jsonl;
mod labels;
mod notes;
#[cfg_attr(target_family = "wasm", path = "no_npz.rs")]
mod npz;
mod read;
mod rows;
mod same;
mod samples;
mod table;
mod text;
mod texts;
mod write;

use std::fmt;

pub use choice::{ChoiceError, ChosenSamples, ColumnChoice, LABELS, TEXTS};
pub use complete::FileKeys;
pub use contents::DatasetFile;
pub use csv::{header_names, write_header};
pub use error::{FileError, FitError};
pub use formats::Format;
pub use labels::numbers_are_names;
pub use rows::Rows;
pub use table::Table;
pub use write::write;

use labels::Label;
use rows::{Place, SampleContent, is_held_out, words};

/// Takes texts that are in no file as those of a text file.
///
/// # Errors
/// When there is none.
pub fn texts<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let mut rows = Rows::new(name);
    let mut numbered = (1..).zip(texts);
    let done = numbered.try_for_each(|(line, text)| {
        rows.push(
            Place::Line(line),
            false,
            None,
            SampleContent::Text(&words(text)),
        )
    });
    rows.finished(done)
}

/// Takes samples that are in no file as those of a CSV file: for each its tokens, and the text of its label and of its split.
/// Messages call them `name`, and count them from line 1.
///
/// # Errors
/// As [`Table::samples`].
pub fn listed<'a>(
    samples: impl Iterator<Item = (&'a [i64], &'a str, &'a str)>,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let mut rows = Rows::new(name);
    let mut numbered = (1..).zip(samples);
    let done = numbered.try_for_each(|(line, (tokens, label, split))| {
        let place = Place::Line(line);
        let at = |reason: String| format!("{place}: {reason}");
        let label = Label::of_text(label).map_err(at)?;
        let held_out = is_held_out(split).map_err(at)?;
        rows.push(place, held_out, Some(label), SampleContent::Tokens(tokens))
    });
    rows.finished(done)
}
