//! Rules, in a line each; and the config of a file of samples.
#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use std::fmt::Display;
use std::io::{Read, Seek};

use headlight_data::files::{FileError, FileKeys, Format, Rows, Table};
use headlight_data::rules::{
    Count, EqualPositions, SumMod, TokenAnywhere, TokenAtPosition, TokenBeforeToken,
};
use headlight_data::{ColumnNames, DatasetConfig, LabelRule};

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

pub fn sum(modulus: u32, positions: &[usize]) -> LabelRule {
    let positions = positions.to_vec();
    SumMod { modulus, positions }.into()
}

/// The samples of a file, from the columns of a config.
pub fn read(
    reader: impl Read + Seek,
    format: Format,
    columns: &ColumnNames,
    name: impl Display,
) -> Result<Rows, FileError> {
    Table::read(reader, format, name)?.samples(columns)
}

/// The config that says nothing of these samples but the keys, and its padding token.
pub fn completed(
    rows: &Rows,
    keys: FileKeys,
    columns: &ColumnNames,
) -> (DatasetConfig, Option<u32>) {
    let keys = rows.complete(keys);
    let padding_token = keys.padding_token;
    (keys.config("file", columns.clone()), padding_token)
}
