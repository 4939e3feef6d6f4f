//! Files, lines and allowances end where they should.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::{Cursor, Read};

use headlight_input::{Lines, Metered, open, read};

#[test]
fn a_file_at_its_limit_is_read_and_one_beyond_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, [7; 1024]).unwrap();
    assert_eq!(read(&path, 1024).unwrap(), [7; 1024]);
    assert!(open(&path, 1024).is_ok());
    for message in [
        read(&path, 1023).unwrap_err().to_string(),
        open(&path, 1023).unwrap_err().to_string(),
    ] {
        assert_eq!(message, "it is larger than 1 KiB, the most that is read");
    }
    let message = read(folder.path(), 1024).unwrap_err().to_string();
    assert_eq!(message, "it is a folder; name a file");
    assert!(read(&folder.path().join("none"), 1024).is_err());
}

#[test]
fn lines_end_in_time() {
    let lines = |text: &'static [u8], limit| {
        let mut lines = Lines::new(Cursor::new(text), limit);
        let mut found = Vec::new();
        loop {
            match lines.next_line() {
                Ok(Some(line)) => found.push((line.text, line.whole)),
                Ok(None) => return Ok(found),
                Err(error) => return Err(error.to_string()),
            }
        }
    };
    let line = |text: &str, whole| (text.to_owned(), whole);
    assert_eq!(lines(b"", 4), Ok(vec![]));
    assert_eq!(
        lines(b"four\n\nend", 4),
        Ok(vec![line("four", true), line("", true), line("end", false)])
    );
    for text in [&b"fives\n"[..], b"fives", b"\nfives more"] {
        let message = lines(text, 4).unwrap_err();
        assert_eq!(message, "the line is longer than 1 KiB");
    }
    assert_eq!(lines(b"\xff\n", 4), Err("it is not UTF-8 text".to_owned()));
    assert_eq!(lines(b"a\xc3", 4), Ok(vec![line("a\u{FFFD}", false)]));
}

#[test]
fn an_allowance_is_used_up_and_renewed() {
    let (mut reader, allowance) = Metered::new(Cursor::new([1; 10]), 4, "a part");
    let mut four = [0; 4];
    reader.read_exact(&mut four).unwrap();
    let message = reader.read(&mut four).unwrap_err().to_string();
    assert_eq!(message, "a part is too long");
    allowance.set(4);
    assert_eq!(reader.read(&mut four[..2]).unwrap(), 2);
}
