//! Samples from the user: a dataset file, lines of text, or one line of token ids.

use std::io::Read;
use std::path::Path;

use headlight_data::Dataset;
use headlight_data::files::{FileError, Rows, read_text};
use headlight_experiment::config::ExperimentConfig;
use headlight_input::FILE_LIMIT;

use crate::files::open;
use crate::standard::{STANDARD, shown};
use crate::{Failure, dataset_file};

/// Reads samples from a dataset file (both splits), or from a text file or standard input (`-`), in the file's order. Also
/// returns whether their labels are known: from the file, or from the config's rule.
///
/// # Errors
/// When the file cannot be read, or a sample does not match the config.
pub fn read(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, bool), Failure> {
    let is_text = path == Path::new(STANDARD) || path.extension().is_some_and(|name| name == "txt");
    let rows = if is_text {
        read_text(open(path, FILE_LIMIT)?, shown(path))?
    } else {
        dataset_file::read(path)?
    };
    let labelled = rows.is_labelled() || config.data.rule.is_some();
    Ok((dataset(&rows, config)?, labelled))
}

/// Reads samples from text, one per line. Messages call it `name`.
///
/// # Errors
/// When a line is invalid.
pub fn parse(text: impl Read, name: &str, config: &ExperimentConfig) -> Result<Dataset, Failure> {
    let rows = read_text(text, name)?;
    Ok(dataset(&rows, config)?)
}

fn dataset(rows: &Rows, config: &ExperimentConfig) -> Result<Dataset, FileError> {
    rows.dataset(&config.data, config.model.attention.padding_token)
}
