//! Files of text, read as a whole.

use std::io::Read;

use headlight_input::{LINE_LIMIT, size};

use super::table::{CellKind, Form, SampleTable};

/// By which spreadsheets know UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of a file, and whether it begins with a byte order mark. Lines that end with carriage returns alone, as on old
/// Macintosh computers, get the usual end.
pub(super) fn text_of(mut reader: impl Read) -> Result<(String, bool), String> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        let mut part = Read::take(&mut reader, LINE_LIMIT + 1);
        part.read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        let part = &bytes[before..];
        if part.is_empty() {
            break;
        }
        // A file without line breaks is refused before it fills the memory.
        if part.len() as u64 > LINE_LIMIT && !part.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
        {
            return Err(too_long(line_at(&bytes[..before])));
        }
    }
    // UTF-16 begins with a mark, or has a zero beside each letter of English.
    let is_marked = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let are_zero = |indices: [usize; 2]| indices.iter().all(|&index| bytes.get(index) == Some(&0));
    if bytes.starts_with(b"\x1f\x8b") {
        return Err("it is packed with gzip; unpack it, or end its name in .gz".to_owned());
    }
    if is_marked || are_zero([0, 2]) || are_zero([1, 3]) {
        let reason = "it is UTF-16 text; save the file as UTF-8, which Excel calls `CSV UTF-8`";
        return Err(reason.to_owned());
    }
    if bytes.iter().take(4).any(|&byte| byte == 0) {
        return Err("it begins with a zero byte, which no text has".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let (valid, _) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let start = valid.iter().rposition(|&byte| byte == b'\n');
        let byte = valid.len() - start.map_or(0, |end| end + 1) + 1;
        let line = line_at(valid);
        format!("line {line}: byte {byte} is not UTF-8 text; save the file as UTF-8")
    })?;
    let (mut text, is_marked) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (rest.to_owned(), true),
        None => (text, false),
    };
    if text.contains('\r') && !text.contains('\n') {
        text = text.replace('\r', "\n");
    }
    let is_long = |line: &(u32, &str)| line.1.len() as u64 > LINE_LIMIT;
    let long = lines(&text).find(is_long).map(|(line, _)| too_long(line));
    long.map_or(Ok((text, is_marked)), Err)
}

/// The number of the line that follows some text.
fn line_at(before: &[u8]) -> usize {
    before.split(|&byte| byte == b'\n').count()
}

pub(super) fn too_long(line: impl std::fmt::Display) -> String {
    format!("line {line}: it is longer than {}", size(LINE_LIMIT))
}

/// The lines of a text with their numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let all = text.split('\n');
    (1..).zip(all.map(|line| line.strip_suffix('\r').unwrap_or(line)))
}

/// Reads each line as a row of one cell.
pub(super) fn read(text: &str, name: &str) -> SampleTable {
    let mut table = SampleTable::new(name, Form::Lines, vec!["text".to_owned()]);
    // A text that ends with a line break has no line after it, and an empty one has none.
    let all = lines(text.strip_suffix('\n').unwrap_or(text));
    for (number, line) in all.take_while(|_| !text.is_empty()) {
        table.begin_row(number);
        table.push(0, CellKind::Text, line);
    }
    table
}
