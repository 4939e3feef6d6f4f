//! Datasets as CSV. The header names the columns: `label`, `split`, and `token_0`, `token_1`, and so on, or `text`, in any
//! order; or the columns of categories that a config names. Other columns are ignored.

use std::io::{self, Write};

use csv::{QuoteStyle, ReaderBuilder, StringRecord, Terminator, WriterBuilder};
use headlight_input::LINE_LIMIT;
use serde_json::Value;

use super::contents::{DatasetToWrite, refused, twice};
use super::table::{CellKind, Form, SampleTable};
use super::text::too_long;
use crate::task::Task;

/// What can separate cells. Of equally frequent ones, the first.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Reads a CSV or TSV file.
pub(super) fn read(mut text: String, is_marked: bool, name: &str) -> Result<SampleTable, String> {
    let first = text.split('\n').next().unwrap_or_default();
    let separator = match first
        .trim_end_matches('\r')
        .strip_prefix("sep=")
        .map(str::as_bytes)
    {
        // The line of Excel stays, and is empty.
        Some(&[named]) => {
            text.drain(..5);
            named
        }
        _ => separator(&text),
    };
    check_quotes(&text, separator)?;
    // With a line break at the very end and no other terminator, the reader stands at the start of a line after each record.
    text.push('\n');
    let mut csv = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .terminator(Terminator::Any(b'\n'))
        .from_reader(text.as_bytes());
    let mut table: Option<SampleTable> = None;
    let mut record = StringRecord::new();
    while csv
        .read_record(&mut record)
        .map_err(|error| error.to_string())?
    {
        let breaks = record.as_slice().matches('\n').count() as u64;
        // A file of at most 1 GiB has fewer lines than 2^32.
        let line = (csv.position().line() - 1).saturating_sub(breaks) as u32;
        if record.as_slice().len() as u64 > LINE_LIMIT {
            return Err(too_long(line));
        }
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let last = record.len() - 1;
        let cells = record.iter().enumerate();
        let is_of_windows = text[..csv.position().byte() as usize].ends_with("\r\n");
        let cells = cells.map(|(column, cell)| match cell.strip_suffix('\r') {
            Some(cell) if column == last && is_of_windows => (column, cell),
            _ => (column, cell),
        });
        let Some(table) = &mut table else {
            let form = Form::Cells {
                separator,
                is_marked,
                header: line,
            };
            let columns: Vec<String> = cells.map(|(_, name)| name.trim().to_owned()).collect();
            if let Some(name) = twice(&columns) {
                return Err(format!(
                    "line {line}: the header names the column `{name}` twice"
                ));
            }
            table = Some(SampleTable::new(name, form, columns));
            continue;
        };
        let count = table.columns.len();
        table.begin_row(line);
        for (column, cell) in cells {
            if column < count {
                table.push(column, CellKind::Text, cell);
            } else if !cell.trim().is_empty() {
                return Err(format!(
                    "line {line}: the row has {} cells, but the header names {count} columns",
                    record.len(),
                ));
            }
        }
    }
    table.ok_or_else(|| "the file is empty".to_owned())
}

/// Refuses quotes that the reader would misread: one that is never closed, one within a quoted cell, and
/// in a table of tabs a cell of several lines with tabs, which are the cells up to a later quote.
fn check_quotes(text: &str, separator: u8) -> Result<(), String> {
    let refused = |line: u32, what: String| {
        Err(format!(
            "line {line}: {what}; double each quote inside a quoted cell"
        ))
    };
    let (mut line, mut is_start, mut opened, mut has_tab) = (1, true, None, false);
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match (byte, opened) {
            (b'"', None) if is_start => (opened, has_tab) = (Some(line), false),
            (b'"', Some(_)) if bytes.next_if(|next| next.1 == b'"').is_some() => {}
            (b'"', Some(first)) => {
                opened = None;
                let rest = text[at + 1..].trim_start_matches(' ');
                let next = rest.bytes().next().unwrap_or(b'\n');
                let is_end = next == separator || matches!(next, b'\r' | b'\n');
                if !is_end || has_tab && line > first {
                    return refused(
                        first,
                        format!(
                            "the quoted cell that begins here ends in line {line} before the end of its cell"
                        ),
                    );
                }
            }
            (b'\t', Some(_)) => has_tab |= separator == b'\t',
            _ => {}
        }
        line += u32::from(byte == b'\n');
        is_start = opened.is_none() && (byte == separator || byte == b'\n');
    }
    opened.map_or(Ok(()), |line| {
        refused(
            line,
            "the quoted cell that begins here never ends".to_owned(),
        )
    })
}

/// The separator that is most frequent in the first line that has any cells, outside quotes.
fn separator(text: &str) -> u8 {
    let mut counts = [0_usize; SEPARATORS.len()];
    let (mut quoted, mut has_cells) = (false, false);
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted && has_cells => break,
            b'\n' if !quoted => counts = [0; SEPARATORS.len()],
            _ if quoted => {}
            _ => match SEPARATORS.iter().position(|&separator| separator == byte) {
                Some(found) => counts[found] += 1,
                None => has_cells |= !byte.is_ascii_whitespace(),
            },
        }
        has_cells |= quoted;
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let found = counts.iter().position(|&count| count == most);
    found.map_or(b',', |index| SEPARATORS[index])
}

/// The names that a text has between separators in its first line, if it is a header.
pub(super) fn header_names(text: &str) -> impl Iterator<Item = &str> {
    let line = text.split(['\n', '\r']).next().unwrap_or_default();
    let names = line.split(char::from(separator(line)));
    names.map(|name| name.trim().trim_matches('"'))
}

/// Writes the header of a table: names that hold what separates other tables are quoted, so that a reader finds the
/// separator of this one.
///
/// # Errors
/// When writing fails.
pub fn write_header(
    writer: &mut dyn Write,
    delimiter: u8,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> csv::Result<()> {
    let names: StringRecord = names.into_iter().collect();
    let holds_separator = |name: &str| name.bytes().any(|byte| SEPARATORS.contains(&byte));
    let style = if names.iter().any(holds_separator) {
        QuoteStyle::Always
    } else {
        QuoteStyle::Necessary
    };
    let mut csv = WriterBuilder::new()
        .delimiter(delimiter)
        .quote_style(style)
        .from_writer(writer);
    csv.write_record(&names)?;
    Ok(csv.flush()?)
}

pub(super) fn write(contents: DatasetToWrite<'_>, mut writer: impl Write) -> io::Result<()> {
    if contents.config.task == Task::TokenClassification {
        return Err(refused(
            "samples have a label per token, which CSV has no place for; choose .npz or .jsonl",
        ));
    }
    let positions = contents.splits.train.positions();
    let names = contents.names((0..positions).map(|position| format!("token_{position}")))?;
    write_header(&mut writer, b',', &names)?;
    let mut csv = csv::Writer::from_writer(writer);
    for cells in contents.samples()? {
        let mut record = Vec::with_capacity(names.len());
        for cell in cells {
            match cell {
                Value::String(text) => record.push(text),
                Value::Array(tokens) => record.extend(tokens.iter().map(Value::to_string)),
                class => record.push(class.to_string()),
            }
        }
        record.resize(names.len(), String::new());
        csv.write_record(record)?;
    }
    csv.flush()
}
