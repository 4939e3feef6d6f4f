//! Rows as a table of typed columns: Parquet.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, IntType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use serde_json::Value;

use super::columns::{COLUMN_LIMIT, place};
use super::places::{Entry, Places};
use crate::Failure;
use crate::files::write_whole;

/// Rows and cells that are in memory before they are written as a row group.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_CELLS: usize = 1 << 22;

/// Writes the table.
pub(super) fn write(out: &Path, rows: &mut Places<'_>, entries: &[Entry]) -> Result<(), Failure> {
    let mut columns = columns(rows, entries)?;
    write_whole(out, |file| {
        let schema = schema(&columns)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let (mut held, mut cells) = (0, 0);
        for (index, &entry) in entries.iter().enumerate() {
            let fields = rows.fields(entry)?;
            for column in &mut columns {
                cells += column.push(fields.get(&column.field));
            }
            held += 1;
            if held == GROUP_ROWS || cells >= GROUP_CELLS || index + 1 == entries.len() {
                let mut group = writer.next_row_group()?;
                for column in &mut columns {
                    if let Some(into) = group.next_column()? {
                        column.write(into)?;
                    }
                }
                group.close()?;
                (held, cells) = (0, 0);
            }
        }
        writer.close()?;
        Ok(())
    })
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Unsigned,
    Integer,
    Float,
    Truth,
    Text,
    Floats,
}

impl Kind {
    /// Of a sweep's own fields, whatever they hold; of any other the values decide.
    fn of_field(field: &str) -> Option<Self> {
        Some(match field {
            "seed" => Self::Unsigned,
            "point" | "learned_at_step" => Self::Integer,
            "epoch_loss" | "attention_positive" | "attention_negative" => Self::Floats,
            "weights_sha256" | "config_sha256" | "error" => Self::Text,
            _ if place(field) < place("learned_at_step") && !field.contains('.') => Self::Float,
            _ => return None,
        })
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::Bool(_) => Self::Truth,
            Value::Number(number) if number.is_i64() => Self::Integer,
            Value::Number(_) => Self::Float,
            Value::Array(list) if list.iter().all(|item| item.is_number() || item.is_null()) => {
                Self::Floats
            }
            _ => Self::Text,
        }
    }

    /// What holds the values of both; text holds any as JSON.
    fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            _ => Self::Text,
        }
    }

    /// Whether a field of this kind may hold a value of that one.
    fn takes(self, other: Self) -> bool {
        self.join(other) == self || (self == Self::Unsigned && other != Self::Text)
    }

    fn words(self) -> &'static str {
        match self {
            Self::Unsigned | Self::Integer => "whole number",
            Self::Float => "number",
            Self::Truth => "true or false",
            Self::Text => "text",
            Self::Floats => "list of numbers",
        }
    }
}

/// The columns that hold every field of every row.
fn columns(rows: &mut Places<'_>, entries: &[Entry]) -> Result<Vec<Column>, Failure> {
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    for &entry in entries {
        for (field, value) in rows.checked(entry)? {
            let own = Kind::of_field(&field);
            if !value.is_null() {
                let kind = Kind::of_value(&value);
                if let Some(own) = own
                    && !own.takes(kind)
                {
                    let reason = format!("its `{field}` is no {}", own.words());
                    return Err(rows.refuse(entry, &reason));
                }
                let kind = own.unwrap_or(kind);
                kinds
                    .entry(field)
                    .and_modify(|known| *known = known.join(kind))
                    .or_insert(kind);
            } else if let Some(own) = own {
                kinds.entry(field).or_insert(own);
            } else if !kinds.contains_key(&field) {
                kinds.insert(field, Kind::Text);
            }
        }
        if kinds.len() > COLUMN_LIMIT {
            return Err(Failure::Input(format!(
                "the table would have more than {COLUMN_LIMIT} columns; merge to .jsonl"
            )));
        }
    }
    let mut kinds: Vec<(String, Kind)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(field, _)| place(field));
    Ok(kinds
        .into_iter()
        .map(|(field, kind)| Column::new(field, kind))
        .collect())
}

fn schema(columns: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let fields = columns
        .iter()
        .map(|column| column.kind.schema(&column.field));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let group = Type::group_type_builder("runs").with_fields(fields);
    Ok(Arc::new(group.build()?))
}

