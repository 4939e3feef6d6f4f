//! Writes rows as CSV, with a column for each epoch, each position, each head, and each metric of each test set.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;
use serde_json::Value;

use super::row_reader::{RowPlace, RowReader, not_again};
use crate::place::{Place, count, flatten};

/// The most columns of a table.
const COLUMN_LIMIT: usize = 1 << 16;

/// Writes the table.
pub(super) fn write(
    out: Output<'_>,
    rows: &mut RowReader<'_>,
    places: &[RowPlace],
) -> Result<(), Failure> {
    let columns = columns(rows, places)?;
    out.write(|file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(columns.iter().map(Place::column))?;
        // Where a row has the value of each column. Most rows have the places of the one before them.
        let (mut shape, mut order) = (Vec::new(), Vec::new());
        for &place in places {
            let fields = rows.fields(place)?;
            let (own, values): (Vec<Place>, Vec<&Value>) = flatten(&fields).into_iter().unzip();
            if own != shape {
                let numbers: BTreeMap<&Place, usize> = own.iter().zip(0..).collect();
                let number = |column| numbers.get(column).copied();
                order = columns.iter().map(number).collect();
                shape = own;
            }
            let value = |number: &Option<usize>| number.map(|number| values[number]);
            writer.write_record(order.iter().map(|number| cell(value(number))))?;
        }
        writer.flush()
    })
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The columns for all values of all rows: runs of a grid may differ in epochs and positions.
fn columns(rows: &mut RowReader<'_>, places: &[RowPlace]) -> Result<Vec<Place>, Failure> {
    let (mut found, mut shape) = (BTreeSet::new(), Vec::new());
    for &place in places {
        let fields = rows.fields(place).map_err(not_again)?;
        check(fields.values().map(count).sum())?;
        let own: Vec<Place> = flatten(&fields).into_iter().map(|(own, _)| own).collect();
        if own != shape {
            found.extend(own.iter().cloned());
            shape = own;
        }
        if found.len() > COLUMN_LIMIT {
            break;
        }
    }
    // Where one run has a list, null in place of it is no column of its own.
    let is_list = |place: &Place| {
        let next = found.range((Excluded(place), Unbounded)).next();
        place.element == [None; 2] && next.is_some_and(|next| next.is_element_of(place))
    };
    let columns = found.iter().filter(|place| !is_list(place));
    let mut columns: Vec<Place> = columns.cloned().collect();
    check(columns.len())?;
    columns.sort_by_cached_key(Place::order);
    Ok(columns)
}

fn check(columns: usize) -> Result<(), Failure> {
    if columns > COLUMN_LIMIT {
        return Err(Failure::Input(format!(
            "the table would have {columns} columns, more than {COLUMN_LIMIT}; merge to .jsonl"
        )));
    }
    Ok(())
}
