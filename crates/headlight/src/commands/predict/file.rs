//! `headlight predict RUN FILE`: the samples of a file, each with its prediction: the rows as they are, if the file has columns.

use std::io::{self, Write};
use std::path::Path;

use headlight_data::DatasetConfig;
use headlight_data::files::{Table, write_header};
use headlight_experiment::Predictor;
use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;
use headlight_trainer::storage::samples::{self, Samples};
use serde_json::Value;

use super::predictions::{Count, NotWritten, Predictions, prediction_names};
use crate::commands::model::RunModel;
use crate::printing::note;

/// By which spreadsheets know UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Writes each sample of a file with its prediction: CSV or JSON Lines by the name of `out`; to standard output, objects of a
/// file of objects, and else CSV.
///
/// # Errors
/// When the samples do not match the config, a column has the name of a prediction's, the model's output is not finite, or the
/// predictions cannot be written.
pub(super) fn write(model: RunModel, path: &Path, out: Output<'_>) -> Result<Count, Failure> {
    let Samples {
        dataset,
        labelled,
        rows,
        table,
    } = samples::read(path, &model.config)?;
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
    let trained = model.trained_on(&rows);
    drop(rows);
    refuse_taken(path, &model.config.data, &table)?;
    let own = model.session(dataset)?;
    let experiment = &own.session.experiment;
    let predictions = Predictions {
        dataset: &experiment.splits.train,
        config: &experiment.config.data,
        padding: experiment.config.model.attention.padding_token,
        labelled,
    };
    let mut predictor = own.predictor()?;
    let (mut count, mut refused) = (Count::default(), None);
    let written = out.write(|file| {
        let predictor = predictor.as_mut();
        let written = match separator {
            None => write_objects(&table, &predictions, predictor, file),
            Some(separator) => write_cells(&table, &predictions, predictor, file, separator),
        };
        match written {
            Ok(found) => count = found,
            Err(NotWritten::Io(error)) => return Err(error),
            Err(NotWritten::Refused(failure)) => {
                refused = Some(failure);
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    });
    refused.map_or(written, Err)?;
    Ok(Count { trained, ..count })
}

/// Writes a row for each sample; without a separator, with that of the file.
fn write_cells(
    table: &Table,
    predictions: &Predictions<'_>,
    predictor: &mut dyn Predictor,
    file: &mut dyn Write,
    separator: Option<u8>,
) -> Result<Count, NotWritten> {
    let own = table.separator();
    let mut header = match own {
        Some(_) => table.columns().to_vec(),
        None => vec!["sample".to_owned()],
    };
    let columns = header.len();
    header.extend(prediction_names(predictions.config));
    if own.is_none() {
        header.extend(predictions.names_after());
    }
    if let Some((_, true)) = own {
        file.write_all(BYTE_ORDER_MARK)?;
    }
    let separator = separator.or(own.map(|(own, _)| own)).unwrap_or(b',');
    write_header(file, separator, header)?;
    let mut csv = csv::WriterBuilder::new()
        .delimiter(separator)
        .from_writer(file);
    let count = predictions.each(predictor, |row| {
        let (mut cells, after) = match own {
            Some(_) => (table.texts(row.sample).map(str::to_owned).collect(), vec![]),
            None => (vec![row.sample.to_string()], predictions.cells_after(&row)),
        };
        cells.resize(columns, String::new());
        csv.write_record(
            cells
                .into_iter()
                .chain(predictions.cells(&row))
                .chain(after),
        )?;
        Ok(())
    })?;
    csv.flush()?;
    Ok(count)
}

/// Writes an object for each sample.
fn write_objects(
    table: &Table,
    predictions: &Predictions<'_>,
    predictor: &mut dyn Predictor,
    file: &mut dyn Write,
) -> Result<Count, NotWritten> {
    predictions.each(predictor, |row| {
        let (own, after) = if let Some(lines) = table.objects() {
            (opened(&lines[row.sample]), String::new())
        } else if table.separator().is_some() {
            let cells = table.texts(row.sample).chain(std::iter::repeat(""));
            let pairs = table.columns().iter().zip(cells);
            let pairs = pairs
                .map(|(name, cell)| format!("{}:{},", Value::from(&**name), Value::from(cell)));
            (format!("{{{}", pairs.collect::<String>()), String::new())
        } else {
            let number = format!(r#"{{"sample":{},"#, row.sample);
            (number, predictions.keys_after(&row))
        };
        writeln!(file, "{own}{}{after}}}", predictions.keys(&row))?;
        Ok(())
    })
}

/// An object as it is, opened at its end for more keys.
fn opened(line: &str) -> String {
    let own = line.strip_suffix('}').unwrap_or(line).trim_end();
    let comma = if own.ends_with('{') { "" } else { "," };
    format!("{own}{comma}")
}

/// Refuses a file with a column of a prediction's name.
fn refuse_taken(path: &Path, config: &DatasetConfig, table: &Table) -> Result<(), Failure> {
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
