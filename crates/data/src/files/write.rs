//! Writes a dataset file.

use std::io::Write;

use super::contents::{self, DatasetFile};
use super::formats::Format;
use super::{csv, jsonl, npz};

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
        Format::Txt => Err(contents::refused(
            "a text file has neither labels nor splits",
        )),
    }
}
