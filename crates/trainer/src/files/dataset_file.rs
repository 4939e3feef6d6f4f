//! Dataset files: reads them, and takes from them the keys that a config leaves out.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Cursor, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use headlight_data::files::{FileKeys, Format, Rows, SampleTable};
use headlight_data::words::{WINDOW, Words};
use headlight_data::{ColumnNames, DatasetConfig, share_of};
use headlight_input::{FILE_LIMIT, gunzip};
use toml::{Table, Value};

use crate::files::access::open;
use crate::files::built_in;
use crate::files::temporary::temporary;
use crate::messages::notes::note_once;
use crate::{Failure, shown};

/// Dataset files, each of which is read once.
#[derive(Debug, Default)]
pub struct DatasetFiles(RefCell<BTreeMap<PathBuf, Rc<SampleTable>>>);

impl DatasetFiles {
    /// The table of a dataset file.
    ///
    /// # Errors
    /// When it cannot be read, is damaged or too large, or its name has another ending.
    pub fn table(&self, path: &Path) -> Result<Rc<SampleTable>, Failure> {
        let key = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if let Some(table) = self.0.borrow().get(&key) {
            return Ok(Rc::clone(table));
        }
        let (format, is_packed) = Format::to_read(path).ok_or_else(|| {
            let what = match path.metadata() {
                Ok(found) if found.is_dir() => "it is a folder",
                Ok(_) => "unknown file extension",
                Err(_) => "the file does not exist",
            };
            let reason = "use .npz, .csv, .tsv, .jsonl or .txt, or one of these with .gz";
            Failure::reading(path, format!("{what}; {reason}"))
        })?;
        if let Some(bytes) = built_in::data_file(path) {
            let table = Rc::new(SampleTable::read(Cursor::new(bytes), format, shown(path))?);
            return Ok(table);
        }
        let mut file = open(path, FILE_LIMIT)?;
        if is_packed {
            let unpacked = temporary().and_then(|mut into| {
                gunzip(file, &mut into, FILE_LIMIT)?;
                into.rewind()?;
                Ok(into)
            });
            file = unpacked.map_err(|error| Failure::unreadable(path, &error))?;
        }
        let table = Rc::new(SampleTable::read(file, format, shown(path))?);
        self.0.borrow_mut().insert(key, Rc::clone(&table));
        Ok(table)
    }

    /// The samples of a dataset file, as a config takes them.
    ///
    /// # Errors
    /// When it cannot be read, or holds something else than samples.
    pub fn rows(&self, path: &Path, data: &DatasetConfig) -> Result<Rows, Failure> {
        self.samples(path, &data.columns, data.words.as_ref(), data.seq_len)
    }

    fn samples(
        &self,
        path: &Path,
        columns: &ColumnNames,
        words: Option<&Words>,
        seq_len: usize,
    ) -> Result<Rows, Failure> {
        let table = self.table(path)?;
        match words.filter(|words| words.one_text) {
            Some(words) => Ok(table.windows(words, seq_len)?),
            None => Ok(table.samples(columns)?),
        }
    }
}

/// The samples of a dataset file, as a config takes them.
///
/// # Errors
/// When it cannot be read, or holds something else than samples.
pub fn read(path: &Path, data: &DatasetConfig) -> Result<Rows, Failure> {
    DatasetFiles::default().rows(path, data)
}

/// Adds to a config the keys that it leaves to its dataset file, so that the config alone says what the samples are.
/// A config that has all of them is not touched, and its file is not read.
pub(crate) fn complete(config: &mut Table, files: &DatasetFiles) -> Result<(), Failure> {
    let attention = config.get("model").and_then(|model| model.get("attention"));
    let padding_token = attention
        .and_then(|table| table.get("padding_token"))
        .cloned();
    // One of another type stays, and the reader of the config says so.
    let padding_token = padding_token.and_then(|token| token.try_into().ok());
    let Some(data) = config.get_mut("data").and_then(Value::as_table_mut) else {
        return Ok(());
    };
    let Some(path) = data.get("file").and_then(Value::as_str).map(PathBuf::from) else {
        return Ok(());
    };
    let share = data.get("held_out").and_then(Value::as_float);
    let share = share.filter(|share| (0.0..1.0).contains(share));
    if share.is_some() {
        data.remove("held_out");
    }
    // Where a value has the wrong type, the reader of the config says so.
    let table = Value::Table(data.clone());
    let (Ok(mut keys), Ok(columns)) = (
        table.clone().try_into::<FileKeys>(),
        table.try_into::<ColumnNames>(),
    ) else {
        return Ok(());
    };
    keys.padding_token = padding_token;
    if share.is_none() && keys.are_complete(&columns) {
        return Ok(());
    }
    if keys.words.as_ref().is_some_and(|words| words.one_text) {
        keys.seq_len.get_or_insert(WINDOW);
    }
    let seq_len = keys.seq_len.unwrap_or_default();
    let rows = files.samples(&path, &columns, keys.words.as_ref(), seq_len)?;
    if let Some(share) = share {
        let count = share_of(rows.len(), share);
        if count == 0 && share > 0.0 {
            let told = format!("{}: held_out = {share} holds out no sample", rows.name());
            note_once(&told, &told);
        }
        keys.held_out = Some(count);
    }
    let keys = rows.complete(keys);
    let padding_token = keys.padding_token;
    // A file of at most 1 GiB has no number that TOML does not take.
    data.extend(Table::try_from(keys).unwrap_or_default());
    let model = config.get_mut("model").and_then(Value::as_table_mut);
    if let (Some(model), Some(token)) = (model, padding_token) {
        let attention = model.entry("attention");
        let attention = attention.or_insert_with(|| Value::Table(Table::new()));
        if let Some(attention) = attention.as_table_mut() {
            let entry = attention.entry("padding_token");
            entry.or_insert(Value::Integer(token.into()));
        }
    }
    Ok(())
}