impl Kind {
    fn schema(self, field: &str) -> Result<Arc<Type>, ParquetError> {
        let (physical, logical) = match self {
            Self::Unsigned => {
                let unsigned = LogicalType::Integer(IntType {
                    bit_width: 64,
                    is_signed: false,
                });
                (Physical::INT64, Some(unsigned))
            }
            Self::Integer => (Physical::INT64, None),
            Self::Float | Self::Floats => (Physical::DOUBLE, None),
            Self::Truth => (Physical::BOOLEAN, None),
            Self::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let primitive = |name: &str| {
            let builder = Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical.clone());
            builder.build().map(Arc::new)
        };
        if self != Self::Floats {
            return primitive(field);
        }
        // The three levels that the format's specification asks of lists.
        let list = Type::group_type_builder("list")
            .with_repetition(Repetition::REPEATED)
            .with_fields(vec![primitive("element")?]);
        let outer = Type::group_type_builder(field)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(Some(LogicalType::List))
            .with_fields(vec![Arc::new(list.build()?)]);
        outer.build().map(Arc::new)
    }
}

/// A column, and what of it is in memory.
struct Column {
    field: String,
    kind: Kind,
    values: Values,
    /// How much of a cell is there, and whether it goes on with a list; as the format has it.
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Truths(Vec<bool>),
    Texts(Vec<ByteArray>),
}

impl Column {
    fn new(field: String, kind: Kind) -> Self {
        Self {
            field,
            kind,
            values: match kind {
                Kind::Unsigned | Kind::Integer => Values::Integers(Vec::new()),
                Kind::Float | Kind::Floats => Values::Floats(Vec::new()),
                Kind::Truth => Values::Truths(Vec::new()),
                Kind::Text => Values::Texts(Vec::new()),
            },
            definition: Vec::new(),
            repetition: Vec::new(),
        }
    }

    /// Adds a row's value; returns the cells that it takes.
    fn push(&mut self, value: Option<&Value>) -> usize {
        let value = value.filter(|value| !value.is_null());
        match (self.kind, value) {
            (Kind::Floats, Some(Value::Array(list))) if !list.is_empty() => {
                for (index, item) in list.iter().enumerate() {
                    self.repetition.push(i16::from(index > 0));
                    let there = self.values.push(item);
                    self.definition.push(if there { 3 } else { 2 });
                }
                list.len()
            }
            (Kind::Floats, value) => {
                self.repetition.push(0);
                self.definition.push(i16::from(value.is_some()));
                1
            }
            (_, value) => {
                let there = value.is_some_and(|value| self.values.push(value));
                self.definition.push(i16::from(there));
                1
            }
        }
    }

    /// Writes what is in memory, and is empty then.
    fn write(&mut self, mut into: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let definition = Some(self.definition.as_slice());
        let repetition = (self.kind == Kind::Floats).then_some(self.repetition.as_slice());
        match &mut self.values {
            Values::Integers(values) => {
                let typed = into.typed::<Int64Type>();
                typed.write_batch(values, definition, repetition)?;
                values.clear();
            }
            Values::Floats(values) => {
                let typed = into.typed::<DoubleType>();
                typed.write_batch(values, definition, repetition)?;
                values.clear();
            }
            Values::Truths(values) => {
                let typed = into.typed::<BoolType>();
                typed.write_batch(values, definition, repetition)?;
                values.clear();
            }
            Values::Texts(values) => {
                let typed = into.typed::<ByteArrayType>();
                typed.write_batch(values, definition, repetition)?;
                values.clear();
            }
        }
        self.definition.clear();
        self.repetition.clear();
        into.close()
    }
}

impl Values {
    /// Whether the value is there, which `null` is not.
    fn push(&mut self, value: &Value) -> bool {
        let before = self.len();
        match self {
            // Seeds above 2^63 keep their bits: the column says that it is unsigned.
            Self::Integers(values) => values.extend(
                value
                    .as_i64()
                    .or_else(|| value.as_u64().map(|value| value as i64)),
            ),
            Self::Floats(values) => values.extend(value.as_f64()),
            Self::Truths(values) => values.extend(value.as_bool()),
            Self::Texts(values) => values.push(match value {
                Value::String(text) => text.as_str().into(),
                other => other.to_string().into_bytes().into(),
            }),
        }
        self.len() > before
    }

    fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Truths(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }
}
