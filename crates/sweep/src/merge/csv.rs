//! Writes rows as CSV, with a column for each epoch and each position.

use std::collections::BTreeMap;

use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;
use serde_json::{Map, Value};

use super::row_reader::{RowPlace, RowReader};
use crate::fields::{Field, Kind, fields};

/// The most columns of a table.
const COLUMN_LIMIT: usize = 1 << 16;

/// Writes the table.
pub(super) fn write(
    out: Output<'_>,
    rows: &mut RowReader<'_>,
    places: &[RowPlace],
) -> Result<(), Failure> {
    let columns = columns(rows, places)?;
    rows.close();
    out.write(|file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(columns.iter().map(Column::name))?;
        for &place in places {
            let fields = rows.fields(place)?;
            writer.write_record(columns.iter().map(|column| column.cell(&fields)))?;
        }
        writer.flush()
    })
}

/// A column of the table: a field, or one element of a list.
struct Column {
    field: String,
    element: Option<usize>,
}

impl Column {
    /// Epochs are counted from 1, positions from 0.
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

/// The columns for all fields of all rows.
fn columns(rows: &mut RowReader<'_>, places: &[RowPlace]) -> Result<Vec<Column>, Failure> {
    // The length of the longest list of each field, or none: runs of a grid may differ in epochs and
    // positions.
    let mut lengths: BTreeMap<String, Option<usize>> = BTreeMap::new();
    for &place in places {
        for (field, value) in rows.fields_or_failure(place)? {
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
    fields.sort_by_key(|(field, _)| rank(field));
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

/// The order of columns: seed, point, the grid's keys, the fields of a run in their order, the hash of the
/// config, and then unknown fields.
fn rank(name: &str) -> usize {
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
