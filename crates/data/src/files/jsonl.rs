//! Datasets as JSON lines, one per sample: `{"split":"train","label":0,"tokens":[0,45,...]}`. Other keys are ignored.

use std::io::{self, BufRead, BufWriter, Write};

use headlight_input::{LINE_LIMIT, Lines};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contents::{Class, Contents};
use super::labels::Label;
use super::rows::{Place, Rows, is_held_out};

#[derive(Deserialize)]
struct Row {
    split: Option<String>,
    label: Option<Value>,
    tokens: Vec<i64>,
}

#[derive(Serialize)]
struct Written<'a> {
    split: &'a str,
    label: Class<'a>,
    tokens: Vec<u32>,
}

pub(super) fn write(contents: Contents<'_>, writer: impl Write) -> io::Result<()> {
    let mut writer = BufWriter::new(writer);
    for sample in contents.samples() {
        let row = Written {
            split: sample.split,
            label: sample.class,
            tokens: sample.tokens.collect(),
        };
        serde_json::to_writer(&mut writer, &row)?;
        writer.write_all(b"\n")?;
    }
    writer.flush()
}

pub(super) fn read(reader: impl BufRead, rows: &mut Rows) -> Result<(), String> {
    let mut lines = Lines::new(reader, LINE_LIMIT);
    for number in 1.. {
        let place = Place::Line(number);
        let at = |reason: String| format!("{place}: {reason}");
        let next = lines.next_line();
        let Some(line) = next.map_err(|error| at(error.to_string()))? else {
            break;
        };
        let text = line.text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        let row: Row = serde_json::from_str(text).map_err(|error| at(without_line(&error)))?;
        let held_out = row.split.as_deref().map_or(Ok(false), is_held_out);
        let label = row.label.map(label).transpose().map_err(at)?;
        rows.push(place, held_out.map_err(at)?, label, &row.tokens)?;
    }
    Ok(())
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
fn without_line(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    format!("column {}: {reason}", error.column())
}
