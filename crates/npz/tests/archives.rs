//! Archives survive a round trip, and damaged ones are refused without a panic.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Cursor;

use headlight_npz::{NpzReader, NpzWriter, TEXT_MEMBER_LIMIT};
use proptest::prelude::*;

fn archive() -> Vec<u8> {
    let mut npz = NpzWriter::new();
    npz.array("tokens", &[2, 3], &[1_i64, 2, 3, 4, 5, 6])
        .unwrap();
    npz.array("labels", &[2], &[0.0_f32, 1.0]).unwrap();
    npz.string("meta", "{ü𝄞}").unwrap();
    npz.bytes("notes.txt", b"{}").unwrap();
    npz.finish().unwrap()
}

#[test]
fn arrays_and_text_come_back() {
    let mut npz = NpzReader::new(Cursor::new(archive())).unwrap();
    let tokens = npz.integers("tokens").unwrap();
    assert_eq!(tokens.shape, [2, 3]);
    assert_eq!(tokens.values, [1, 2, 3, 4, 5, 6]);
    assert_eq!(npz.floats("labels").unwrap().values, [0.0, 1.0]);
    assert_eq!(npz.string("meta").unwrap(), "{ü𝄞}");
}

#[test]
fn same_arrays_same_bytes() {
    assert_eq!(archive(), archive());
}

#[test]
fn missing_and_mistyped_arrays_are_named() {
    let mut npz = NpzReader::new(Cursor::new(archive())).unwrap();
    let missing = npz.integers("ids").unwrap_err();
    assert_eq!(missing, "it has no member `ids.npy`");
    let message = npz.integers("labels").unwrap_err();
    assert!(
        message.contains("`labels.npy`") && message.contains("float32"),
        "{message}"
    );
}

proptest! {
    #[test]
    fn damage_is_an_error_or_harmless(cut in 0_usize..400, flip in 0_usize..400, bit in 0_u8..8) {
        let mut bytes = archive();
        let flip = flip % bytes.len();
        bytes[flip] ^= 1 << bit;
        bytes.truncate(bytes.len() - cut % bytes.len());
        if let Ok(mut npz) = NpzReader::new(Cursor::new(bytes)) {
            let _ = npz.integers("tokens");
            let _ = npz.floats("labels");
            let _ = npz.string("meta");
        }
    }
}

#[test]
fn lists_of_strings_come_back() {
    let mut npz = NpzWriter::new();
    npz.strings("names", &["ham", "", "é"]).unwrap();
    npz.string("one", "text").unwrap();
    npz.array("numbers", &[2], &[1_i64, 2]).unwrap();
    // Without characters, a header could declare any number of strings.
    npz.strings("blank", &["", ""]).unwrap();
    npz.array("number", &[], &[1_i64]).unwrap();
    npz.string("long", &"a".repeat(TEXT_MEMBER_LIMIT as usize / 2))
        .unwrap();
    // In UTF-32, this is more than a quarter of the limit.
    let long = "a".repeat(TEXT_MEMBER_LIMIT as usize / 14);
    npz.strings("long list", &[long]).unwrap();
    let bytes = npz.finish().unwrap();
    let mut npz = NpzReader::new(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(npz.strings("names").unwrap(), ["ham", "", "é"]);
    for name in ["one", "numbers", "blank", "missing", "long list"] {
        assert!(npz.strings(name).is_err(), "{name}");
    }
    assert_eq!(npz.string("one").unwrap(), "text");
    assert_eq!(
        npz.string("long").unwrap().len() as u64,
        TEXT_MEMBER_LIMIT / 2
    );
    for name in ["names", "numbers", "number"] {
        assert!(npz.string(name).is_err(), "{name}");
    }
}
