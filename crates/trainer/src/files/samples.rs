//! Samples from the user: a dataset file, lines of text, one text, or one line of token ids.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;
use std::rc::Rc;

use headlight_data::files::{self, FileError, Format, Rows, SampleTable};
use headlight_data::words::composed;
use headlight_data::{ColumnNames, Dataset, DatasetConfig, LabelRule, Source};
use headlight_experiment::config::ExperimentConfig;
use headlight_input::FILE_LIMIT;

use crate::files::access::open;
use crate::{DatasetFiles, Failure, STANDARD, note, shown};

/// How much of standard input is read to find its format, in bytes.
const START: u64 = 1 << 16;

/// Samples as a config takes them, in the order of their file.
#[derive(Debug)]
pub struct SampleFile {
    /// The samples.
    pub dataset: Dataset,
    /// Whether all their labels are known, from the file or from the config's rule.
    pub labelled: bool,
    /// The samples as the file has them.
    pub rows: Rows,
    /// The file.
    pub table: Rc<SampleTable>,
}

impl SampleFile {
    /// Notes labels that contradict the config's rule.
    pub fn compare_with_rule(&self, config: &DatasetConfig) {
        if let Some(reason) = self.rows.contradiction(&self.dataset, config) {
            let name = self.rows.name();
            note(&format!(
                "{name}: {reason}; Headlight uses the file's labels"
            ));
        }
    }
}

/// Reads samples from a dataset file (both splits), from a text file, or from either on standard input (`-`). Says what
/// became of the words of texts.
///
/// # Errors
/// When the file cannot be read, or a sample does not match the config.
pub fn read(path: &Path, config: &ExperimentConfig) -> Result<SampleFile, Failure> {
    let data = &config.data;
    let table = table(path, data)?;
    let rows = if !table.is_of_lines() {
        let columns = if table.has_columns() {
            &data.columns
        } else {
            &ColumnNames::default()
        };
        table.samples(columns)?
    } else if let Some(words) = data.words.as_ref().filter(|words| words.one_text) {
        table.windows(words, data.seq_len)?
    } else if data.columns.features.is_empty() {
        // Lines are texts or token ids, as the run has them.
        table.lines(data.words.is_some())?
    } else {
        let reason =
            "the run was trained on columns; give a .csv, .tsv or .jsonl file that has them";
        return Err(Failure::reading(path, reason));
    };
    check_names(path, &rows, data)?;
    let dataset = dataset(&rows, config)?;
    let knows_all = |rule: &LabelRule| {
        (0..dataset.len()).all(|sample| rule.has_label(dataset.tokens(sample), dataset.cls()))
    };
    Ok(SampleFile {
        labelled: rows.missing_labels(data, "").is_none()
            || data.rule.as_ref().is_some_and(knows_all),
        dataset,
        rows,
        table,
    })
}

/// Checks that labels are names of the run's classes, if they have names: another file may number its classes in another order.
/// Where labels of the run's own file are numbers, those of others are, too.
pub(crate) fn check_names(path: &Path, rows: &Rows, data: &DatasetConfig) -> Result<(), Failure> {
    if !rows.has_numbered_labels(data) {
        return Ok(());
    }
    if let Source::File(training_path) = &data.source
        && let Ok(training_file) = DatasetFiles::default().rows(training_path, data)
        && training_file.has_numbered_labels(data)
    {
        return Ok(());
    }
    let reason = format!(
        "its labels are numbers, and the classes of the run have names, in an order that the file may not share; write {} in their place",
        data.classes.join(", ")
    );
    Err(Failure::reading(path, reason))
}

/// As [`read`], where each sample needs a label.
///
/// # Errors
/// As [`read`], and when neither the file nor the config's rule gives a sample's label.
pub fn read_labelled(path: &Path, config: &ExperimentConfig) -> Result<SampleFile, Failure> {
    let samples = read(path, config)?;
    if samples.labelled {
        return Ok(samples);
    }
    let remedy = "give the column of labels this name";
    let reason = samples.rows.missing_labels(&config.data, remedy);
    let rule = match &config.data.rule {
        Some(_) => "; the rule does not label all samples either",
        None => "",
    };
    Err(Failure::reading(path, reason.unwrap_or_default() + rule))
}

/// The table of a file; on standard input, its start tells the format.
fn table(path: &Path, data: &DatasetConfig) -> Result<Rc<SampleTable>, Failure> {
    if path != Path::new(STANDARD) {
        return DatasetFiles::default().table(path);
    }
    let mut file = open(path, FILE_LIMIT)?;
    let format = format_of(&mut file, data).map_err(|error| Failure::unreadable(path, &error))?;
    Ok(Rc::new(SampleTable::read(file, format, shown(path))?))
}

