//! Writes rows as CSV, with a column for each epoch, each position, each head, and each metric of each test set.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Output;
use serde_json::{Map, Value};

use super::row_reader::{RowPlace, RowReader};
use crate::fields::{Field, Kind, TESTS, fields};

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
        writer.write_record(columns.iter().map(Column::name))?;
        for &place in places {
            let fields = flat(rows.fields(place)?);
            writer.write_record(columns.iter().map(|column| column.cell(&fields)))?;
        }
        writer.flush()
    })
}

/// A column of the table: a field, or one element of a list or of a list of lists.
struct Column {
    field: String,
    /// The places of the element, from the outer list to the inner one.
    element: Vec<usize>,
}

impl Column {
    /// Epochs are counted from 1, positions from 0.
    fn name(&self) -> String {
        let field = fields().iter().find(|field| field.name == self.field);
        let first = match field.map(Field::kind) {
            Some(Kind::List { first }) => first,
            _ => 0,
        };
        let mut name = self.field.clone();
        for index in &self.element {
            let _ = write!(name, "_{}", index + first);
        }
        name
    }

    fn cell(&self, fields: &Map<String, Value>) -> String {
        let value = fields.get(&self.field);
        let mut places = self.element.iter();
        let value = places
            .try_fold(value, |value, place| Some(value?.get(place)))
            .flatten();
        match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// The columns for all fields of all rows.
fn columns(rows: &mut RowReader<'_>, places: &[RowPlace]) -> Result<Vec<Column>, Failure> {
    // The extent of the longest list of each field, or none: runs of a grid may differ in epochs and positions.
    let mut extents: BTreeMap<String, Extent> = BTreeMap::new();
    for &place in places {
        for (field, value) in flat(rows.fields_or_failure(place)?) {
            let longest = extents.entry(field).or_default();
            *longest = longest.with(&value);
        }
        if extents.len() > COLUMN_LIMIT {
            break;
        }
    }
    let counts = extents.values().map(|extent| extent.elements().count());
    let count = counts.fold(0, usize::saturating_add);
    if count > COLUMN_LIMIT {
        return Err(Failure::Input(format!(
            "the table would have {count} columns, more than {COLUMN_LIMIT}; merge to .jsonl"
        )));
    }
    let mut fields: Vec<(String, Extent)> = extents.into_iter().collect();
    fields.sort_by_key(|(field, _)| rank(field));
    let columns = fields.into_iter().flat_map(|(field, extent)| {
        let elements: Vec<Vec<usize>> = extent.elements().collect();
        elements.into_iter().map(move |element| Column {
            field: field.clone(),
            element,
        })
    });
    Ok(columns.collect())
}

/// The fields of a row, each metric of a test set as a field of its own, such as `tests.longer.f1`.
fn flat(mut fields: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(tests)) = fields.remove(TESTS) {
        for (name, metrics) in tests {
            let metrics = metrics.as_object().cloned().unwrap_or_default();
            let named = metrics.into_iter();
            fields.extend(named.map(|(key, value)| (format!("{TESTS}.{name}.{key}"), value)));
        }
    }
    fields
}

/// How many elements the longest list of a field has, and the longest list in such lists; `None` without lists.
#[derive(Clone, Copy, Default)]
struct Extent {
    outer: Option<usize>,
    inner: Option<usize>,
}

impl Extent {
    /// The same after another value of the field.
    fn with(self, value: &Value) -> Self {
        let Some(list) = value.as_array() else {
            return self;
        };
        let inner = list.iter().filter_map(Value::as_array).map(Vec::len);
        Self {
            outer: self.outer.max(Some(list.len())),
            inner: self.inner.max(inner.max()),
        }
    }

    /// The places of all elements.
    fn elements(self) -> impl Iterator<Item = Vec<usize>> {
        let single = self.outer.is_none().then(Vec::new);
        let lists = (0..self.outer.unwrap_or(0)).flat_map(move |place| {
            let flat = self.inner.is_none().then(|| vec![place]);
            let inner = (0..self.inner.unwrap_or(0)).map(move |own| vec![place, own]);
            flat.into_iter().chain(inner)
        });
        single.into_iter().chain(lists)
    }
}

/// The order of columns: seed, point, the grid's keys, the fields of a run in their order, the hash of the
/// config, and then unknown fields.
fn rank(name: &str) -> usize {
    let fields = fields();
    match name {
        "seed" => 0,
        "point" => 1,
        key if key.contains('.') && !key.starts_with("tests.") => 2,
        "config_sha256" => 3 + fields.len(),
        _ => {
            let name = name.split('.').next().unwrap_or(name);
            let known = fields.iter().position(|field| field.name == name);
            known.map_or(4 + fields.len(), |index| 3 + index)
        }
    }
}
