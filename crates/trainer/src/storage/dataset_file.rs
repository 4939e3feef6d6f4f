//! Dataset files: reads them, and takes from them the keys that a config leaves out.

use std::fs::File;
use std::io::Seek;
use std::path::Path;

use headlight_data::files::{self, FileKeys, Format, Rows};
use headlight_data::{Columns, Words, part};
use headlight_input::{FILE_LIMIT, gunzip};
use toml::{Table, Value};

use crate::Failure;
use crate::notes::note;
use crate::storage::files::open;
use crate::storage::standard::shown;

/// The keys of `[data]` that a config of a file may leave out. A run's own config has all of them.
const KEYS: [&str; 3] = ["vocab_size", "seq_len", "n_classes"];

/// Texts of more bytes than this take seconds to split into words.
const LONG: u64 = 64 << 20;

/// Reads a dataset file, from the columns that a config names.
///
/// # Errors
/// When it cannot be read, or holds something else than samples.
pub fn read(path: &Path, columns: &Columns) -> Result<Rows, Failure> {
    let (file, format) = open_as(path)?;
    let name = shown(path);
    let length = file
        .metadata()
        .map_err(|error| Failure::unreadable(path, &error))?
        .len();
    let rows = files::read(file, format, columns, &name)?;
    if rows.are_texts() && length > LONG {
        note(&format!("{name}: splitting the texts into words"));
    }
    Ok(rows)
}

/// Opens a dataset file, and tells its format by its name. What is compressed is decompressed into a file without a name.
///
/// # Errors
/// When it cannot be read, is damaged or too large, or its name has another ending.
pub fn open_as(path: &Path) -> Result<(File, Format), Failure> {
    let format = Format::to_read(path).ok_or_else(|| {
        let reason =
            "unknown file extension; use .npz, .csv, .tsv, .jsonl or .txt, or one of these with .gz";
        Failure::reading(path, reason)
    })?;
    let file = open(path, FILE_LIMIT)?;
    if path.extension().is_none_or(|ending| ending != "gz") {
        return Ok((file, format));
    }
    let unpacked = tempfile::tempfile().and_then(|mut into| {
        gunzip(file, &mut into, FILE_LIMIT)?;
        into.rewind()?;
        Ok(into)
    });
    let unpacked = unpacked.map_err(|error| Failure::unreadable(path, &error))?;
    Ok((unpacked, format))
}

/// Adds to a config the keys that it leaves to its dataset file, so that the config alone says what the samples are.
/// A config that has all of them is not touched, and its file is not read.
///
/// # Errors
/// When the file cannot be read.
pub fn complete(config: &mut Table) -> Result<(), Failure> {
    let attention = |config: &Table| Some(config.get("model")?.get("attention")?.clone());
    let padding_token = attention(config).and_then(|own| own.get("padding_token").cloned());
    let Some(data) = config.get_mut("data").and_then(Value::as_table_mut) else {
        return Ok(());
    };
    let Some(path) = data.get("file").and_then(Value::as_str) else {
        return Ok(());
    };
    let path = Path::new(path).to_owned();
    let share = data.get("held_out").and_then(Value::as_float);
    let share = share.filter(|share| (0.0..1.0).contains(share));
    if share.is_some() {
        data.remove("held_out");
    }
    // Where a value has the wrong type, the reader of the config says so.
    let Ok(mut keys) = Value::Table(data.clone()).try_into::<FileKeys>() else {
        return Ok(());
    };
    let is_complete = KEYS.iter().all(|&key| data.contains_key(key));
    let has_words = |words: &Words| !words.vocabulary.is_empty();
    let lacks_words = !keys.words.as_ref().map_or(
        !data.contains_key("text") && !data.contains_key("features"),
        has_words,
    );
    if is_complete && !lacks_words && share.is_none() {
        return Ok(());
    }
    let named = |key| data.get(key).and_then(Value::as_str).map(str::to_owned);
    let columns = Columns {
        text: named("text"),
        label: named("label"),
        features: match data.get("features").cloned().map(Value::try_into) {
            None => Vec::new(),
            Some(Ok(features)) => features,
            Some(Err(_)) => return Ok(()),
        },
    };
    keys.padding_token = match padding_token.map(Value::try_into) {
        None => None,
        Some(Ok(token)) => Some(token),
        Some(Err(_)) => return Ok(()),
    };
    let rows = read(&path, &columns)?;
    // A file of at most 1 GiB has no larger number.
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX).into();
    if let Some(share) = share {
        let count = part(rows.len(), share, false);
        keys.held_out = Some(count);
        data.insert("held_out".to_owned(), number(count));
    }
    let keys = rows.complete(keys);
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            data.entry(key).or_insert(value);
        }
    };
    add(
        "vocab_size",
        keys.vocab_size.map(|count| i64::from(count).into()),
    );
    add("seq_len", keys.seq_len.map(number));
    add("n_classes", keys.n_classes.map(number));
    add("classes", keys.classes.map(Value::from));
    add("held_out", keys.held_out.map(number));
    // Its vocabulary may be new.
    if let Some(Ok(words)) = keys.words.map(Value::try_from) {
        data.insert("words".to_owned(), words);
    }
    let model = config.get_mut("model").and_then(Value::as_table_mut);
    if let (Some(model), Some(token)) = (model, keys.padding_token) {
        let attention = model.entry("attention");
        let attention = attention.or_insert_with(|| Value::Table(Table::new()));
        if let Some(attention) = attention.as_table_mut() {
            attention.insert("padding_token".to_owned(), Value::Integer(token.into()));
        }
    }
    Ok(())
}