/// The format of a file without a name, by its start.
fn format_of(file: &mut File, data: &DatasetConfig) -> std::io::Result<Format> {
    let mut start = Vec::new();
    file.take(START).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(Format::of_start(&start, data))
}

/// Reads texts with the words of a run. Messages call them `name`, and do not number the first.
///
/// # Errors
/// When the run has no words, or a row does not fit its columns.
pub fn parse_texts<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    name: &str,
    config: &ExperimentConfig,
) -> Result<Dataset, Failure> {
    let features = &config.data.columns.features;
    if features.is_empty() {
        let rows = files::texts(texts, name);
        let dataset = rows.and_then(|rows| dataset(&rows, config));
        return Ok(dataset.map_err(unnumbered)?);
    }
    let mut lines = header(features) + "\n";
    for text in texts {
        if values(text, features).is_none() {
            return Err(Failure::Input(format!(
                "{name}: the run was trained on columns; give a value of each, separated by commas: {}",
                features.join(",")
            )));
        }
        lines.push_str(text);
        lines.push('\n');
    }
    let columns = ColumnNames {
        features: features.clone(),
        ..ColumnNames::default()
    };
    let rows = table_of(lines, Format::Csv, name).and_then(|table| table.samples(&columns));
    let dataset = rows.and_then(|rows| dataset(&rows, config));
    Ok(dataset.map_err(unnumbered)?)
}

fn table_of(text: String, format: Format, name: &str) -> Result<SampleTable, FileError> {
    SampleTable::read(Cursor::new(text), format, name)
}

/// The first line of a table of columns.
fn header(features: &[String]) -> String {
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    features.iter().map(quoted).collect::<Vec<_>>().join(",")
}

/// The values of a row of columns; `None` if it has not one of each.
fn values(text: &str, features: &[String]) -> Option<Vec<String>> {
    let lines = format!("{}\n{text}", header(features));
    let table = table_of(lines, Format::Csv, "").ok()?;
    let cells = table.texts(0).map(|cell| cell.trim().to_owned());
    let cells: Vec<String> = cells.collect();
    (cells.len() == features.len() && !text.contains('\n')).then_some(cells)
}

/// The words of a text as the user wrote them, those that a sample has no room for among them; of a row of columns, its
/// values, each with its column.
pub fn written(text: &str, data: &DatasetConfig) -> Vec<String> {
    let features = &data.columns.features;
    if features.is_empty() {
        let words = data.words.as_ref();
        let text = composed(text);
        let written = words.map(|words| words.split(&text).map(str::to_owned).collect());
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
pub fn parse(text: String, name: &str, config: &ExperimentConfig) -> Result<Dataset, Failure> {
    let rows = table_of(text, Format::Txt, name).and_then(|table| table.lines(false));
    let rows = rows.map_err(|error| {
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
    let name = rows.name();
    if !rows.are_texts() {
        let dataset = rows.dataset(&config.data, padding)?;
        if let Some(sentence) = sides_of_padding(dataset.all_tokens(), config, false) {
            note(&format!("{name}: {sentence}"));
        }
        return Ok(dataset);
    }
    let (rows, counts) = rows.tokenized(&config.data)?;
    for sentence in counts.sentences(config.data.seq_len) {
        note(&format!("{name}: {sentence}"));
    }
    rows.dataset(&config.data, padding)
}

/// That samples begin with padding, of training samples only if others end with it, as a sentence. `tokens` are those of all, with
/// `[CLS]`.
pub fn sides_of_padding(
    tokens: &[u32],
    config: &ExperimentConfig,
    are_trained: bool,
) -> Option<String> {
    let (data, padding) = (&config.data, config.model.attention.padding_token?);
    let samples = tokens.chunks(data.cls.positions(data.seq_len));
    let samples = samples.map(|sample| data.cls.without(sample));
    let ends = |sample: &&[u32]| sample.last() == Some(&padding);
    let (begin, others): (Vec<_>, Vec<_>) = samples.partition(|one| one.first() == Some(&padding));
    let (begin, end) = (begin.len(), others.iter().filter(|one| ends(one)).count());
    // Generated samples may have any token anywhere.
    let is_of_file = matches!(data.source, Source::File(_));
    (is_of_file && begin > 0 && (end > 0 || !are_trained)).then(|| {
        format!(
            "samples that begin with padding: {begin}; that end with it: {end}. The model tells these apart, so pad all samples, those of \
             training too, on one side"
        )
    })
}
