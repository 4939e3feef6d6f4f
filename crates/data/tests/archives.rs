//! Datasets as archives of NumPy arrays.

use std::io::Cursor;

use crate::common::completed;
use crate::files::{own, read_as, refused, splits, written};
use headlight_data::files::{FileKeys, Format};
use headlight_npz::{NpzReader, NpzWriter};

/// An archive with these arrays, by name: `tokens` as `[rows, positions]`, and its labels.
fn archive(tokens: (&[usize], &[i64]), labels: (&[usize], &[f32])) -> Vec<u8> {
    let mut npz = NpzWriter::new();
    npz.array("tokens", tokens.0, tokens.1).unwrap();
    npz.array("labels", labels.0, labels.1).unwrap();
    npz.finish().unwrap()
}

#[test]
fn bad_arrays_are_named() {
    let cases = [
        (
            archive((&[2], &[0, 1]), (&[1], &[1.0])),
            &["`tokens`", "[2]"][..],
        ),
        (
            archive((&[2, 2], &[0, 1, 0, 2]), (&[1], &[1.0])),
            &["`tokens`", "2 samples", "`labels` has 1"],
        ),
        (
            archive((&[1, 2], &[0, 1]), (&[1], &[0.5])),
            &["`tokens`, sample 0", "label 0.5 "],
        ),
        (
            archive((&[1, 0], &[]), (&[1], &[1.0])),
            &["`tokens`, sample 0"],
        ),
        (
            archive((&[2, 2], &[0, 1, 2, 1]), (&[2], &[1.0, 0.0])),
            &["`tokens`, sample 1", "[CLS] = 0"],
        ),
    ];
    for (bytes, parts) in cases {
        let error = own("bad.npz", bytes).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{error}");
        }
    }
    let empty = read_as("empty.npz", archive((&[0, 0], &[]), (&[0], &[]))).unwrap_err();
    assert!(!empty.message.contains("`tokens`"), "{empty}");
}

#[test]
fn archives_need_no_held_out_arrays_and_take_whole_labels() {
    let bytes = archive((&[2, 3], &[0, 1, 2, 0, 3, 4]), (&[2], &[1.0, 0.0]));
    let floats = own("floats.npz", bytes).unwrap();
    assert_eq!((floats.train.len(), floats.held_out.len()), (2, 0));
    assert_eq!(floats.train.labels(), [1, 0]);
    let mut npz = NpzWriter::new();
    npz.array("tokens", &[2, 3], &[0_i64, 1, 2, 0, 3, 4])
        .unwrap();
    npz.array("labels", &[2], &[1_i64, 0]).unwrap();
    let whole = own("whole.npz", npz.finish().unwrap());
    assert_eq!(whole, Ok(floats));
}

#[test]
fn archives_name_their_classes_and_their_padding() {
    let archive = |labels: [i64; 2], classes: &[&str], padding: i64| {
        let mut npz = NpzWriter::new();
        npz.array("tokens", &[2, 3], &[5_i64, padding, padding, 7, 3, padding])
            .unwrap();
        npz.array("labels", &[2], &labels).unwrap();
        npz.strings("classes", classes).unwrap();
        npz.array("padding_token", &[], &[padding]).unwrap();
        npz.finish().unwrap()
    };
    // Padding with 0 would be taken for [CLS]; it becomes a token of its own.
    for (padding, expected) in [(0, 8), (9, 9)] {
        let rows = read_as("own.npz", archive([0, 1], &["spam", "é"], padding)).unwrap();
        let (config, padding_token) = completed(&rows, FileKeys::default());
        assert_eq!(config.classes, ["spam", "é"]);
        assert_eq!((config.seq_len, padding_token), (2, Some(expected)));
        let splits = rows.fit(&config, padding_token).unwrap();
        assert_eq!(splits.train.all_tokens(), [0, 5, expected, 0, 7, 3]);
        assert_eq!(splits.train.labels(), [0, 1]);
    }
    for (bytes, part) in [
        (
            archive([0, 2], &["a", "b"], 9),
            "`tokens`, sample 1: label 2",
        ),
        (archive([0, 1], &["a", ""], 9), "`classes`"),
        (archive([0, 1], &["a", "b"], -1), "`padding_token`: -1"),
    ] {
        refused("own.npz", bytes, part);
    }
}

#[test]
fn archives_have_the_arrays_of_the_documentation() {
    let mut npz = NpzReader::new(Cursor::new(written(Format::Npz))).unwrap();
    let expected = splits();
    for (name, part) in [("", &expected.train), ("held_out_", &expected.held_out)] {
        let tokens = npz.integers(&format!("{name}tokens")).unwrap();
        assert_eq!(tokens.shape, [part.len(), 6]);
        assert_eq!(tokens.values[1], i64::from(part.tokens(0)[1]));
        let labels = npz.floats(&format!("{name}labels")).unwrap();
        assert_eq!(labels.shape, [part.len()]);
    }
}

#[test]
fn truncated_archives_are_refused() {
    let whole = written(Format::Npz);
    for keep in (0..whole.len()).step_by(7) {
        let error = read_as("cut.npz", &whole[..keep]).unwrap_err().to_string();
        assert!(error.contains("cut.npz: "), "{error}");
    }
}
