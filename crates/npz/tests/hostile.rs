//! What archives say of themselves is not believed.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Cursor;

use headlight_npz::{INFLATED_FREE, NpzReader, NpzWriter};

fn reader(bytes: Vec<u8>) -> NpzReader<Cursor<Vec<u8>>> {
    NpzReader::new(Cursor::new(bytes)).unwrap()
}

/// Zeros as a compressed archive of arrays that hold so many 64-bit numbers each.
fn zeros(counts: &[usize]) -> Vec<u8> {
    let mut npz = NpzWriter::new();
    for (number, &count) in counts.iter().enumerate() {
        npz.array(&number.to_string(), &[count], &vec![0_i64; count])
            .unwrap();
    }
    npz.finish().unwrap()
}

#[test]
fn archives_inflate_only_so_far() {
    let most = INFLATED_FREE as usize / 8;
    // With its header the largest member is just too large.
    let cases: [(&[usize], usize); 4] = [
        (&[most - 100], 1),
        (&[most], 0),
        (&[most / 2, most / 4], 2),
        (&[most / 2, most / 2, 1], 1),
    ];
    for (counts, readable) in cases {
        let mut npz = reader(zeros(counts));
        for (name, &count) in counts.iter().enumerate() {
            let read = npz.integers(&name.to_string());
            if name < readable {
                assert_eq!(read.unwrap().values.len(), count);
            } else {
                let message = read.unwrap_err().to_string();
                assert!(message.contains("inflates to more than"), "{message}");
                break;
            }
        }
    }
}

#[test]
fn small_numbers_count_as_what_they_become() {
    let count = INFLATED_FREE as usize / 4;
    let mut npz = NpzWriter::new();
    npz.array("a", &[count], &vec![0_u8; count]).unwrap();
    let message = reader(npz.finish().unwrap())
        .integers("a")
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("inflates to more than the 64 MiB"),
        "{message}"
    );
}

#[test]
fn large_texts_are_refused() {
    let mut npz = NpzWriter::new();
    npz.text("a.json", &" ".repeat(5 << 20)).unwrap();
    let message = reader(npz.finish().unwrap())
        .text("a.json")
        .unwrap_err()
        .to_string();
    assert!(message.contains("larger than 4 MiB"), "{message}");
}

#[test]
fn headers_are_checked_before_they_are_parsed() {
    let npy = |version: u8, length: &[u8], text: &str| {
        [b"\x93NUMPY", &[version, 0][..], length, text.as_bytes()].concat()
    };
    let cases = [
        (npy(2, &[255; 4], "{}"), "its header is of 4294967295 bytes"),
        // A parser that tries dictionaries and then sets takes twice as long for each brace.
        (
            npy(1, &[26, 0], &"{".repeat(26)),
            "more than 4 brackets deep",
        ),
        (npy(1, &[100, 0], "{}"), "it is cut short"),
        (npy(9, &[2, 0], "{}"), "npy version 9"),
        (b"\x93NUMPY\x01".to_vec(), "it is cut short"),
        (b"PK".to_vec(), "it is no npy array"),
    ];
    for (bytes, part) in cases {
        let mut npz = NpzWriter::new();
        npz.bytes("a.npy", &bytes).unwrap();
        let archive = npz.finish().unwrap();
        for message in [
            reader(archive.clone())
                .integers("a")
                .unwrap_err()
                .to_string(),
            reader(archive).floats("a").unwrap_err().to_string(),
        ] {
            assert!(message.contains(part), "`{part}`: {message}");
        }
    }
}

#[test]
fn members_that_hold_another_size_than_declared_are_refused() {
    let mut npz = NpzWriter::new();
    npz.array("a", &[2], &[1_i64, 2]).unwrap();
    let whole = npz.finish().unwrap();
    // The size once inflated, in the list of members: 24 bytes into its only entry.
    let entry = whole
        .windows(4)
        .position(|bytes| bytes == b"PK\x01\x02")
        .unwrap();
    for change in [1_u8, 255] {
        let mut bytes = whole.clone();
        bytes[entry + 24] = bytes[entry + 24].wrapping_add(change);
        let message = reader(bytes).integers("a").unwrap_err().to_string();
        assert!(message.contains("a.npy"), "{message}");
    }
}
