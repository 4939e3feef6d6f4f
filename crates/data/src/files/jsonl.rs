//! Datasets as JSON lines, one per sample: `{"split":"train","label":0,"tokens":[0,45,...]}`, or with `text` in place of
//! `tokens`. In place of `label`, `labels` is a list with one for each token, or null. A config may name the keys of text and
//! label. Other keys are ignored.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufWriter, Write};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::contents::DatasetToWrite;
use super::table::{CellKind, Form, SampleTable};
use super::text::lines;

/// Reads a file of objects.
pub(super) fn read(text: &str, name: &str) -> Result<SampleTable, String> {
    let mut table = SampleTable::new(name, Form::Lines, Vec::new());
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut objects = Vec::new();
    for (number, line) in lines(text) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let at = |reason: String| format!("line {number}: {reason}");
        let Keys(keys) = object(line).map_err(at)?;
        table.begin_row(number);
        objects.push(line.to_owned());
        for (key, value) in keys {
            let column = *indices.entry(key).or_insert_with_key(|key| {
                table.columns.push(key.clone());
                table.columns.len() - 1
            });
            let (kind, text) = content(&value);
            table.push(column, kind, &text);
        }
        if let Some(twice) = table.sort_row() {
            return Err(at(format!("the key `{twice}` occurs twice; remove one")));
        }
    }
    table.form = Form::Objects(objects);
    Ok(table)
}

/// What a cell of a value holds.
pub(super) fn content(value: &Value) -> (CellKind, Cow<'_, str>) {
    match value {
        Value::Null => (CellKind::Null, "".into()),
        Value::String(text) => (CellKind::Text, text.into()),
        Value::Bool(_) | Value::Number(_) => (CellKind::Plain, value.to_string().into()),
        Value::Array(_) | Value::Object(_) => (CellKind::Nested, value.to_string().into()),
    }
}

/// The keys of a line in their order, with their values.
struct Keys(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    keys.push(entry);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// The object of a line, or what the line is instead, or where it is no JSON.
fn object(line: &str) -> Result<Keys, String> {
    serde_json::from_str(line).map_err(|error| {
        if let Ok(value) = serde_json::from_str(line) {
            return format!(
                "the line is {}, not an object with keys, such as {{\"label\": 0, \"tokens\": [7, 3]}}",
                kind(&value)
            );
        }
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = error.to_string();
        let reason = message.strip_suffix(&place).unwrap_or(&message);
        let reason = reason.replace("EOF while parsing", "the line ends within");
        format!("column {}: not valid JSON: {reason}", error.column())
    })
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The cells of a row with the names of their columns.
struct Row<'a>(&'a [String], &'a [Value]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1))
    }
}

pub(super) fn write(contents: DatasetToWrite<'_>, writer: impl Write) -> io::Result<()> {
    let names = contents.names(["tokens".to_owned()].into_iter())?;
    let mut writer = BufWriter::new(writer);
    for cells in contents.samples()? {
        serde_json::to_writer(&mut writer, &Row(&names, &cells))?;
        writer.write_all(b"\n")?;
    }
    writer.flush()
}
