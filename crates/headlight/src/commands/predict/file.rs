//! `headlight predict RUN FILE`: the samples of a file, each with its prediction: the rows as they are, if the file has columns.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use headlight_data::DatasetConfig;
use headlight_data::files::{Format, Records, write_header};
use headlight_experiment::Predictor;
use headlight_input::{LINE_LIMIT, Lines};
use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;
use headlight_trainer::storage::samples;
use serde_json::{Map, Value};

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
    let (dataset, labelled, read) = samples::read(path, &model.config)?;
    let (file, format) = samples::open_as(path, &model.config.data)?;
    let is_objects = format == Some(Format::Jsonl);
    let default = if is_objects { "-.jsonl" } else { "-.csv" };
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
    let trained = model.trained_on(&read);
    drop(read);
    let reader = BufReader::new(file);
    let columns = match (format, separator) {
        (Some(Format::Jsonl), None) => Columns::Objects(Lines::new(reader, LINE_LIMIT)),
        (Some(Format::Csv), _) => Columns::cells(reader, path)?,
        _ => Columns::Samples,
    };
    let own = model.session(dataset)?;
    let experiment = &own.session.experiment;
    let predictions = Predictions {
        dataset: &experiment.splits.train,
        config: &experiment.config.data,
        padding: experiment.config.model.attention.padding_token,
        labelled,
    };
    let mut table = Table {
        path,
        columns,
        predictions: &predictions,
    };
    let mut predictor = own.predictor()?;
    let (mut count, mut refused) = (Count::default(), None);
    let written = out.write(|file| {
        let written = match separator {
            None => table.write_objects(predictor.as_mut(), file),
            Some(separator) => table.write_cells(predictor.as_mut(), file, separator),
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

/// The columns that stand before a prediction.
enum Columns {
    /// Those of the file.
    Cells {
        records: Box<Records<BufReader<File>>>,
        header: Vec<Vec<u8>>,
        /// Whether the file begins with a byte order mark.
        is_marked: bool,
    },
    /// The objects of the file, with their own keys.
    Objects(Lines<BufReader<File>>),
    /// The number of the sample; its label and its tokens or text come after the prediction.
    Samples,
}

impl Columns {
    fn cells(mut reader: BufReader<File>, path: &Path) -> Result<Self, Failure> {
        let start = reader.fill_buf();
        let start = start.map_err(|error| Failure::unreadable(path, &error))?;
        let is_marked = start.starts_with(BYTE_ORDER_MARK);
        let unreadable = |reason: String| Failure::reading(path, reason);
        let mut records = Records::new(reader).map_err(unreadable)?;
        let header = records.next_cells().map_err(unreadable)?;
        let header = header.into_iter().flatten().map(<[u8]>::to_vec).collect();
        Ok(Self::Cells {
            records: Box::new(records),
            header,
            is_marked,
        })
    }
}

/// The samples of a file, and their predictions.
struct Table<'a> {
    path: &'a Path,
    columns: Columns,
    predictions: &'a Predictions<'a>,
}

impl Table<'_> {
    /// Writes a row for each sample; without a separator, with that of the file.
    fn write_cells(
        &mut self,
        predictor: &mut dyn Predictor,
        file: &mut dyn Write,
        separator: Option<u8>,
    ) -> Result<Count, NotWritten> {
        let (path, predictions) = (self.path, self.predictions);
        let predicted = prediction_names(predictions.config).into_iter();
        let predicted = predicted.map(String::into_bytes);
        let (header, separator) = match &self.columns {
            Columns::Cells {
                records,
                header,
                is_marked,
            } => {
                refuse_taken(path, predictions.config, &names(header))?;
                if *is_marked {
                    file.write_all(BYTE_ORDER_MARK)?;
                }
                let separator = separator.unwrap_or(records.separator);
                (header.iter().cloned().chain(predicted).collect(), separator)
            }
            Columns::Objects(_) | Columns::Samples => {
                let after = predictions
                    .names_after()
                    .into_iter()
                    .map(String::into_bytes);
                let header: Vec<Vec<u8>> = [b"sample".to_vec()]
                    .into_iter()
                    .chain(predicted)
                    .chain(after)
                    .collect();
                (header, separator.unwrap_or(b','))
            }
        };
        write_header(file, separator, header)?;
        let mut csv = csv::WriterBuilder::new()
            .delimiter(separator)
            .from_writer(file);
        let columns = &mut self.columns;
        let count = predictions.each(predictor, |row| {
            let (before, after) = if let Columns::Cells {
                records, header, ..
            } = columns
            {
                (next_cells(records, header.len(), path)?, Vec::new())
            } else {
                let number = row.sample.to_string().into_bytes();
                (vec![number], predictions.cells_after(&row))
            };
            let own = predictions.cells(&row).into_iter().chain(after);
            let own = own.map(String::into_bytes);
            csv.write_record(before.into_iter().chain(own))?;
            Ok(())
        })?;
        csv.flush()?;
        Ok(count)
    }

    /// Writes an object for each sample.
    fn write_objects(
        &mut self,
        predictor: &mut dyn Predictor,
        file: &mut dyn Write,
    ) -> Result<Count, NotWritten> {
        let (path, predictions) = (self.path, self.predictions);
        if let Columns::Cells { header, .. } = &self.columns {
            refuse_taken(path, predictions.config, &names(header))?;
        }
        let columns = &mut self.columns;
        predictions.each(predictor, |row| {
            let own = match columns {
                Columns::Objects(lines) => object(predictions.config, lines, path)?,
                Columns::Cells {
                    records, header, ..
                } => {
                    let cells = next_cells(records, header.len(), path)?;
                    let cells = cells.iter().map(|cell| String::from_utf8_lossy(cell));
                    let pairs = names(header).into_iter().zip(cells);
                    let pairs = pairs.map(|(name, cell)| {
                        format!("{}:{},", Value::from(name), Value::from(cell))
                    });
                    format!("{{{}", pairs.collect::<String>())
                }
                Columns::Samples => format!(r#"{{"sample":{},"#, row.sample),
            };
            let after = match columns {
                Columns::Samples => predictions.keys_after(&row),
                _ => String::new(),
            };
            writeln!(file, "{own}{}{after}}}", predictions.keys(&row))?;
            Ok(())
        })
    }
}

/// The next object of a file as it is, opened at its end.
fn object(
    config: &DatasetConfig,
    lines: &mut Lines<BufReader<File>>,
    path: &Path,
) -> Result<String, Failure> {
    let line = lines
        .next_filled()
        .map_err(|error| Failure::unreadable(path, &error))?;
    let line = line.ok_or_else(|| changed(path))?;
    let keys = serde_json::from_str::<Map<String, Value>>(&line)
        .map_err(|error| Failure::reading(path, error.to_string()))?;
    let named: Vec<String> = keys.keys().cloned().collect();
    refuse_taken(path, config, &named)?;
    let own = line
        .trim_end()
        .strip_suffix('}')
        .unwrap_or(&line)
        .trim_end();
    let comma = if keys.is_empty() { "" } else { "," };
    Ok(format!("{own}{comma}"))
}

/// The cells of the next row, with empty ones for those that it lacks.
fn next_cells(
    records: &mut Records<BufReader<File>>,
    count: usize,
    path: &Path,
) -> Result<Vec<Vec<u8>>, Failure> {
    let cells = records.next_cells();
    let cells = cells.map_err(|reason| Failure::reading(path, reason))?;
    let cells = cells.ok_or_else(|| changed(path))?;
    let mut cells: Vec<Vec<u8>> = cells.map(<[u8]>::to_vec).collect();
    cells.resize(count, Vec::new());
    Ok(cells)
}

fn changed(path: &Path) -> Failure {
    Failure::reading(path, "it changed while it was read")
}

fn names(header: &[Vec<u8>]) -> Vec<String> {
    let names = header.iter().map(|name| String::from_utf8_lossy(name));
    names.map(|name| name.trim().to_owned()).collect()
}

/// Refuses a file with a column of a prediction's name.
fn refuse_taken(path: &Path, config: &DatasetConfig, names: &[String]) -> Result<(), Failure> {
    let predicted = prediction_names(config);
    match predicted.iter().find(|name| names.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::reading(
            path,
            format!(
                "it has a column `{name}`, and the predictions need one of this name; rename the column"
            ),
        )),
    }
}
