//! Writes rows as CSV, with a column for each epoch, each position, each head, and each metric of each test set.

use std::io;

use headlight_trainer::{Failure, Output};
use serde_json::Value;

use super::row_reader::{RowReader, RowSpan};
use crate::column_index::ColumnIndex;

/// Writes the table; `columns` has those of all rows.
pub(super) fn write(
    out: Output<'_>,
    rows: &mut RowReader<'_>,
    spans: &[RowSpan],
    mut columns: ColumnIndex,
) -> Result<(), Failure> {
    let header = columns.columns();
    out.write(|file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(header.iter().map(|(name, _)| name))?;
        for &span in spans {
            let fields = serde_json::from_slice(&rows.line(span)?)?;
            let values = columns.values(&fields).map_err(io::Error::other)?;
            let mut cells = vec![String::new(); columns.all.len()];
            for (number, value) in values {
                cells[number] = cell(value);
            }
            writer.write_record(header.iter().map(|(_, number)| &cells[*number]))?;
        }
        writer.flush()
    })
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
