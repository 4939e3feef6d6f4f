//! Dataset files.

use std::io::Cursor;

use headlight_data::files::{DatasetToWrite, FileKeys, Format, Rows, SampleTable, write};
use headlight_data::{ColumnNames, DatasetConfig};

/// The config of a file that a config says nothing about, and its padding token.
fn config(rows: &Rows, columns: ColumnNames) -> (DatasetConfig, Option<u32>) {
    let keys = rows.complete(FileKeys::default());
    let padding_token = keys.padding_token;
    (keys.config("data", columns), padding_token)
}

fn read(bytes: &[u8], format: Format) {
    let Ok(table) = SampleTable::read(Cursor::new(bytes), format, "") else {
        return;
    };
    // With the columns that Headlight chooses.
    if let Ok(choice) = table.choose(&ColumnNames::default())
        && let Ok(rows) = table.samples(&choice.columns)
    {
        let (config, padding_token) = config(&rows, choice.columns);
        let _ = rows.fit(&config, padding_token);
    }
    let Ok(rows) = table.samples(&ColumnNames::default()) else {
        return;
    };
    let (config, padding_token) = config(&rows, ColumnNames::default());
    let _ = rows.dataset(&config, padding_token);
    // Whatever can be trained on can be written and read again.
    if let Ok(splits) = rows.fit(&config, padding_token) {
        let mut again = Vec::new();
        let contents = DatasetToWrite {
            splits: &splits,
            config: &config,
            padding_token,
            rows: Some(&rows),
        };
        write(contents, format, &mut again).unwrap();
        let table = SampleTable::read(Cursor::new(again), format, "").unwrap();
        let rows = table.samples(&ColumnNames::default()).unwrap();
        let config = DatasetConfig {
            held_out: 0,
            ..config
        };
        assert_eq!(rows.fit(&config, padding_token), Ok(splits));
    }
}

pub(crate) fn npz(bytes: &[u8]) {
    read(bytes, Format::Npz);
}

pub(crate) fn csv(bytes: &[u8]) {
    read(bytes, Format::Csv);
}

pub(crate) fn jsonl(bytes: &[u8]) {
    read(bytes, Format::Jsonl);
}
