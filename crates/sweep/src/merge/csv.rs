//! Rows as a table of text, with a column for each epoch and position.

use std::collections::BTreeMap;
use std::path::Path;

use headlight_trainer::Failure;
use headlight_trainer::files::write_atomically;
use serde_json::{Map, Value};

use super::places::{Entry, Places};
use crate::fields::{Field, Kind, fields};

/// The most columns of a table: no row of a sweep has more fields, or a longer list.
const COLUMN_LIMIT: usize = 1 << 16;

/// Writes the table.
pub(super) fn write(out: &Path, rows: &mut Places<'_>, entries: &[Entry]) -> Result<(), Failure> {
    let columns = columns(rows, entries)?;
    write_atomically(out, |file| {
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
                let field = fields().iter().find(|field| field.name == self.field);
                let first = match field.map(Field::kind) {
                    Some(Kind::List { first }) => first,
                    _ => 0,
                };
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

/// Where a field stands: seed and point, the grid's keys, the fields of a run in their order, the hash of
/// the config, and last whatever is unknown.
fn place(name: &str) -> usize {
    let fields = fields();
    match name {
        "seed" => 0,
        "point" => 1,
        key if key.contains('.') => 2,
        "config_sha256" => 3 + fields.len(),
        _ => {
            let known = fields.iter().position(|field| field.name == name);
            known.map_or(4 + fields.len(), |index| 3 + index)
        }
    }
}
