//! Config files, and the paths that configs name.

use std::path::{Path, PathBuf};

use headlight_analysis::measures;
use headlight_data::{ColumnNames, Source};
use headlight_experiment::config::{ExperimentConfig, toml};
use serde_json::Value as Json;

use crate::devices;
use crate::files::built_in;
use crate::files::data_file;
use crate::files::dataset_file;
use crate::{DatasetFiles, Failure, note, option, shown};
use ::toml::Value;

/// Reads a config, a file or a built-in one, applies changes ([`toml::Change`]), completes it from its dataset file, and
/// checks the result.
///
/// # Errors
/// When the file cannot be read, or the config is invalid; the message names the file, the line and the column,
/// or the change, and shows the line.
pub fn load(path: &Path, changes: &[String]) -> Result<ExperimentConfig, Failure> {
    load_with(path, changes, &DatasetFiles::default())
}

/// As [`load`], with the files that the command has read.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    path: &Path,
    changes: &[String],
    files: &DatasetFiles,
) -> Result<ExperimentConfig, Failure> {
    let (text, choice) = text_of(path, changes.iter().map(String::as_str), files)?;
    if let Some(choice) = choice {
        note(&format!("{}: {choice}", shown(path)));
    }
    parse(path, &text, with_flags(changes), files)
}

/// Changes with the flags that give them.
pub fn with_flags(changes: &[String]) -> impl Iterator<Item = toml::Change<'_>> + Clone {
    changes.iter().map(|text| {
        let flag = if text.contains('=') {
            "--set"
        } else {
            "--unset"
        };
        (option(flag, "argument"), text.as_str())
    })
}

/// As [`load_with`], with changes from any flag; each change comes with its flag, which messages name.
///
/// # Errors
/// As [`load`].
pub fn load_changed<'a>(
    path: &Path,
    changes: impl Iterator<Item = toml::Change<'a>>,
    files: &DatasetFiles,
) -> Result<ExperimentConfig, Failure> {
    let changes: Vec<_> = changes.collect();
    let (text, _) = text_of(path, changes.iter().map(|(_, text)| *text), files)?;
    parse(path, &text, changes.into_iter(), files)
}

/// The text of a config; for a data file, its own one, and what was chosen in it.
///
/// # Errors
/// When a file cannot be read.
pub fn text_of<'a>(
    path: &Path,
    changes: impl Iterator<Item = &'a str>,
    files: &DatasetFiles,
) -> Result<(String, Option<String>), Failure> {
    if !data_file::is_data(path) {
        let text = built_in::config_text(path);
        let is_toml = |text: &String| text.parse::<::toml::Table>().is_ok();
        let ending = path.extension().filter(|ending| *ending != "toml");
        if path.is_file() && ending.is_some() && !text.as_ref().is_ok_and(is_toml) {
            return Err(Failure::reading(path, NO_CONFIG));
        }
        return Ok((text?, None));
    }
    let named = named_columns(changes);
    let data_file::DataConfig { choice, text } = data_file::config(path, &named, files)?;
    Ok((text, Some(choice)))
}

/// What is wrong with a file that is neither a config nor data.
const NO_CONFIG: &str = "it is neither a TOML config nor a data file (.csv, .tsv, .jsonl or .npz, also with .gz); if it is a table, save it as CSV; if it is a text file, name it as data.file in a config";

/// The columns that changes of a config name.
fn named_columns<'a>(changes: impl Iterator<Item = &'a str>) -> ColumnNames {
    let mut columns = ColumnNames::default();
    for (key, value) in changes.filter_map(|change| change.split_once('=')) {
        let (key, value) = (key.trim(), value.trim());
        let parsed = value.parse::<Value>();
        let parsed = parsed.unwrap_or_else(|_| Value::String(value.to_owned()));
        match (key, parsed) {
            ("data.text", Value::String(name)) => columns.text = Some(name),
            ("data.label", Value::String(name)) => columns.label = Some(name),
            ("data.sample_weight", Value::String(name)) => columns.sample_weight = Some(name),
            ("data.features", names) => columns.features = names.try_into().unwrap_or_default(),
            _ => {}
        }
    }
    columns
}

/// As [`load_changed`], from the text of the file `path`.
///
/// # Errors
/// As [`load`].
pub fn parse<'a>(
    path: &Path,
    text: &str,
    changes: impl Iterator<Item = toml::Change<'a>>,
    files: &DatasetFiles,
) -> Result<ExperimentConfig, Failure> {
    // The user wrote no config for a data file.
    let prefix = if data_file::is_data(path) {
        "the config of "
    } else {
        ""
    };
    let name = format!("{prefix}{}", shown(path));
    let mut of_machine = None;
    let complete = |table: &mut _| {
        dataset_file::complete(table, files).map_err(|failure| {
            let message = failure.to_string();
            of_machine = Some(failure).filter(|failure| matches!(failure, Failure::System(_)));
            message
        })
    };
    let check =
        |config: &ExperimentConfig| measures::check(config).and_then(|()| devices::check(config));
    let parsed = toml::parse(&name, text, changes, complete, check);
    parsed.map_err(|message| of_machine.unwrap_or(Failure::Input(message)))
}

/// A config as TOML, as a run directory holds it.
pub(crate) fn to_toml(config: &ExperimentConfig) -> Result<String, Failure> {
    ::toml::to_string(config)
        .map_err(|error| Failure::System(format!("the config cannot be written: {error}")))
}

/// A config as JSON, as checkpoints and dumps hold it.
pub(crate) fn to_json(config: &ExperimentConfig) -> Result<Json, Failure> {
    serde_json::to_value(config)
        .map_err(|error| Failure::System(format!("the config cannot be written: {error}")))
}

/// The config with absolute paths, by which a run's own config names its files. In a config, paths are relative to the working
/// folder.
pub(crate) fn with_absolute_paths(
    mut config: ExperimentConfig,
) -> Result<ExperimentConfig, Failure> {
    for path in paths(&mut config).filter(|path| built_in::data_file(path).is_none()) {
        let whole =
            std::path::absolute(&*path).map_err(|error| Failure::unreadable(path, &error))?;
        if whole.to_str().is_none() {
            let reason =
                "its path is not valid Unicode, so a config cannot name it; rename the folder";
            return Err(Failure::reading(&whole, reason));
        }
        *path = whole;
    }
    Ok(config)
}

/// The config with file names in place of paths, for dumps, checkpoints and pages: no path leaks, and their bytes are the same
/// wherever a run is resumed.
pub(crate) fn with_file_names(mut config: ExperimentConfig) -> ExperimentConfig {
    for path in paths(&mut config) {
        *path = PathBuf::from(path.file_name().unwrap_or_default());
    }
    config
}

/// The paths of a config's files.
fn paths(config: &mut ExperimentConfig) -> impl Iterator<Item = &mut PathBuf> {
    let file = match &mut config.data.source {
        Source::File(path) => Some(path),
        Source::Generated(_) => None,
    };
    let tests = config.tests.iter_mut();
    file.into_iter()
        .chain(&mut config.training.start)
        .chain(tests.filter_map(|test| test.file.as_mut()))
}
