//! Datasets as JSON lines, one per sample: `{"split":"train","label":0,"tokens":[0,45,...]}`, or with `text` in place of
//! `tokens`. A config may name the keys of text and label. Other keys are ignored.

use std::io::{self, BufRead, BufWriter, Write};

use headlight_input::{LINE_LIMIT, Lines};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::contents::{Class, Contents};
use super::header::listed;
use super::labels::Label;
use super::rows::{Held, Place, Rows, is_held_out, value};
use crate::config::Columns;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Row {
    split: Option<String>,
    label: Option<Value>,
    tokens: Option<Vec<i64>>,
    text: Option<Value>,
    /// The values of columns that a config names.
    #[serde(skip)]
    values: Vec<String>,
}

impl Row {
    /// Reads a line whose keys of text and label a config names.
    fn of(line: &str, columns: &Columns) -> Result<Self, String> {
        if *columns == Columns::default() {
            return serde_json::from_str(line).map_err(|error| without_line(&error));
        }
        let parsed = serde_json::from_str::<Map<String, Value>>(line);
        let mut keys = parsed.map_err(|error| without_line(&error))?;
        let missing = |name: &str, key: &str| {
            let names: Vec<&str> = keys.keys().map(String::as_str).collect();
            format!(
                "the line has no key `{name}`, which data.{key} names; its keys are {}",
                listed(&names)
            )
        };
        if let Some(text) = columns
            .text
            .as_ref()
            .filter(|text| !keys.contains_key(*text))
        {
            return Err(missing(text, "text"));
        }
        let mut values = Vec::with_capacity(columns.features.len());
        for name in &columns.features {
            let found = keys.get(name).ok_or_else(|| missing(name, "features"))?;
            let text = plain(found).ok_or_else(|| {
                format!("the value of `{name}` is a list or an object; write a name or a number")
            })?;
            values.push(value(name, &text));
        }
        let mut rename = |from: &Option<String>, to: &str| {
            if let Some(from) = from {
                let value = keys.remove(from).unwrap_or(Value::Null);
                keys.insert(to.to_owned(), value);
            }
        };
        rename(&columns.label, "label");
        rename(&columns.text, "text");
        if columns.text.is_some() || !values.is_empty() {
            keys.remove("tokens");
        }
        let row: Self =
            serde_json::from_value(Value::Object(keys)).map_err(|error| error.to_string())?;
        Ok(Self { values, ..row })
    }
}

#[derive(Serialize)]
struct Written<'a> {
    split: &'a str,
    label: Class<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<u32>,
    #[serde(flatten)]
    values: Map<String, Value>,
}

pub(super) fn write(contents: Contents<'_>, writer: impl Write) -> io::Result<()> {
    let mut writer = BufWriter::new(writer);
    for sample in contents.samples() {
        let row = Written {
            split: sample.split,
            label: sample.class,
            tokens: match sample.text {
                Some(_) => Vec::new(),
                None if !sample.values.is_empty() => Vec::new(),
                None => sample.tokens.collect(),
            },
            text: sample.text,
            values: {
                let names = contents.config.columns.features.iter().cloned();
                let values = sample.values.iter().map(|&value| value.into());
                names.zip(values).collect()
            },
        };
        serde_json::to_writer(&mut writer, &row)?;
        writer.write_all(b"\n")?;
    }
    writer.flush()
}

pub(super) fn read(reader: impl BufRead, columns: &Columns, rows: &mut Rows) -> Result<(), String> {
    let mut lines = Lines::new(reader, LINE_LIMIT);
    loop {
        let next = lines.next_filled();
        let place = Place::Line(lines.number);
        let at = |reason: String| format!("{place}: {reason}");
        let Some(text) = next.map_err(|error| at(error.to_string()))? else {
            return Ok(());
        };
        let row = Row::of(&text, columns).map_err(at)?;
        let held_out = row.split.as_deref().map_or(Ok(false), is_held_out);
        let label = row.label.map(label).transpose().map_err(at)?;
        let held = match (&row.tokens, &row.text) {
            _ if !row.values.is_empty() => Held::Values(&row.values),
            (Some(tokens), _) => Held::Tokens(tokens),
            (None, Some(Value::String(text))) => Held::Text(text),
            (None, Some(_)) => return Err(at("the text is not a string".to_owned())),
            (None, None) => {
                return Err(at(
                    "the line has neither `text` nor `tokens`; name the key of the text in data.text"
                        .to_owned(),
                ));
            }
        };
        rows.push(place, held_out.map_err(at)?, label, held)?;
    }
}

/// The text of a value: empty for null; `None` for lists and objects.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn label(value: Value) -> Result<Label, String> {
    match value {
        Value::Bool(label) => Label::of_text(if label { "true" } else { "false" }),
        Value::Number(number) => Label::of_number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => Label::of_text(&text),
        _ => Err("the label must be a number, a name, true or false".to_owned()),
    }
}

/// The message with the column alone: the text that was parsed is one line.
pub(super) fn without_line(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    let reason = reason.replace("expected a map", "expected an object");
    format!("column {}: {reason}", error.column())
}
