//! Dataset files: npz, CSV and JSONL, written and read back; and samples as lines of text.
//!
//! A file is read once into a [`SampleTable`]. [`SampleTable::choose`] finds its columns, and [`SampleTable::samples`] gives [`Rows`]: token ids
//! or texts, with a label and a split. [`Rows::complete`] answers the keys that a config leaves out, and [`Rows::fit`] makes
//! the samples of an experiment from them.

mod choice;
mod complete;
mod contents;
mod csv;
mod error;
mod fit;
mod format;
mod jsonl;
mod labels;
#[cfg_attr(target_family = "wasm", path = "no_npz.rs")]
mod npz;
mod rows;
mod samples;
mod table;
mod text;
mod texts;

use std::fmt;

pub use choice::{ChoiceError, ChosenSamples, ColumnChoice, LABELS, TEXTS};
pub use complete::FileKeys;
pub use contents::DatasetToWrite;
pub use csv::write_header;
pub use error::{FileError, FitError};
pub use format::{Format, write};
pub use labels::numbers_are_names;
pub use rows::Rows;
pub use table::SampleTable;
pub use texts::HELD_OUT_PART;

use labels::Label;
use rows::{FoundSample, Place, SampleContent, SampleLabels, is_held_out};

/// Takes texts that are in no file as those of a text file.
///
/// # Errors
/// When there is none.
pub fn texts<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let found = |text| Ok(FoundSample::unlabelled(SampleContent::of_words(text)));
    Rows::collect(
        name,
        (1..).map(Place::Line).zip(texts.into_iter().map(found)),
    )
}

/// Takes samples that are in no file as those of a CSV file: for each its tokens, and the text of its label and of its split.
/// Messages call them `name`, and count them from line 1.
///
/// # Errors
/// As [`SampleTable::samples`].
pub fn tokens<'a>(
    samples: impl Iterator<Item = (&'a [i64], &'a str, &'a str)>,
    name: impl fmt::Display,
) -> Result<Rows, FileError> {
    let found = |(tokens, label, split): (&[i64], &str, &str)| {
        let label = Label::of_text(label)?;
        Ok(FoundSample {
            held_out: is_held_out(split)?,
            labels: SampleLabels::One(Some(label)),
            content: SampleContent::of_ids(tokens.iter().copied())?,
        })
    };
    Rows::collect(name, (1..).map(Place::Line).zip(samples.map(found)))
}
