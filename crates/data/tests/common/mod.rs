//! Rules, in a line each; and the config of a file of samples.
#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use headlight_data::files::{FileKeys, Rows};
use headlight_data::rules::{
    Count, EqualPositions, SumMod, TokenAnywhere, TokenAtPosition, TokenBeforeToken,
};
use headlight_data::{Columns, DatasetConfig, LabelRule, Source, Task};

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

/// The config that says nothing of these samples but the keys, and its padding token.
pub fn completed(rows: &Rows, keys: FileKeys, columns: &Columns) -> (DatasetConfig, Option<u32>) {
    let keys = rows.complete(keys);
    let config = DatasetConfig {
        task: Task::Classification,
        seed: keys.seed,
        source: Source::File("file".into()),
        columns: columns.clone(),
        words: keys.words,
        vocab_size: keys.vocab_size.unwrap(),
        seq_len: keys.seq_len.unwrap(),
        n_classes: keys.n_classes.unwrap(),
        classes: keys.classes.unwrap_or_default(),
        cls: keys.cls,
        held_out: keys.held_out.unwrap_or(0),
        fold: keys.fold,
        label_noise: 0.0,
        rule: None,
    };
    (config, keys.padding_token)
}
