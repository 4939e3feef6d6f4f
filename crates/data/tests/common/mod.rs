//! Rules, in a line each; and the config of a file of samples.
#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use std::io::Cursor;

use headlight_data::files::{
    DatasetToWrite, FileError, FileKeys, Format, Rows, SampleTable, write,
};
use headlight_data::rules::{
    Count, EqualPositions, Parity, SumMod, TokenAnywhere, TokenAtPosition, TokenBeforeToken,
};
use headlight_data::{ColumnNames, DatasetConfig, LabelRule, Splits};
use serde_json::{Value, json};

pub fn at(token: u32, position: usize) -> LabelRule {
    TokenAtPosition { token, position }.into()
}

pub fn anywhere(token: u32) -> LabelRule {
    TokenAnywhere { token }.into()
}

pub fn before(first: u32, second: u32) -> LabelRule {
    TokenBeforeToken { first, second }.into()
}

pub fn equal(first: usize, second: usize) -> LabelRule {
    EqualPositions { first, second }.into()
}

pub fn count(token: u32) -> LabelRule {
    Count { token }.into()
}

pub fn parity(token: u32, positions: &[usize]) -> LabelRule {
    let positions = positions.to_vec();
    Parity { token, positions }.into()
}

pub fn sum(modulus: u32, positions: &[usize]) -> LabelRule {
    let positions = positions.to_vec();
    SumMod { modulus, positions }.into()
}

/// The samples of a file that messages call `file`, from the columns of a config.
pub fn read_columns(
    bytes: impl AsRef<[u8]>,
    format: Format,
    columns: &ColumnNames,
) -> Result<Rows, FileError> {
    SampleTable::read(Cursor::new(bytes), format, "file")?.samples(columns)
}

/// The samples of a file whose columns have the usual names.
pub fn read(bytes: impl AsRef<[u8]>, format: Format) -> Result<Rows, FileError> {
    read_columns(bytes, format, &ColumnNames::default())
}

/// The config that says nothing of these samples but the keys, and its padding token.
pub fn completed(rows: &Rows, keys: FileKeys) -> (DatasetConfig, Option<u32>) {
    let keys = rows.complete(keys);
    let padding_token = keys.padding_token;
    (keys.config("file", ColumnNames::default()), padding_token)
}

/// What these samples are in a file of a format.
pub fn written(
    splits: &Splits,
    config: &DatasetConfig,
    padding_token: Option<u32>,
    format: Format,
) -> Vec<u8> {
    let contents = DatasetToWrite {
        splits,
        config,
        padding_token,
        rows: None,
    };
    let mut bytes = Vec::new();
    write(contents, format, &mut bytes).unwrap();
    bytes
}

/// What keys of a config parse to, of which those of `changes` go before the others and null removes one; or the message.
pub fn parsed(mut keys: Value, changes: &Value) -> Result<DatasetConfig, String> {
    let own = keys.as_object_mut().unwrap();
    own.extend(changes.as_object().unwrap().clone());
    own.retain(|_, value| !value.is_null());
    serde_json::from_value(keys).map_err(|error| error.to_string())
}

/// The hash FNV-1a.
pub fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// A config of these keys.
pub fn config(keys: Value) -> DatasetConfig {
    parsed(keys, &json!({})).unwrap()
}

/// Checks the lines `changes | key | part | ...`: the config of `keys` with the changes is refused for its key, or `valid`, or `unread`,
/// and the message holds all parts.
pub fn check(keys: &Value, table: &str) {
    for line in table.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let changes = serde_json::from_str(cells[0]).unwrap();
        let (key, message) = match parsed(keys.clone(), &changes).map(|config| config.validate()) {
            Err(message) => ("unread".to_owned(), message),
            Ok(Err(error)) => (error.key, error.message),
            Ok(Ok(())) => ("valid".to_owned(), String::new()),
        };
        assert_eq!(key, cells[1], "{line}: {message}");
        let holds = |part: &&str| message.contains(*part);
        assert!(cells[2..].iter().all(holds), "{line}: {message}");
    }
}
