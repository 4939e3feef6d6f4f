//! Files, lines and budgets have the limits that they should have.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use headlight_input::{
    FILE_LIMIT, LINE_LIMIT, Lines, Metered, TEXT_LIMIT, check_kind, open, read, size,
};

#[test]
fn limits_are_those_that_are_promised() {
    assert_eq!(FILE_LIMIT, 1_073_741_824);
    assert_eq!(LINE_LIMIT, 1_048_576);
    assert_eq!(TEXT_LIMIT, 16_777_216);
}

#[test]
fn sizes_have_the_largest_unit_that_fits() {
    let cases = [
        (1, "1 KiB"),
        (1024, "1 KiB"),
        (1025, "2 KiB"),
        ((1 << 20) - 1, "1024 KiB"),
        (1 << 20, "1 MiB"),
        (16 << 20, "16 MiB"),
        ((1 << 30) - 1, "1023 MiB"),
        (1 << 30, "1 GiB"),
        (5 << 30, "5 GiB"),
    ];
    for (bytes, text) in cases {
        assert_eq!(size(bytes), text, "{bytes}");
    }
}

#[test]
fn a_file_at_its_limit_is_read_and_one_beyond_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, [7; 1024]).unwrap();
    assert_eq!(read(&path, 1024).unwrap(), [7; 1024]);
    let mut opened = Vec::new();
    open(&path, 1024).unwrap().read_to_end(&mut opened).unwrap();
    assert_eq!(opened, [7; 1024]);
    for message in [
        read(&path, 1023).unwrap_err().to_string(),
        open(&path, 1023).unwrap_err().to_string(),
    ] {
        assert_eq!(
            message,
            "it is larger than 1 KiB, the largest size that is read"
        );
    }
}

#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for message in [
        check_kind(folder.path()).unwrap_err().to_string(),
        read(folder.path(), 1024).unwrap_err().to_string(),
    ] {
        assert_eq!(message, "it is a folder; name a file");
    }
    assert!(read(&folder.path().join("none"), 1024).is_err());
    if cfg!(unix) {
        for error in [
            check_kind(Path::new("/dev/null")).unwrap_err(),
            open(Path::new("/dev/null"), 1024).unwrap_err(),
        ] {
            assert!(error.to_string().contains("device"), "{error}");
        }
    }
}

/// The kernel's own files declare no size: as with a file that grows, only reading shows it.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_grows_beyond_its_limit_is_not_read() {
    let path = Path::new("/proc/self/status");
    assert_eq!(fs::metadata(path).unwrap().len(), 0);
    let message = read(path, 10).unwrap_err().to_string();
    assert_eq!(
        message,
        "it is larger than 1 KiB, the largest size that is read"
    );
}

#[test]
fn lines_end_in_time() {
    let lines = |text: &'static [u8], limit| {
        let mut lines = Lines::new(Cursor::new(text), limit);
        let mut found = Vec::new();
        loop {
            match lines.next_line() {
                Ok(Some(line)) => found.push((line.text, line.whole, lines.read)),
                Ok(None) => return Ok(found),
                Err(error) => return Err(error.to_string()),
            }
        }
    };
    let line = |text: &str, whole, read| (text.to_owned(), whole, read);
    assert_eq!(lines(b"", 4), Ok(vec![]));
    assert_eq!(
        lines(b"four\n\nend", 4),
        Ok(vec![
            line("four", true, 5),
            line("", true, 6),
            line("end", false, 9)
        ])
    );
    assert_eq!(lines(b"four", 4), Ok(vec![line("four", false, 4)]));
    for text in [&b"fives\n"[..], b"fives", b"\nfives more"] {
        let message = lines(text, 4).unwrap_err();
        assert_eq!(message, "the line is longer than 1 KiB");
    }
    assert_eq!(lines(b"\xff\n", 4), Err("it is not UTF-8 text".to_owned()));
    assert_eq!(lines(b"a\xc3", 4), Ok(vec![line("a\u{FFFD}", false, 2)]));
}

#[test]
fn a_budget_is_spent_and_renewed() {
    let (mut reader, budget) =
        Metered::new(Cursor::new([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), 4, "a part");
    let mut four = [0; 4];
    reader.read_exact(&mut four).unwrap();
    assert_eq!((four, budget.get()), ([1, 2, 3, 4], 0));
    let message = reader.read(&mut four).unwrap_err().to_string();
    assert_eq!(message, "a part is too long");
    budget.set(4);
    assert_eq!(reader.read(&mut four[..2]).unwrap(), 2);
    assert_eq!(budget.get(), 2);
}

#[test]
fn seeking_moves_the_inner_reader_and_costs_nothing() {
    let (mut reader, budget) = Metered::new(Cursor::new(*b"0123456789"), 4, "a part");
    assert_eq!(reader.seek(SeekFrom::End(-3)).unwrap(), 7);
    let mut end = String::new();
    reader.read_to_string(&mut end).unwrap();
    assert_eq!((end.as_str(), budget.get()), ("789", 1));
    assert_eq!(reader.seek(SeekFrom::Start(2)).unwrap(), 2);
    assert_eq!(reader.stream_position().unwrap(), 2);
}
