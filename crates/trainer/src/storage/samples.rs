//! Samples from the user: a dataset file, lines of text, one text, or one line of token ids.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use headlight_data::files::{self, FileError, Format, Records, Rows, read_lines, separator_of};
use headlight_data::{Columns, Dataset, DatasetConfig, LabelRule, Task};
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
/// order. Also returns whether all their labels are known, from the file or from the config's rule; and the samples as the
/// file has them. Says what became of the words of texts.
///
/// # Errors
/// When the file cannot be read, or a sample does not match the config.
pub fn read(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, bool, Rows), Failure> {
    let rows = rows(path, &config.data)?;
    let dataset = dataset(&rows, config)?;
    let labelled = has_labels(&rows, &config.data) || rule_knows_all(&dataset, &config.data);
    Ok((dataset, labelled, rows))
}

/// As [`read`], where each sample needs a label.
///
/// # Errors
/// As [`read`], and when neither the file nor the config's rule gives a sample's label.
pub fn read_labelled(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, Rows), Failure> {
    let rows = rows(path, &config.data)?;
    let dataset = dataset(&rows, config)?;
    if has_labels(&rows, &config.data) || rule_knows_all(&dataset, &config.data) {
        return Ok((dataset, rows));
    }
    let reason = rows.without_label(&config.data.columns);
    let reason = reason.map(|reason| reason + &rows.without_labels());
    let reason = reason.filter(|_| config.data.task == Task::Classification);
    let reason = reason.unwrap_or_else(|| {
        "its samples have no label per token; give `labels`, in .jsonl as a list beside `tokens`, in .npz with two axes".to_owned()
    });
    Err(Failure::reading(path, reason))
}

/// Whether a file has the labels of a config's task.
fn has_labels(rows: &Rows, data: &DatasetConfig) -> bool {
    match data.task {
        Task::Classification => rows.is_labelled() && !rows.are_each(),
        Task::TokenClassification => rows.are_each(),
        Task::NextToken => true,
    }
}

fn rule_knows_all(dataset: &Dataset, data: &DatasetConfig) -> bool {
    let knows_all = |rule: &LabelRule| {
        (0..dataset.len()).all(|sample| rule.knows(dataset.tokens(sample), dataset.cls()))
    };
    data.rule.as_ref().is_some_and(knows_all)
}

fn rows(path: &Path, data: &DatasetConfig) -> Result<Rows, Failure> {
    let are_texts = data.words.is_some();
    if path != Path::new(STANDARD) && format_named(path)?.is_some() {
        return dataset_file::read(path, &data.columns);
    }
    let (file, format) = open_as(path, data)?;
    match format {
        Some(format) => Ok(files::read(file, format, &data.columns, shown(path))?),
        None if !data.columns.features.is_empty() => {
            let reason =
                "the run was trained on columns; give a .csv, .tsv or .jsonl file that has them";
            Err(Failure::reading(path, reason))
        }
        None => Ok(read_lines(file, are_texts, shown(path))?),
    }
}

/// Opens a file of samples and tells its format, on standard input by its start; `None` for lines of text.
///
/// # Errors
/// When it cannot be read.
pub fn open_as(path: &Path, data: &DatasetConfig) -> Result<(File, Option<Format>), Failure> {
    if path == Path::new(STANDARD) {
        let mut file = open(path, FILE_LIMIT)?;
        let format = format_of(&mut file, data);
        let format = format.map_err(|error| Failure::unreadable(path, &error))?;
        return Ok((file, format));
    }
    if Format::to_read(path).is_none() {
        return Ok((open(path, FILE_LIMIT)?, None));
    }
    let (file, format) = dataset_file::open_as(path)?;
    // Lines are texts or token ids, as the run has them.
    Ok((file, Some(format).filter(|format| *format != Format::Txt)))
}

/// The format that a name tells; `None` for lines.
fn format_named(path: &Path) -> Result<Option<Format>, Failure> {
    let reason = "unknown file extension; use .npz, .csv, .tsv, .jsonl or .txt";
    let format = Format::to_read(path).ok_or_else(|| Failure::reading(path, reason))?;
    Ok(Some(format).filter(|format| *format != Format::Txt))
}

/// The format of a file without a name, by its start; `None` for lines of text.
fn format_of(file: &mut File, data: &DatasetConfig) -> std::io::Result<Option<Format>> {
    let mut start = Vec::new();
    file.take(START).read_to_end(&mut start)?;
    file.rewind()?;
    let start = String::from_utf8_lossy(&start).to_ascii_lowercase();
    let text = start.trim_start_matches('\u{feff}').trim_start();
    Ok(match text.split(['\n', '\r']).next().unwrap_or_default() {
        line if line.starts_with("pk") => Some(Format::Npz),
        line if line.starts_with('{') => Some(Format::Jsonl),
        line if line.contains("token_") || has_texts(line, data) => Some(Format::Csv),
        _ => None,
    })
}

/// Whether the first line of a file names the column of texts.
fn has_texts(line: &str, data: &DatasetConfig) -> bool {
    let text = data.columns.text_name();
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
    let mut table = header(features);
    for text in texts {
        if values(text, features).is_none() {
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

/// The first line of a table of columns.
fn header(features: &[String]) -> String {
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    features.iter().map(quoted).collect::<Vec<_>>().join(",")
}

/// The values of a row of columns; `None` if it has not one of each.
fn values(text: &str, features: &[String]) -> Option<Vec<String>> {
    let table = format!("{}\n{text}", header(features));
    let mut records = Records::new(table.as_bytes()).ok()?;
    let _header = records.next_cells().ok()??.count();
    let cells = records.next_cells().ok()??;
    let cells = cells.map(|cell| String::from_utf8_lossy(cell).trim().to_owned());
    let cells: Vec<String> = cells.collect();
    let is_one = cells.len() == features.len() && !text.contains('\n');
    is_one.then_some(cells)
}

/// The words of a text as the user wrote them, those that a sample has no room for among them; of a row of columns, its
/// values, each with its column.
pub fn written(text: &str, data: &DatasetConfig) -> Vec<String> {
    let features = &data.columns.features;
    if features.is_empty() {
        let words = data.words.as_ref();
        let written = words.map(|words| words.written(text).map(str::to_owned).collect());
        return written.unwrap_or_default();
    }
    let values = values(text, features).unwrap_or_default();
    let named = features.iter().zip(values);
    named
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
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
    let padding = config.model.attention.padding_token;
    if !rows.are_texts() {
        return rows.dataset(&config.data, padding);
    }
    let name = rows.name();
    let (rows, counts) = rows.tokenized(&config.data)?;
    for sentence in counts.losses(config.data.seq_len) {
        note(&format!("{name}: {sentence}"));
    }
    rows.dataset(&config.data, padding)
}
