//! Data in place of a config: a file of samples is trained on with a built-in config, into which its columns are written.

use std::path::Path;

use headlight_data::files::{ChosenSamples, FileError, Format, ToName};
use headlight_data::{ClsPlace, Columns, Task};
use toml::{Table, Value};

use crate::Failure;
use crate::storage::dataset_file::Files;
use crate::storage::standard::shown;

/// The configs of files: of texts, and of other samples.
const TEXTS: &str = include_str!("../../../../configs/files/texts.toml");
const SAMPLES: &str = include_str!("../../../../configs/files/samples.toml");

/// Their names. A config cannot be chosen by them, since both need a file.
pub(super) const NAMES: [&str; 2] = ["texts", "samples"];

/// Without splits of its own, a file of token ids has this part of its samples held out; other files, too, but their
/// reader does that.
const HELD_OUT_PART: usize = 5;

/// The config of a data file.
#[derive(Debug)]
pub struct DataConfig {
    /// What was chosen as samples and labels, in one line.
    pub choice: String,
    /// The config, as TOML.
    pub text: String,
}

/// Whether what a user names in place of a config is data, by its name.
pub fn is_data(path: &Path) -> bool {
    Format::to_read(path).is_some()
}

/// The config of a data file, with the columns that the user names, or else those that fit.
///
/// # Errors
/// When the file cannot be read, or its columns cannot be told; the message says how to name them.
pub fn config(path: &Path, named: &Columns, files: &Files) -> Result<DataConfig, Failure> {
    let name = path.to_str().ok_or_else(|| {
        Failure::reading(
            path,
            "its path is not valid Unicode, so a config cannot name it; rename it",
        )
    })?;
    let table = files.table(path)?;
    let choice = table.choose(named).map_err(|error| {
        let remedy = match error.to_name {
            Some(ToName::Texts) => "; name the column of texts with --text",
            Some(ToName::Labels) => "; name the column of labels with --label",
            None => "",
        };
        FileError {
            name: shown(path),
            message: error.message + remedy,
        }
    })?;
    let columns = &choice.columns;
    let mut lines: Vec<(&str, Value)> = vec![("file", name.into())];
    lines.extend(
        columns
            .text
            .iter()
            .map(|text| ("text", text.as_str().into())),
    );
    if !columns.features.is_empty() {
        lines.push(("features", columns.features.clone().into()));
    }
    lines.extend(
        columns
            .label
            .iter()
            .map(|label| ("label", label.as_str().into())),
    );
    if let ChosenSamples::Tokens | ChosenSamples::LabelledTokens = choice.samples {
        let rows = table.samples(columns)?;
        if rows.are_each() {
            lines.push(("task", Task::TokenClassification.name().into()));
        }
        if rows.ends_in_cls() {
            lines.push(("cls", ClsPlace::Last.name().into()));
        }
        if !(0..rows.len()).any(|row| rows.is_held_out(row)) {
            let count = (rows.len() / HELD_OUT_PART).max(1);
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            lines.push(("held_out", Value::Integer(count)));
        }
    }
    let template = match choice.samples {
        ChosenSamples::Texts => TEXTS,
        _ => SAMPLES,
    };
    let (sentence, rest) = template.split_once("[data]\n").unwrap_or((template, ""));
    // A line each, in this order.
    let keys: String = lines
        .into_iter()
        .map(|(key, value)| Table::from_iter([(key.to_owned(), value)]).to_string())
        .collect();
    let choice = choice.describe();
    let shown_choice = choice.replace(char::is_control, " ");
    let text = format!("{sentence}# {shown_choice}\n\n[data]\n{keys}{rest}");
    Ok(DataConfig { choice, text })
}
