//! The records of a table: cells between commas, semicolons or tabs, in quotes where they need them.

use std::io::{BufRead, Chain, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use headlight_input::{LINE_LIMIT, Metered};
use std::cell::Cell;
use std::rc::Rc;

use super::rows::Place;

/// Follows the file: a record of its own, or the end of a quoted cell that is never closed.
const END: &[u8] = b"\n\x04\"\n";

/// What can separate cells. Of equally frequent ones, the first.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The records of a CSV or TSV file that are not blank, the header among them.
pub struct Records<R: Read> {
    csv: Reader<Metered<Chain<R, &'static [u8]>>>,
    allowance: Rc<Cell<u64>>,
    /// The last record that was read.
    pub(super) record: ByteRecord,
    /// What separates its cells.
    pub separator: u8,
}

impl<R: BufRead> Records<R> {
    /// Finds the separator in the first line.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn new(mut reader: R) -> Result<Self, String> {
        let start = reader.fill_buf().map_err(|error| error.to_string())?;
        let hint = hinted(start);
        let separator = hint.unwrap_or_else(|| separator(start));
        // A quoted record can span any number of lines, so each record gets a budget of bytes. With a line break at
        // the very end and no other terminator, the reader stands at the start of a line after each record.
        let (reader, allowance) = Metered::new(reader.chain(END), LINE_LIMIT, "a record");
        let mut csv = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(reader);
        let mut record = ByteRecord::new();
        if hint.is_some() {
            csv.read_byte_record(&mut record)
                .map_err(|error| error.to_string())?;
        }
        Ok(Self {
            csv,
            allowance,
            record,
            separator,
        })
    }

    /// Reads the next record; `None` at the end of the file.
    pub(super) fn next_place(&mut self) -> Result<Option<Place>, String> {
        loop {
            self.allowance.set(LINE_LIMIT);
            let start = self.csv.position().line();
            let read = self.csv.read_byte_record(&mut self.record);
            let bytes = self.record.as_slice();
            if !read.map_err(|error| format!("line {start}: {error}; is a quote never closed?"))?
                || bytes == &END[1..3]
            {
                return Ok(None);
            }
            let breaks = bytes.split(|&byte| byte == b'\n').count() - 1;
            let line = (self.csv.position().line() - 1).saturating_sub(breaks as u64);
            let place = Place::Line(line);
            if bytes.ends_with(&END[..2]) {
                return Err(format!("{place}: the quote is never closed"));
            }
            if self.record.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                return Ok(Some(place));
            }
        }
    }

    /// Reads the next record: its cells as they are; `None` at the end of the file.
    ///
    /// # Errors
    /// When the record is damaged; the message names the line.
    pub fn next_cells(&mut self) -> Result<Option<impl Iterator<Item = &[u8]>>, String> {
        let next = self.next_place()?;
        // Without its line break, which may be that of Windows.
        Ok(next.map(|_| {
            let last = self.record.len().saturating_sub(1);
            let cells = self.record.iter().enumerate();
            cells.map(move |(index, cell)| match cell.strip_suffix(b"\r") {
                Some(cell) if index == last => cell,
                _ => cell,
            })
        }))
    }
}

/// The text of a cell without the blanks around it; empty if the row ends before it.
pub(super) fn cell(record: &ByteRecord, column: usize) -> Result<&str, String> {
    cell_as_written(record, column).map(str::trim)
}

/// As [`cell`], with the blanks, but without the first half of a line break of Windows.
pub(super) fn cell_as_written(record: &ByteRecord, column: usize) -> Result<&str, String> {
    let text = str::from_utf8(record.get(column).unwrap_or_default());
    let text = text.map(|text| text.strip_suffix('\r').unwrap_or(text));
    text.map_err(|error| {
        format!(
            "cell {} is not UTF-8 text: its byte {} does not fit; save the file as UTF-8",
            column + 1,
            error.valid_up_to() + 1
        )
    })
}

/// The separator that a first line of Excel names, such as `sep=;`.
fn hinted(start: &[u8]) -> Option<u8> {
    match start {
        [b's', b'e', b'p', b'=', separator, b'\r' | b'\n', ..] => {
            SEPARATORS.contains(separator).then_some(*separator)
        }
        _ => None,
    }
}

/// The separator that is most frequent in the first line that has any cells, outside quotes.
fn separator(start: &[u8]) -> u8 {
    let mut counts = [0_usize; SEPARATORS.len()];
    let (mut quoted, mut has_cells) = (false, false);
    for &byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted && has_cells => break,
            b'\n' if !quoted => counts = [0; SEPARATORS.len()],
            _ if quoted => {}
            _ => {
                let found = SEPARATORS.iter().position(|&separator| separator == byte);
                if let Some(found) = found {
                    counts[found] += 1;
                } else {
                    has_cells |= !byte.is_ascii_whitespace();
                }
            }
        }
        has_cells |= quoted;
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let found = counts.iter().position(|&count| count == most);
    found.map_or(b',', |index| SEPARATORS[index])
}

/// The separator of the header that a text begins with.
pub fn separator_of(text: &str) -> char {
    char::from(separator(text.as_bytes()))
}

/// Writes the header of a table: names that hold what separates other tables are quoted, so that a reader finds the
/// separator of this one.
///
/// # Errors
/// When writing fails.
pub fn write_header(
    writer: &mut dyn std::io::Write,
    delimiter: u8,
    names: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> csv::Result<()> {
    use csv::{QuoteStyle, WriterBuilder};

    let names: ByteRecord = names.into_iter().collect();
    let holds_separator = |name: &[u8]| name.iter().any(|byte| SEPARATORS.contains(byte));
    let style = if names.iter().any(holds_separator) {
        QuoteStyle::Always
    } else {
        QuoteStyle::Necessary
    };
    let mut csv = WriterBuilder::new()
        .delimiter(delimiter)
        .quote_style(style)
        .from_writer(writer);
    csv.write_byte_record(&names)?;
    Ok(csv.flush()?)
}
