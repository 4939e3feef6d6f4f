//! `headlight predict RUN FILE`: the samples of a file, each with its prediction: the rows as they are, if the file has columns.

use std::io::{self, Write};
use std::path::Path;

use headlight_data::DatasetConfig;
use headlight_data::files::{SampleTable, write_header};
use headlight_trainer::files::samples::{self, SampleFile};
use headlight_trainer::{Failure, Output};
use serde::Serializer;
use serde_json::Value;

use super::predictions::{Count, Predictions, prediction_names};
use crate::model::RunModel;
use crate::printing::note;

/// By which spreadsheets know UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Writes each sample of a file with its prediction: CSV or JSON Lines by the name of `out`; to standard output, objects of a
/// file of objects, and else CSV.
pub(super) fn write(model: &RunModel, path: &Path, out: Output<'_>) -> Result<Count, Failure> {
    let read = samples::read(path, &model.config)?;
    read.compare_with_rule(&model.config.data);
    let SampleFile {
        dataset,
        labelled,
        rows,
        table,
        ..
    } = read;
    let default = if table.objects().is_some() {
        "-.jsonl"
    } else {
        "-.csv"
    };
    let extension = out.named(default).extension();
    let separator = match extension.and_then(|extension| extension.to_str()) {
        Some("jsonl") => None,
        Some("csv") => Some(None),
        Some("tsv") => Some(Some(b'\t')),
        _ => {
            let message = "--out: unknown file extension; use .csv, .tsv or .jsonl";
            return Err(Failure::Input(message.to_owned()));
        }
    };
    if let Some(sentence) = model.unseen(&dataset) {
        note(sentence);
    }
    let all: Vec<usize> = (0..rows.len()).collect();
    let trained = model.trained_on(&rows, &all);
    drop(rows);
    refuse_taken(path, &model.config.data, &table)?;
    let model_session = model.session(dataset)?;
    let experiment = &model_session.session.experiment;
    let predictions = Predictions::of(
        &experiment.splits.train,
        &experiment.config.data,
        experiment.config.model.attention.padding_token,
        labelled,
        model_session.predictor()?.as_mut(),
    )?;
    out.write(|file| match separator {
        None => write_objects(&table, &predictions, file),
        Some(separator) => write_cells(&table, &predictions, file, separator),
    })?;
    Ok(predictions.count(trained))
}

/// Writes a row for each sample; without a separator, with that of the file.
fn write_cells(
    table: &SampleTable,
    predictions: &Predictions<'_>,
    file: &mut dyn Write,
    separator: Option<u8>,
) -> io::Result<()> {
    let of_table = table.separator();
    let mut header = match of_table {
        Some(_) => table.columns().to_vec(),
        None => vec!["sample".to_owned()],
    };
    let columns = header.len();
    header.extend(prediction_names(predictions.config));
    if of_table.is_none() {
        header.extend(predictions.names_after());
    }
    if let Some((_, true)) = of_table {
        file.write_all(BYTE_ORDER_MARK)?;
    }
    let separator = separator.or(of_table.map(|(byte, _)| byte)).unwrap_or(b',');
    write_header(file, separator, header)?;
    let mut csv = csv::WriterBuilder::new()
        .delimiter(separator)
        .from_writer(file);
    for sample in 0..predictions.dataset.len() {
        let (mut cells, after) = match of_table {
            Some(_) => (table.texts(sample).map(str::to_owned).collect(), vec![]),
            None => (vec![sample.to_string()], predictions.cells_after(sample)),
        };
        cells.resize(columns, String::new());
        cells.extend(predictions.cells(sample));
        csv.write_record(cells.into_iter().chain(after))?;
    }
    csv.flush()
}

/// Writes an object for each sample.
fn write_objects(
    table: &SampleTable,
    predictions: &Predictions<'_>,
    file: &mut dyn Write,
) -> io::Result<()> {
    for sample in 0..predictions.dataset.len() {
        // The sample's own columns, opened at the end for more keys.
        let (opened, like) = match (table.objects(), table.separator()) {
            (Some(lines), _) => {
                let line = &lines[sample];
                let opened = line.strip_suffix('}').unwrap_or(line).trim_end();
                (opened.to_owned(), label(line, predictions.config))
            }
            (None, Some(_)) => {
                let cells = table.texts(sample).chain(std::iter::repeat(""));
                let mut object = Vec::new();
                let pairs = table.columns().iter().zip(cells);
                serde_json::Serializer::new(&mut object).collect_map(pairs)?;
                object.pop();
                let opened = String::from_utf8_lossy(&object).into_owned();
                (opened, Some(Value::from("")))
            }
            (None, None) => ("{".to_owned(), None),
        };
        let comma = if opened.ends_with('{') { "" } else { "," };
        let is_bare = table.objects().is_none() && table.separator().is_none();
        let prediction =
            serde_json::to_string(&predictions.object(sample, like.as_ref(), is_bare))?;
        writeln!(file, "{opened}{comma}{}", &prediction[1..])?;
    }
    Ok(())
}

/// The label of a row, or the first of its labels that counts, as its object has it.
fn label(line: &str, config: &DatasetConfig) -> Option<Value> {
    let object: Value = serde_json::from_str(line).ok()?;
    match object
        .get(config.columns.label_name())
        .or_else(|| object.get("labels"))?
    {
        Value::Array(all) => all.iter().find(|label| !label.is_null()).cloned(),
        one => Some(one.clone()),
    }
}

/// Refuses a file with a column of a prediction's name.
fn refuse_taken(path: &Path, config: &DatasetConfig, table: &SampleTable) -> Result<(), Failure> {
    let predicted = prediction_names(config);
    match predicted.iter().find(|name| table.columns().contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::reading(
            path,
            format!(
                "it has a column `{name}`, and the predictions need one of this name; rename the column"
            ),
        )),
    }
}
