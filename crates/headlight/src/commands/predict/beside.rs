//! `headlight predict RUN FILE`: the rows of a file as they are, with a prediction beside each.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use headlight_data::files::{Format, Records, write_header};
use headlight_experiment::Predictor;
use headlight_input::{LINE_LIMIT, Lines};
use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;
use headlight_trainer::storage::samples;
use headlight_trainer::storage::standard::shown;
use serde_json::{Map, Value};

use super::file::{Count, Rows, io_error, prediction_names, write_rows};
use crate::commands::model::RunModel;

/// Writes each row of a CSV, TSV or JSONL file with its prediction after its own columns.
///
/// # Errors
/// When the file has no columns, its samples do not match the config, or the rows cannot be written.
pub(super) fn write(model: RunModel, path: &Path, out: Output<'_>) -> Result<Count, Failure> {
    let (first, format) = samples::open_as(path, &model.config.data)?;
    let Some(format) = format.filter(|format| *format != Format::Npz) else {
        let reason = "it has no columns to which predictions could be added; give .csv, .tsv or .jsonl with the columns of the run, or use \
                      --tokens for a sample per line";
        return Err(Failure::reading(path, reason));
    };
    let extension = out.named("").extension().and_then(OsStr::to_str);
    let as_objects = match (extension, format) {
        (None, _) if out.is_standard() => format == Format::Jsonl,
        (Some("jsonl"), _) => true,
        (Some("csv" | "tsv"), Format::Csv) => false,
        (_, Format::Csv) => {
            let message = "--out: unknown file extension; use .csv, .tsv or .jsonl";
            return Err(Failure::Input(message.to_owned()));
        }
        _ => {
            let message = format!(
                "--out: {} holds objects; write them to a .jsonl file",
                shown(path)
            );
            return Err(Failure::Input(message));
        }
    };
    let samples = samples::read(path, &model.config)?;
    let checked = check_names(first, format, &prediction_names(&model.config.data));
    checked.map_err(|error| Failure::unreadable(path, &error))?;
    let (file, _) = samples::open_as(path, &model.config.data)?;
    let mut reader = Some(BufReader::new(file));
    let is_tsv = extension == Some("tsv");
    let mut refused = None;
    let written = write_rows(model, samples, out, |rows, predictor, file| {
        let Some(reader) = reader.take() else {
            return Err(io::Error::other("the file was read before"));
        };
        let written = match format {
            Format::Jsonl => beside_objects(rows, predictor, reader, file),
            _ => beside_cells(rows, predictor, reader, as_objects, is_tsv, file),
        };
        written.inspect_err(|error| {
            let inner = error
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<Refused>());
            refused = inner.map(|Refused(message)| message.clone());
        })
    });
    match refused {
        Some(message) => Err(Failure::reading(path, message)),
        None => written,
    }
}

/// By which spreadsheets know UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Why the file cannot be written with predictions beside it.
#[derive(Debug)]
struct Refused(String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

fn refused(message: impl Into<String>) -> io::Error {
    io::Error::other(Refused(message.into()))
}

fn beside_cells(
    rows: &Rows<'_>,
    predictor: &mut dyn Predictor,
    mut reader: BufReader<File>,
    as_objects: bool,
    is_tsv: bool,
    file: &mut dyn Write,
) -> io::Result<Count> {
    let is_marked = reader.fill_buf()?.starts_with(BYTE_ORDER_MARK);
    let mut records = Records::new(reader).map_err(refused)?;
    let separator = if is_tsv { b'\t' } else { records.separator };
    let mut next = || -> io::Result<Vec<Vec<u8>>> {
        let cells = records.next_cells().map_err(refused)?;
        let cells = cells.ok_or_else(|| refused("it changed while it was read"))?;
        Ok(cells.map(<[u8]>::to_vec).collect())
    };
    let header = next()?;
    let names: Vec<String> = header
        .iter()
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect();
    let predicted = prediction_names(rows.config);
    if as_objects {
        return rows.each(predictor, |row| {
            let cells = next()?;
            let cells = cells.iter().map(|cell| String::from_utf8_lossy(cell));
            file.write_all(b"{")?;
            for (name, cell) in names.iter().zip(cells.chain(std::iter::repeat("".into()))) {
                write!(
                    file,
                    "{}:{},",
                    Value::from(name.as_str()),
                    Value::from(cell)
                )?;
            }
            rows.write_prediction(file, &row)?;
            file.write_all(b"}\n")
        });
    }
    if is_marked {
        file.write_all(BYTE_ORDER_MARK)?;
    }
    let own = header
        .into_iter()
        .chain(predicted.into_iter().map(String::into_bytes));
    write_header(file, separator, own).map_err(io_error)?;
    let mut csv = csv::WriterBuilder::new()
        .delimiter(separator)
        .from_writer(file);
    let count = rows.each(predictor, |row| {
        let mut cells = next()?;
        cells.resize(names.len(), Vec::new());
        cells.extend(rows.prediction(&row).into_iter().map(String::into_bytes));
        csv.write_record(cells).map_err(io_error)
    })?;
    csv.flush()?;
    Ok(count)
}

fn beside_objects(
    rows: &Rows<'_>,
    predictor: &mut dyn Predictor,
    reader: BufReader<File>,
    file: &mut dyn Write,
) -> io::Result<Count> {
    let mut lines = Lines::new(reader, LINE_LIMIT);
    rows.each(predictor, |row| {
        let line = lines.next_filled()?;
        let line = line.ok_or_else(|| refused("it changed while it was read"))?;
        let keys = serde_json::from_str::<Map<String, Value>>(&line)?;
        // The object as it is, opened at its end.
        let own = line.strip_suffix('}').unwrap_or(&line).trim_end();
        write!(file, "{own}{}", if keys.is_empty() { "" } else { "," })?;
        rows.write_prediction(file, &row)?;
        file.write_all(b"}\n")
    })
}

/// Refuses a file with a column of a prediction's name, before models are trained for it.
fn check_names(file: File, format: Format, predicted: &[String]) -> io::Result<()> {
    let reader = BufReader::new(file);
    let taken = |has: &dyn Fn(&str) -> bool| match predicted.iter().find(|name| has(name)) {
        None => Ok(()),
        Some(name) => Err(refused(format!(
            "it has a column `{name}`, and the predictions need one of this name; rename the column"
        ))),
    };
    if format == Format::Jsonl {
        let mut lines = Lines::new(reader, LINE_LIMIT);
        while let Some(line) = lines.next_filled()? {
            let keys = serde_json::from_str::<Map<String, Value>>(&line)?;
            taken(&|name| keys.contains_key(name))?;
        }
        return Ok(());
    }
    let mut records = Records::new(reader).map_err(refused)?;
    let header = records.next_cells().map_err(refused)?;
    let names = header.into_iter().flatten().map(String::from_utf8_lossy);
    let names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    taken(&|name| names.iter().any(|own| own == name))
}
