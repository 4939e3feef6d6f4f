//! The reader does not trust what an archive declares.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::io::Cursor;

use common::{archive, array, header, npy, reader};
use headlight_npz::{INFLATED_FREE, NpzReader, NpzWriter, TEXT_MEMBER_LIMIT};

/// Compressed arrays of zeros: their type, its width in bytes, and their lengths.
fn zeros(kind: &str, width: usize, counts: &[usize]) -> NpzReader<Cursor<Vec<u8>>> {
    let members = counts.iter().enumerate().map(|(number, &count)| {
        let header = header(kind, &format!("({count},)"));
        (
            format!("{number}.npy"),
            npy(&header, &vec![0; count * width]),
        )
    });
    let members: Vec<(String, Vec<u8>)> = members.collect();
    let members: Vec<(&str, &[u8])> = members
        .iter()
        .map(|(name, npy)| (&name[..], &npy[..]))
        .collect();
    reader(archive(&members))
}

#[test]
fn archives_inflate_only_so_far() {
    assert_eq!(INFLATED_FREE, 64 << 20);
    let most = INFLATED_FREE as usize / 8;
    // As int64, the header of the largest array makes it too large. As int8, what it becomes counts.
    let cases: [(&str, usize, &[usize], usize); 6] = [
        ("'<i8'", 8, &[most], 0),
        ("'<i8'", 8, &[most / 2, 1], 2),
        ("'<i8'", 8, &[most / 2, most / 2, 1], 1),
        ("'|i1'", 1, &[most, 1], 1),
        ("'|i1'", 1, &[most + 1], 0),
        ("'|i1'", 1, &[1, most], 1),
    ];
    for (kind, width, counts, readable) in cases {
        let mut npz = zeros(kind, width, counts);
        for (name, &count) in counts.iter().enumerate() {
            let read = npz.integers(&name.to_string());
            if name < readable {
                assert_eq!(read.unwrap().values.len(), count);
            } else {
                let message = read.unwrap_err();
                assert!(message.contains("inflates to more than"), "{message}");
                break;
            }
        }
    }
}

