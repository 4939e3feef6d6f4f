//! Samples from the user: a dataset file, lines of text, one text, or one line of token ids.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use headlight_data::files::{self, FileError, Format, Rows, read_lines, separator_of};
use headlight_data::{Columns, Dataset, DatasetConfig, LabelRule};
use headlight_experiment::config::ExperimentConfig;
use headlight_input::FILE_LIMIT;

use crate::Failure;
use crate::notes::note;
use crate::storage::dataset_file;
use crate::storage::files::open;
use crate::storage::standard::{STANDARD, shown};

/// How much of standard input is read to find its format, in bytes.
const START: u64 = 1 << 16;

/// Reads samples from a dataset file (both splits), from a text file, or from either on standard input (`-`), in the file's
/// order. Also returns whether all their labels are known: from the file, or from the config's rule. Says what became of
/// the words of texts.
///
/// # Errors
/// When the file cannot be read, or a sample does not match the config.
pub fn read(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, bool), Failure> {
    let data = &config.data;
    let are_texts = data.words.is_some();
    let is_standard = path == Path::new(STANDARD);
    let named = if is_standard {
        None
    } else {
        format_named(path)?
    };
    let rows = if named.is_some() {
        dataset_file::read(path, &data.columns)?
    } else {
        let mut file = open(path, FILE_LIMIT)?;
        let format = if is_standard {
            format_of(&mut file, data).map_err(|error| Failure::unreadable(path, &error))?
        } else {
            None
        };
        match format {
            Some(format) => files::read(file, format, &data.columns, shown(path))?,
            None if !data.columns.features.is_empty() => {
                let reason = "the run was trained on columns; give a .csv, .tsv or .jsonl file that has them";
                return Err(Failure::reading(path, reason));
            }
            None => read_lines(file, are_texts, shown(path))?,
        }
    };
    let dataset = dataset(&rows, config)?;
    let knows_all =
        |rule: &LabelRule| (0..dataset.len()).all(|sample| rule.knows(dataset.tokens(sample)));
    let labelled = rows.is_labelled() || data.rule.as_ref().is_some_and(knows_all);
    Ok((dataset, labelled))
}

/// The format that a name tells; `None` for lines of token ids.
fn format_named(path: &Path) -> Result<Option<Format>, Failure> {
    if path.extension().is_some_and(|name| name == "txt") {
        return Ok(None);
    }
    let reason = "unknown file extension; use .npz, .csv, .tsv, .jsonl or .txt";
    let format = Format::to_read(path).ok_or_else(|| Failure::reading(path, reason))?;
    Ok(Some(format))
}

/// The format of a file without a name, by its start; `None` for lines of text.
fn format_of(file: &mut File, data: &DatasetConfig) -> std::io::Result<Option<Format>> {
    let mut start = Vec::new();
    file.take(START).read_to_end(&mut start)?;
    file.rewind()?;
    let start = String::from_utf8_lossy(&start).to_ascii_lowercase();
    let text = start.trim_start_matches('\u{feff}').trim_start();
    Ok(match text.lines().next().unwrap_or_default() {
        line if line.starts_with("pk") => Some(Format::Npz),
        line if line.starts_with('{') => Some(Format::Jsonl),
        line if line.contains("token_") || has_texts(line, data) => Some(Format::Csv),
        _ => None,
    })
}

/// Whether the first line of a file names the column of texts.
fn has_texts(line: &str, data: &DatasetConfig) -> bool {
    let text = data.columns.text.as_deref().unwrap_or("text");
    let own = data.columns.features.first().map_or(text, String::as_str);
    let names = line.split(separator_of(line));
    let mut names = names.map(|name| name.trim().trim_matches('"'));
    data.words.is_some() && names.any(|name| name == own.to_ascii_lowercase())
}

/// Reads texts with the words of a run. Messages call them `name`, and do not number the first.
///
/// # Errors
/// When the run has no words.
pub fn parse_texts<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    name: &str,
    config: &ExperimentConfig,
) -> Result<Dataset, Failure> {
    let features = &config.data.columns.features;
    if !features.is_empty() {
        return parse_values(texts, name, config);
    }
    let mut lines = String::new();
    for text in texts {
        // One line each, even if it has no words.
        lines.extend(text.split_whitespace().flat_map(|word| [word, " "]));
        lines.push('\n');
    }
    let rows = read_lines(lines.as_bytes(), true, name).map_err(unnumbered)?;
    Ok(dataset(&rows, config).map_err(unnumbered)?)
}

/// Reads rows of values, separated by commas, in the order of a run's columns.
fn parse_values<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    name: &str,
    config: &ExperimentConfig,
) -> Result<Dataset, Failure> {
    let features = &config.data.columns.features;
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    let mut table = features.iter().map(quoted).collect::<Vec<_>>().join(",");
    for text in texts {
        if text.split(',').count() != features.len() || text.contains(['\n', '"']) {
            return Err(Failure::Input(format!(
                "{name}: the run was trained on columns; give a value of each, separated by commas: {}",
                features.join(",")
            )));
        }
        table.push('\n');
        table.push_str(text);
    }
    let columns = Columns {
        features: features.clone(),
        ..Columns::default()
    };
    let rows = files::read(Cursor::new(table), Format::Csv, &columns, name);
    Ok(dataset(&rows.map_err(unnumbered)?, config).map_err(unnumbered)?)
}

/// Reads samples from text, one per line. Messages call it `name`, and do not number its first line.
///
/// # Errors
/// When a line is invalid.
pub fn parse(text: impl Read, name: &str, config: &ExperimentConfig) -> Result<Dataset, Failure> {
    let rows = read_lines(text, false, name).map_err(|error| {
        let mut error = unnumbered(error);
        if config.data.words.is_some() {
            error.message += "; for a text, use --text";
        }
        error
    })?;
    Ok(dataset(&rows, config).map_err(unnumbered)?)
}

fn unnumbered(error: FileError) -> FileError {
    let message = error.message.trim_start_matches("line 1: ").to_owned();
    FileError { message, ..error }
}

fn dataset(rows: &Rows, config: &ExperimentConfig) -> Result<Dataset, FileError> {
    if rows.are_texts() {
        let (_, counts) = rows.tokenized(&config.data)?;
        for sentence in counts.losses(config.data.seq_len) {
            note(&sentence);
        }
    }
    rows.dataset(&config.data, config.model.attention.padding_token)
}
