//! Rows as a table of text, with a column for each epoch and position.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::columns::{COLUMN_LIMIT, place};
use super::places::{Entry, Places};
use crate::Failure;
use crate::files::write_whole;

/// Writes the table.
pub(super) fn write(out: &Path, rows: &mut Places<'_>, entries: &[Entry]) -> Result<(), Failure> {
    let columns = columns(rows, entries)?;
    write_whole(out, |file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(columns.iter().map(Column::name))?;
        for &entry in entries {
            let fields = rows.fields(entry)?;
            writer.write_record(columns.iter().map(|column| column.cell(&fields)))?;
        }
        writer.flush()
    })
}

/// A column of the table: a field, or one element of a field that is a list.
struct Column {
    field: String,
    element: Option<usize>,
}

impl Column {
    /// Lists count from 1 for epochs, and from 0 for positions.
    fn name(&self) -> String {
        match self.element {
            None => self.field.clone(),
            Some(index) => {
                let first = usize::from(self.field == "epoch_loss");
                format!("{}_{}", self.field, index + first)
            }
        }
    }

    fn cell(&self, fields: &Map<String, Value>) -> String {
        let value = fields.get(&self.field);
        let value = match self.element {
            None => value,
            Some(index) => value.and_then(|list| list.get(index)),
        };
        match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// The columns that hold every field of every row.
fn columns(rows: &mut Places<'_>, entries: &[Entry]) -> Result<Vec<Column>, Failure> {
    // For each field its longest list, or none; runs of a grid may differ in epochs and positions.
    let mut lengths: BTreeMap<String, Option<usize>> = BTreeMap::new();
    for &entry in entries {
        for (field, value) in rows.checked(entry)? {
            let length = value.as_array().map(Vec::len);
            let longest = lengths.entry(field).or_default();
            *longest = (*longest).max(length);
        }
        if lengths.len() > COLUMN_LIMIT {
            break;
        }
    }
    let count: usize = lengths.values().map(|length| length.unwrap_or(1)).sum();
    if count > COLUMN_LIMIT {
        return Err(Failure::Input(format!(
            "the table would have {count} columns, more than {COLUMN_LIMIT}; merge to .jsonl"
        )));
    }
    let mut fields: Vec<(String, Option<usize>)> = lengths.into_iter().collect();
    fields.sort_by_key(|(field, _)| place(field));
    let columns = fields.into_iter().flat_map(|(field, length)| {
        let elements: Vec<Option<usize>> = match length {
            None => vec![None],
            Some(length) => (0..length).map(Some).collect(),
        };
        elements.into_iter().map(move |element| Column {
            field: field.clone(),
            element,
        })
    });
    Ok(columns.collect())
}