#[test]
fn texts_are_read_up_to_their_limit() {
    assert_eq!(TEXT_MEMBER_LIMIT, 4 << 20);
    let most = TEXT_MEMBER_LIMIT as usize - 64;
    let mut npz = NpzWriter::new();
    npz.string("most", &" ".repeat(most)).unwrap();
    npz.string("more", &" ".repeat(most + 65)).unwrap();
    let mut npz = reader(npz.finish().unwrap());
    assert_eq!(npz.string("most").unwrap().len(), most);
    let message = npz.string("more").unwrap_err();
    for part in ["`more.npy`", "larger than 16 MiB"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn headers_are_checked_before_they_are_parsed() {
    let npy = |version: u8, length: &[u8], text: &str| {
        [b"\x93NUMPY", &[version, 0][..], length, text.as_bytes()].concat()
    };
    let cases = [
        (npy(2, &[255; 4], "{}"), "header has 4294967295 bytes"),
        (
            npy(1, &[0x11, 0x27], &" ".repeat(10_001)),
            "header has 10001 bytes; the limit is 10000",
        ),
        // A parser that tries dictionaries and then sets takes twice as long for each brace.
        (npy(1, &[26, 0], &"{".repeat(26)), "more than 4 deep"),
        (npy(1, &[5, 0], "([{(["), "more than 4 deep"),
        (npy(1, &[100, 0], "{}"), "it is cut short"),
        (npy(9, &[2, 0], "{}"), "npy version is 9"),
        (b"\x93NUMPY\x01".to_vec(), "it is cut short"),
        (b"\x93NUMPY".to_vec(), "it is cut short"),
        (b"PK".to_vec(), "it is not an npy array"),
    ];
    for (bytes, part) in cases {
        let archive = archive(&[("a.npy", &bytes)]);
        for message in [
            reader(archive.clone()).integers("a").unwrap_err(),
            reader(archive).floats("a").unwrap_err(),
        ] {
            assert!(message.contains(part), "`{part}`: {message}");
        }
    }
}

#[test]
fn headers_are_parsed_up_to_their_limits() {
    let longest = format!("{:10000}", header("'|i1'", "(1,)"));
    assert_eq!(array(&longest, &[7]).integers("a").unwrap().values, [7]);
    for version in [2, 3] {
        let text = header("'|i1'", "(1,)");
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        let npy = [
            b"\x93NUMPY",
            &[version, 0][..],
            &length,
            text.as_bytes(),
            &[7],
        ]
        .concat();
        let read = reader(archive(&[("a.npy", &npy)])).integers("a");
        assert_eq!(read.unwrap().values, [7]);
    }
    // Four brackets deep, and many beside each other: parsed, and refused for what it is.
    let fields: Vec<String> = (0..9).map(|i| format!("('x{i}', '|i1', (1,))")).collect();
    let descr = format!("[{}]", fields.join(", "));
    let message = array(&header(&descr, "(1,)"), &[0; 9])
        .integers("a")
        .unwrap_err();
    assert!(message.contains("'x8'"), "{message}");
}

#[test]
fn arrays_hold_what_their_headers_say() {
    for (descr, shape, bytes) in [
        ("'<i8'", "(3,)", 23),
        ("'<i8'", "(3,)", 16),
        ("'|i1'", "(2, 2)", 3),
        ("'<i4'", "(4294967296, 1073741824)", 16),
    ] {
        let message = array(&header(descr, shape), &vec![0; bytes])
            .integers("a")
            .unwrap_err();
        assert!(
            message.contains("shorter than its header says"),
            "{message}"
        );
    }
    let order = header("'|i1'", "(2, 2)").replace("False", "True");
    let message = array(&order, &[0; 4]).integers("a").unwrap_err();
    assert!(message.contains("column"), "{message}");
}

#[test]
fn members_that_hold_another_size_than_declared_are_refused() {
    let array = headlight_npz::npy(&[2], &[1_i64, 2]).unwrap();
    let whole = archive(&[("a.npy", &array)]);
    assert_eq!(reader(whole.clone()).integers("a").unwrap().values, [1, 2]);
    // The size once inflated, in the list of members: 24 bytes into its only entry.
    let entry = whole
        .windows(4)
        .position(|bytes| bytes == b"PK\x01\x02")
        .unwrap();
    assert_eq!(usize::from(whole[entry + 24]), array.len());
    for declared in [0, 8, array.len() as u8 + 1] {
        let mut bytes = whole.clone();
        bytes[entry + 24] = declared;
        let message = reader(bytes).integers("a").unwrap_err();
        assert!(message.contains("`a.npy`"), "{message}");
    }
}

/// The locator of a second directory, which stands before the end of the first.
fn locator() -> Vec<u8> {
    [b"PK\x06\x07", &[0; 16][..]].concat()
}

#[test]
fn zip64_archives_are_refused() {
    let whole = archive(&[("a", b"some text")]);
    let (members, end) = whole.split_at(whole.len() - 22);
    let mut with_comment = end.to_vec();
    with_comment[20..].copy_from_slice(&[255, 255]);
    with_comment.resize(end.len() + 0xffff, b' ');
    for end in [end, &with_comment] {
        assert!(NpzReader::new(Cursor::new([members, end].concat())).is_ok());
        let message = NpzReader::new(Cursor::new([members, &locator(), end].concat()));
        let message = message.err().unwrap();
        assert!(message.contains("zip64"), "{message}");
    }
    // Further from the end than any comment reaches, the same bytes are those of a member.
    let fake = [&locator()[..], b"PK\x05\x06"].concat();
    let filler = vec![b' '; 20 + 22 + 0xffff];
    let filler = &filler[fake.len() + whole.len()..];
    assert!(NpzReader::new(Cursor::new([&fake, filler, b" ", &whole].concat())).is_ok());
    assert!(NpzReader::new(Cursor::new([&fake, filler, &whole].concat())).is_err());
}

#[test]
fn a_long_list_of_members_is_refused() {
    let names: Vec<String> = (0..66).map(|i| format!("{i:065000}")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (&name[..], &b""[..])).collect();
    assert!(NpzReader::new(Cursor::new(archive(&members[..60]))).is_ok());
    let message = NpzReader::new(Cursor::new(archive(&members)))
        .err()
        .unwrap();
    assert!(
        message.contains("its list of members is too long"),
        "{message}"
    );
}

#[test]
fn members_larger_than_the_list_of_members_may_be_are_read() {
    // Noise, which does not deflate, and each byte of it at its place.
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    })
    .take(5 << 20)
    .collect();
    let header = header("'|u1'", &format!("({},)", noise.len()));
    let read = array(&header, &noise).integers("a").unwrap();
    assert!(
        read.values
            .iter()
            .zip(&noise)
            .all(|(&value, &byte)| value == i64::from(byte))
    );
}

#[test]
fn files_of_another_kind_are_not_archives() {
    for bytes in [&b""[..], b"tokens,label\n0 1 2,1\n", b"PK\x03\x04"] {
        let opened = NpzReader::new(Cursor::new(bytes));
        let message = opened.err().unwrap();
        assert!(
            message.contains("not an npz archive"),
            "{bytes:?}: {message}"
        );
    }
}
