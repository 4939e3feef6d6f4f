//! Weights of the samples of a file.
#![allow(clippy::float_cmp)]

use crate::common::{completed, parsed, read_columns};
use headlight_data::files::{FileKeys, Format};
use headlight_data::{ColumnNames, DatasetConfig, Splits};
use headlight_npz::NpzWriter;
use serde_json::json;

const CSV: &str =
    "label,w,split,token_0\n1,2.5,train,3\n0,0,train,4\n1,0.1,train,5\n0,none,test,5\n";

fn weighted() -> ColumnNames {
    ColumnNames {
        sample_weight: Some("w".to_owned()),
        ..ColumnNames::default()
    }
}

/// The splits of a file whose weights are the column `w`, or an array, and their config.
fn fitted(
    bytes: impl AsRef<[u8]>,
    format: Format,
) -> Result<(Splits, DatasetConfig, Option<u32>), String> {
    let columns = match format {
        Format::Npz => ColumnNames::default(),
        _ => weighted(),
    };
    let rows = read_columns(bytes, format, &columns).map_err(|error| error.message)?;
    let (mut config, padding) = completed(&rows, FileKeys::default());
    config.columns = columns;
    let splits = rows.fit(&config, padding);
    let splits = splits.map_err(|error| error.to_string())?;
    Ok((splits, config, padding))
}

/// Held-out samples need none.
#[test]
fn training_samples_have_weights() {
    let (splits, mut config, padding) = fitted(CSV, Format::Csv).unwrap();
    assert_eq!(splits.train.weights().unwrap(), [2.5, 0.0, 0.1]);
    assert_eq!(splits.held_out.weights(), None);
    let json = "{\"tokens\": [3], \"label\": 1, \"w\": 2}\n{\"tokens\": [4], \"label\": 0, \"w\": \"0.5\"}\n";
    let (splits, ..) = fitted(json, Format::Jsonl).unwrap();
    assert_eq!(splits.train.weights().unwrap(), [2.0, 0.5]);
    // Another file need not have the column, as long as it is not trained on.
    let others = read_columns("token_0\n4\n", Format::Csv, &weighted()).unwrap();
    assert!(others.dataset(&config, padding).is_ok());
    config.columns = ColumnNames::default();
    let rows = read_columns(CSV, Format::Csv, &config.columns).unwrap();
    assert_eq!(rows.fit(&config, padding).unwrap().train.weights(), None);
}

#[test]
fn weights_that_cannot_be_used_are_refused() {
    let place = "file: line 3: the weight in `w` is";
    for (from, to, reason) in [
        ("0,0,", "0,,", "`w` is ``"),
        ("0,0,", "0,-1,", "`w` is `-1`; write a number from 0"),
        ("0,0,", "0,nan,", "`w` is `nan`"),
        ("0,0,", "0,1e39,", "`w` is `1e39`"),
        ("0,0,", "0,much,", "`w` is `much`"),
    ] {
        let message = fitted(CSV.replace(from, to), Format::Csv).unwrap_err();
        assert!(
            message.contains(reason) && message.starts_with(place),
            "{message}"
        );
    }
    let message = fitted(CSV.replace(",w,", ",v,"), Format::Csv).unwrap_err();
    assert!(
        message.contains("no column `w`, which data.sample_weight names"),
        "{message}"
    );

    let archive = |weights: &[f64]| {
        let mut npz = NpzWriter::new();
        npz.array("tokens", &[2, 1], &[3_i64, 4]).unwrap();
        npz.array("labels", &[2], &[1_i64, 0]).unwrap();
        npz.array("sample_weight", &[weights.len()], weights)
            .unwrap();
        npz.finish().unwrap()
    };
    let (splits, ..) = fitted(archive(&[0.5, 3.0]), Format::Npz).unwrap();
    assert_eq!(splits.train.weights().unwrap(), [0.5, 3.0]);
    for (weights, reason) in [
        (
            &[1.0, 2.0, 3.0][..],
            "`tokens` has 2 samples, but `sample_weight` has the shape [3]",
        ),
        (
            &[1.0, -2.0],
            "sample 1: the weight in `sample_weight` is `-2`",
        ),
    ] {
        let message = fitted(archive(weights), Format::Npz).unwrap_err();
        assert!(message.contains(reason), "{message}");
    }
    let named = read_columns(archive(&[1.0, 1.0]), Format::Npz, &weighted());
    assert!(named.unwrap_err().message.contains("data.sample_weight"));
    let keys = json!({ "samples": 9, "vocab_size": 5, "seq_len": 2, "rule": { "kind": "count", "token": 1 } });
    let message = parsed(keys, &json!({ "sample_weight": "w" })).unwrap_err();
    assert!(message.contains("name columns of a file"), "{message}");
}
