//! Datasets as JSON lines, one per sample: `{"split":"train","label":0,"tokens":[0,45,...]}`, or with `text` in place of
//! `tokens`. In place of `label`, `labels` is a list with one for each token, or null. A config may name the keys of text and
//! label. Other keys are ignored.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, BufRead, BufWriter, Write};

use headlight_input::{LINE_LIMIT, Lines};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::contents::{Content, Contents, Given, Sample, check_length, refused};
use super::header::listed;
use super::labels::Label;
use super::rows::{Held, Place, Rows, is_held_out, value};
use crate::config::Columns;
use crate::task::Task;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Row {
    split: Option<String>,
    label: Option<Value>,
    labels: Option<Value>,
    tokens: Option<Vec<i64>>,
    text: Option<Value>,
    /// The values of columns that a config names, and whether each is a text.
    #[serde(skip)]
    values: Vec<String>,
    #[serde(skip)]
    are_texts: Vec<bool>,
}

impl Row {
    /// Reads a line whose keys of text and label a config names.
    fn of(line: &str, columns: &Columns) -> Result<Self, String> {
        if *columns == Columns::default() {
            let row = serde_json::from_str(line);
            return row.map_err(|_| match object(line) {
                Ok(Keys(keys)) => unsuitable(&keys.into_iter().collect()),
                Err(reason) => reason,
            });
        }
        let Keys(keys) = object(line)?;
        let mut keys: Map<String, Value> = keys.into_iter().collect();
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
        let mut are_texts = Vec::with_capacity(columns.features.len());
        for name in &columns.features {
            let found = keys.get(name).ok_or_else(|| missing(name, "features"))?;
            let text = plain(found).ok_or_else(|| {
                format!("the value of `{name}` is a list or an object; write a name or a number")
            })?;
            values.push(value(name, &text));
            are_texts.push(found.is_string() || found.is_null());
        }
        // The names of the two may be those of each other.
        let label = keys.remove(columns.label_name());
        let text = keys.remove(columns.text_name());
        let has_tokens = columns.text.is_none() && values.is_empty();
        let own = [
            ("split", keys.remove("split")),
            ("tokens", keys.remove("tokens").filter(|_| has_tokens)),
            ("label", label),
            ("labels", keys.remove("labels").filter(|_| has_tokens)),
            ("text", text),
        ];
        let own = own
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let own: Map<String, Value> = own.collect();
        let row: Self = Self::deserialize(&own).map_err(|_| unsuitable(&own))?;
        Ok(Self {
            values,
            are_texts,
            ..row
        })
    }
}

/// A sample under the keys that its config names.
struct Written<'a>(Sample<'a>, &'a Columns);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(sample, columns) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("split", sample.split)?;
        match &sample.labels {
            Given::One(class) => map.serialize_entry(columns.label_name(), class)?,
            Given::Each(classes) => map.serialize_entry("labels", classes)?,
            Given::None => {}
        }
        match &sample.content {
            Content::Text(text) => map.serialize_entry(columns.text_name(), text)?,
            Content::Tokens(tokens) => map.serialize_entry("tokens", tokens)?,
            Content::Values(values) => {
                for (name, value) in columns.features.iter().zip(values) {
                    map.serialize_entry(name, value)?;
                }
            }
        }
        map.end()
    }
}

pub(super) fn write(contents: Contents<'_>, writer: impl Write) -> io::Result<()> {
    contents.check_classes()?;
    let columns = &contents.config.columns;
    let mut different = HashSet::new();
    let mut names = names(contents).into_iter();
    if let Some(twice) = names.find(|name| !different.insert(*name)) {
        let reason = format!("two of its columns would have the name `{twice}`");
        return Err(refused(reason));
    }
    let mut writer = BufWriter::new(writer);
    for sample in contents.samples()? {
        let mut line = serde_json::to_vec(&Written(sample, columns))?;
        check_length(line.len())?;
        line.push(b'\n');
        writer.write_all(&line)?;
    }
    writer.flush()
}

/// The keys of a line.
fn names(contents: Contents<'_>) -> Vec<&str> {
    let columns = &contents.config.columns;
    let content = match contents.words() {
        Some(_) if !columns.features.is_empty() => {
            columns.features.iter().map(String::as_str).collect()
        }
        Some(_) => vec![columns.text_name()],
        None => vec!["tokens"],
    };
    let label = match contents.config.task {
        Task::Classification => vec![columns.label_name()],
        Task::TokenClassification => vec!["labels"],
        Task::NextToken => Vec::new(),
    };
    [vec!["split"], label, content].concat()
}

pub(super) fn read(reader: impl BufRead, columns: &Columns, rows: &mut Rows) -> Result<(), String> {
    let mut kinds = HashMap::new();
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
        let label = row.label.as_ref().map(label_of).transpose().map_err(at)?;
        if let (Some(label), Some(written)) = (&label, &row.label) {
            rows.labels.note_written(label, &written.to_string());
        }
        for (value, &is_text) in row.values.iter().zip(&row.are_texts) {
            if rows.mixed.is_some() {
                break;
            }
            match kinds.get(value) {
                None => {
                    kinds.insert(value.clone(), is_text);
                }
                Some(&before) if before != is_text => {
                    rows.mixed = Some(format!(
                        "{place}: `{value}` is a text here and a number elsewhere, or the other way round; both are one value"
                    ));
                }
                Some(_) => {}
            }
        }
        if let (Some(Value::Array(labels)), Some(tokens), None) =
            (&row.labels, &row.tokens, &row.label)
        {
            let labels = labels.iter().map(|value| match value {
                Value::Null => Ok(None),
                value => label_of(value).map(Some),
            });
            rows.push_each(place, held_out.map_err(at)?, labels, tokens)?;
            continue;
        }
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

fn label_of(value: &Value) -> Result<Label, String> {
    match value {
        Value::Bool(_) | Value::Number(_) => Label::of_text(&value.to_string()),
        Value::String(text) => Label::of_text(text),
        _ => Err("the label must be a number, a name, true or false".to_owned()),
    }
}

/// The keys of a line in their order, with their values.
pub(super) struct Keys(pub(super) Vec<(String, Value)>);

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

/// The object of a line.
///
/// # Errors
/// Says what the line is instead, or where it is no JSON.
pub(super) fn object(line: &str) -> Result<Keys, String> {
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

/// Why the object of a line is not a sample.
fn unsuitable(keys: &Map<String, Value>) -> String {
    match (keys.get("tokens"), keys.get("split")) {
        (Some(Value::Array(tokens)), _)
            if let Some(place) = tokens.iter().position(|token| !token.is_i64()) =>
        {
            let token = &tokens[place];
            let found = if token.is_number() {
                token.to_string()
            } else {
                kind(token).to_owned()
            };
            format!(
                "`tokens`, value {}: {found} is not a token id; write a whole number",
                place + 1
            )
        }
        (Some(tokens), _) if !tokens.is_array() && !tokens.is_null() => format!(
            "`tokens` is {}, not a list of token ids; write it as [7, 3]",
            kind(tokens)
        ),
        (_, Some(split)) if !split.is_string() && !split.is_null() => format!(
            "`split` is {}, not a name; use \"train\" or \"held_out\"",
            kind(split)
        ),
        _ => "a key occurs twice; remove one of them".to_owned(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
