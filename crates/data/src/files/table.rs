//! Datasets as CSV. The header names the columns: `label`, `split`, and `token_0`, `token_1`, and so on, or `text`, in any
//! order; or the columns of categories that a config names. Other columns are ignored.

use std::io::BufRead;
use std::io::{self, Write};

use csv::ByteRecord;

use super::contents::{Content, Contents, Given, check_length, refused};
use super::header::{Columns, Holding};
use super::labels::{Label, whole_number};
use super::records::write_header;
use super::records::{Records, cell, cell_as_written};
use super::rows::{Held, Rows, is_held_out, value};
use crate::config;
use crate::task::Task;

pub(super) fn write(contents: Contents<'_>, mut writer: impl Write) -> io::Result<()> {
    contents.check_classes()?;
    if contents.config.task == Task::TokenClassification {
        return Err(refused(
            "samples have a label per token, which CSV has no place for; choose .npz or .jsonl",
        ));
    }
    let columns = &contents.config.columns;
    let names = names(contents);
    let header = Columns::of(&ByteRecord::from(names.clone()), columns);
    header.map_err(refused)?;
    write_header(&mut writer, b',', &names)?;
    let mut csv = csv::Writer::from_writer(writer);
    for sample in contents.samples()? {
        let mut record = vec![sample.split.to_owned()];
        if let Given::One(class) = &sample.labels {
            record.push(class.to_string());
        }
        match sample.content {
            Content::Text(text) => record.push(text),
            Content::Tokens(tokens) => record.extend(tokens.iter().map(ToString::to_string)),
            Content::Values(values) => record.extend(values.into_iter().map(str::to_owned)),
        }
        record.resize(names.len(), String::new());
        let lengths = record
            .iter()
            .map(|cell| cell.len() + cell.matches('"').count() + 3);
        check_length(lengths.sum())?;
        csv.write_record(record)?;
    }
    csv.flush()
}

/// The names of the columns, as the config of the samples has them.
fn names(contents: Contents<'_>) -> Vec<String> {
    let columns = &contents.config.columns;
    let mut names = vec!["split".to_owned()];
    if contents.config.task == Task::Classification {
        names.push(columns.label_name().to_owned());
    }
    match contents.words() {
        Some(_) if !columns.features.is_empty() => names.extend_from_slice(&columns.features),
        Some(_) => names.push(columns.text_name().to_owned()),
        None => {
            let positions = contents.splits.train.positions();
            names.extend((0..positions).map(|position| format!("token_{position}")));
        }
    }
    names
}

pub(super) fn read(
    reader: impl BufRead,
    named: &config::Columns,
    rows: &mut Rows,
) -> Result<(), String> {
    let mut records = Records::new(reader)?;
    let Some(place) = records.next_place()? else {
        return Err("the file is empty".to_owned());
    };
    let header = Columns::of(&records.record, named);
    let columns = header.map_err(|reason| format!("{place}: {reason}"))?;
    rows.unlabelled.clone_from(&columns.unlabelled);
    let mut tokens: Vec<i64> = Vec::new();
    let mut values: Vec<String> = Vec::new();
    while let Some(place) = records.next_place()? {
        let record = &records.record;
        let at = |reason: String| format!("{place}: {reason}");
        let mut beyond = record.iter().skip(columns.count);
        if beyond.any(|cell| !cell.trim_ascii().is_empty()) {
            return Err(at(format!(
                "the row has {} cells, but the header names {} columns",
                record.len(),
                columns.count
            )));
        }
        let held = match columns.content {
            Holding::Text(column) => Held::Text(cell(record, column).map_err(at)?),
            Holding::Tokens(ref columns) => {
                read_tokens(columns, record, &mut tokens).map_err(at)?;
                Held::Tokens(&tokens)
            }
            Holding::Values(ref columns) => {
                values.clear();
                for (column, name) in columns {
                    values.push(value(name, cell(record, *column).map_err(at)?));
                }
                Held::Values(&values)
            }
        };
        let written = |column| cell_as_written(record, column);
        let written = columns.label.map(written).transpose().map_err(at)?;
        let written = written.filter(|label| !label.trim().is_empty());
        let label = written.map(Label::of_text).transpose().map_err(at)?;
        if let (Some(label), Some(written)) = (&label, written) {
            rows.labels.note_written(label, written);
        }
        let cell = |column: Option<usize>| column.map(|column| cell(record, column)).transpose();
        let split = cell(columns.split).map_err(at)?;
        let held_out = split.map_or(Ok(false), is_held_out).map_err(at)?;
        rows.push(place, held_out, label, held)?;
    }
    Ok(())
}

/// Reads the tokens of a row. Empty cells at its end make it shorter.
fn read_tokens(
    columns: &[usize],
    record: &ByteRecord,
    tokens: &mut Vec<i64>,
) -> Result<(), String> {
    tokens.clear();
    let mut empty = None;
    for &column in columns {
        let text = cell(record, column)?;
        if text.is_empty() {
            empty = empty.or(Some(column));
        } else if let Some(column) = empty {
            return Err(format!(
                "cell {} is empty, but a token comes after it",
                column + 1
            ));
        } else {
            let token = whole_number(text);
            tokens.push(token.ok_or_else(|| format!("`{text}` is not a whole number"))?);
        }
    }
    Ok(())
}
