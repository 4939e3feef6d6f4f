//! Data in place of a config: a file of samples is trained on with a built-in config, into which its columns are written.

use std::path::Path;

use headlight_data::files::{ChosenSamples, FileError, Format, HELD_OUT_PART};
use headlight_data::{ClsPlace, ColumnNames, Task};
use serde::Serialize;

use crate::{DatasetFiles, Failure, option, shown};

/// The configs of files: of texts, and of other samples.
const TEXTS: &str = include_str!("../../../../configs/files/texts.toml");
const SAMPLES: &str = include_str!("../../../../configs/files/samples.toml");

/// The config of a data file.
#[derive(Debug)]
pub(crate) struct DataConfig {
    /// What was chosen as samples and labels, in one line.
    pub choice: String,
    /// The config, as TOML.
    pub text: String,
}

/// The keys of `[data]` that a data file gives.
#[derive(Serialize)]
struct Keys<'a> {
    file: &'a str,
    #[serde(flatten)]
    columns: &'a ColumnNames,
    task: Option<Task>,
    cls: Option<ClsPlace>,
    held_out: Option<usize>,
}

/// Whether what a user names in place of a config is data, by its name.
pub fn is_data(path: &Path) -> bool {
    Format::to_read(path).is_some()
}

/// The config of a data file, with the columns that the user names, or else those that fit.
pub(crate) fn config(
    path: &Path,
    named: &ColumnNames,
    files: &DatasetFiles,
) -> Result<DataConfig, Failure> {
    let name = path.to_str().ok_or_else(|| {
        Failure::reading(
            path,
            "its path is not valid Unicode, so a config cannot name it; rename it",
        )
    })?;
    let table = files.table(path)?;
    let choice = table.choose(named).map_err(|error| {
        let mut message = vec![error.message];
        let before = ["; name the column", ", and that"];
        for (key, before) in error.to_name.iter().zip(before) {
            let name = match *key {
                "text" => option("--text", "data=dict(text=NAME)"),
                _ => option("--label", "data=dict(label=NAME)"),
            };
            message.push(format!("{before} of {key}s with {name}"));
        }
        FileError {
            name: shown(path),
            message: message.concat(),
        }
    })?;
    let mut keys = Keys {
        file: name,
        columns: &choice.columns,
        task: None,
        cls: None,
        held_out: None,
    };
    if let ChosenSamples::Tokens | ChosenSamples::LabelledTokens = choice.samples {
        let rows = table.samples(&choice.columns)?;
        keys.task = rows.has_token_labels().then_some(Task::TokenClassification);
        keys.cls = rows.ends_in_cls().then_some(ClsPlace::Last);
        // For texts, the reader of the file does so.
        if !(0..rows.len()).any(|row| rows.is_held_out(row)) {
            keys.held_out = Some((rows.len() / HELD_OUT_PART).max(1));
        }
    }
    let ends_in_cls = keys.cls.is_some();
    let keys = toml::to_string(&keys).map_err(|error| {
        Failure::reading(path, format!("no config can name its columns: {error}"))
    })?;
    let template = match choice.samples {
        ChosenSamples::Texts => TEXTS,
        _ => SAMPLES,
    };
    let (sentence, rest) = template.split_once("[data]\n").unwrap_or((template, ""));
    let mut choice = choice.describe();
    if ends_in_cls {
        choice += "; token 0, the last of each row: [CLS]";
    }
    let shown_choice = choice.replace(char::is_control, " ");
    let text = format!("{sentence}# {shown_choice}\n\n[data]\n{keys}{rest}");
    Ok(DataConfig { choice, text })
}
