//! Datasets as CSV. The header names the columns: `label`, `split`, and `token_0`, `token_1`, and so on, or `text`, in any
//! order. The numbers of tokens have no gap. A config may name the columns of text and label. Other columns are ignored.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use csv::{ByteRecord, Terminator};
use headlight_input::{LINE_LIMIT, Metered};

use super::contents::Contents;
use super::labels::{Label, whole_number};
use super::rows::{Held, Place, Rows, is_held_out};
use crate::config;

/// The most columns that a message names.
const LISTED: usize = 12;

pub(super) fn write(contents: Contents<'_>, writer: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    let positions = contents.splits.train.positions();
    let tokens = (0..positions).map(|position| format!("token_{position}"));
    let mut names = ["split", "label"].map(str::to_owned).to_vec();
    match contents.config.words {
        Some(_) => names.push("text".to_owned()),
        None => names.extend(tokens),
    }
    csv.write_record(&names)?;
    for sample in contents.samples() {
        let mut record = vec![sample.split.to_owned(), sample.class.to_string()];
        match sample.text {
            Some(text) => record.push(text),
            None => record.extend(sample.tokens.map(|token| token.to_string())),
        }
        record.resize(names.len(), String::new());
        csv.write_record(record)?;
    }
    csv.flush()
}

/// Follows the file: a record of its own, or the end of a quoted cell that is never closed.
const END: &[u8] = b"\n\x04\"\n";

pub(super) fn read(
    reader: impl Read,
    named: &config::Columns,
    rows: &mut Rows,
) -> Result<(), String> {
    // A quoted record can span any number of lines, so each record gets a budget of bytes. With a line break at
    // the very end and no other terminator, the reader stands at the start of a line after each record.
    let (reader, allowance) = Metered::new(reader.chain(END), LINE_LIMIT, "a record");
    let mut csv = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .from_reader(reader);
    let mut record = ByteRecord::new();
    let mut columns: Option<Columns> = None;
    let mut tokens: Vec<i64> = Vec::new();
    loop {
        allowance.set(LINE_LIMIT);
        let start = csv.position().line();
        let read = csv.read_byte_record(&mut record);
        if !read.map_err(|error| format!("line {start}: {error}; is a quote never closed?"))?
            || record.as_slice() == &END[1..3]
        {
            break;
        }
        let breaks = record.as_slice().iter().filter(|&&byte| byte == b'\n');
        let line = (csv.position().line() - 1).saturating_sub(breaks.count() as u64);
        let place = Place::Line(line);
        if record.as_slice().ends_with(&END[..2]) {
            return Err(format!("{place}: the quote is never closed"));
        }
        if record.iter().all(|cell| cell.trim_ascii().is_empty()) {
            continue;
        }
        let Some(columns) = &columns else {
            let found =
                Columns::of(&record, named).map_err(|reason| format!("{place}: {reason}"))?;
            rows.unlabelled.clone_from(&found.unlabelled);
            columns = Some(found);
            continue;
        };
        let at = |reason: String| format!("{place}: {reason}");
        let mut beyond = record.iter().skip(columns.count);
        if beyond.any(|cell| !cell.trim_ascii().is_empty()) {
            return Err(at(format!(
                "the row has {} cells, but the header names {} columns",
                record.len(),
                columns.count
            )));
        }
        let held = match columns.content {
            Holding::Text(column) => Held::Text(cell(&record, column).map_err(at)?),
            Holding::Tokens(ref columns) => {
                read_tokens(columns, &record, &mut tokens).map_err(at)?;
                Held::Tokens(&tokens)
            }
        };
        let cell = |column: Option<usize>| column.map(|column| cell(&record, column)).transpose();
        let label = cell(columns.label).map_err(at)?;
        let label = label.filter(|label| !label.is_empty());
        let label = label.map(Label::of_text).transpose().map_err(at)?;
        let split = cell(columns.split).map_err(at)?;
        let held_out = split.map_or(Ok(false), is_held_out).map_err(at)?;
        rows.push(place, held_out, label, held)?;
    }
    columns
        .map(|_| ())
        .ok_or_else(|| "the file is empty".to_owned())
}

/// The text of a cell; empty if the row ends before it.
fn cell(record: &ByteRecord, column: usize) -> Result<&str, String> {
    let text = str::from_utf8(record.get(column).unwrap_or_default());
    text.map(str::trim).map_err(|error| {
        format!(
            "cell {} is not UTF-8 text: its byte {} does not fit; save the file as UTF-8",
            column + 1,
            error.valid_up_to() + 1
        )
    })
}

/// Where the header has each column.
struct Columns {
    count: usize,
    label: Option<usize>,
    /// Why there are no labels, if the config names a column that is missing.
    unlabelled: Option<String>,
    split: Option<usize>,
    content: Holding,
}

/// Where the header has what samples hold.
enum Holding {
    Text(usize),
    /// Columns of tokens, by number.
    Tokens(Vec<usize>),
}

impl Columns {
    fn of(header: &ByteRecord, named: &config::Columns) -> Result<Self, String> {
        let mut names = Vec::with_capacity(header.len());
        for column in 0..header.len() {
            names.push(cell(header, column)?.to_ascii_lowercase());
        }
        let position = |name: &str| {
            let name = name.trim().to_ascii_lowercase();
            names.iter().position(|found| *found == name)
        };
        let missing = |name: &str, key: &str| {
            format!(
                "the header names no column `{name}`, which data.{key} names; its columns are {}",
                listed(&names)
            )
        };
        let label = position(named.label.as_deref().unwrap_or("label"));
        let unlabelled = match &named.label {
            Some(name) if label.is_none() => Some(missing(name, "label")),
            _ => None,
        };
        let text = match &named.text {
            Some(name) => Some(position(name).ok_or_else(|| missing(name, "text"))?),
            None => position("text"),
        };
        let mut tokens: Vec<(u32, usize)> = Vec::new();
        let mut different = HashSet::new();
        for (column, name) in names.iter().enumerate() {
            if !name.is_empty() && !different.insert(name) {
                return Err(format!("the header names the column `{name}` twice"));
            }
            let number = name.strip_prefix("token_").map(str::parse);
            tokens.extend(number.and_then(Result::ok).map(|number| (number, column)));
        }
        let found = |content| Self {
            count: names.len(),
            label,
            unlabelled: unlabelled.clone(),
            split: position("split"),
            content,
        };
        if let Some(column) = text.filter(|_| named.text.is_some() || tokens.is_empty()) {
            return Ok(found(Holding::Text(column)));
        }
        if tokens.is_empty() {
            let separated = names.len() == 1 && names[0].contains([';', '\t']);
            let remedy = if separated {
                "separate the columns with commas".to_owned()
            } else {
                format!(
                    "set data.text to the column of texts, or name the columns of tokens token_0, token_1, and so on; \
                     its columns are {}",
                    listed(&names)
                )
            };
            return Err(format!(
                "the header names no column of texts or tokens; {remedy}"
            ));
        }
        tokens.sort_unstable();
        for pair in tokens.windows(2) {
            let [(before, _), (number, column)] = [pair[0], pair[1]];
            if number == before {
                return Err(format!("the header names column token_{number} twice"));
            }
            if number > before + 1 {
                return Err(format!(
                    "the header names `{}`, but not token_{}",
                    names[column],
                    number - 1
                ));
            }
        }
        let columns = tokens.into_iter().map(|(_, column)| column);
        Ok(found(Holding::Tokens(columns.collect())))
    }
}

/// Reads the tokens of a row. Empty cells at its end make it shorter.
fn read_tokens(
    columns: &[usize],
    record: &ByteRecord,
    tokens: &mut Vec<i64>,
) -> Result<(), String> {
    tokens.clear();
    let mut empty = None;
    for &column in columns {
        let text = cell(record, column)?;
        if text.is_empty() {
            empty = empty.or(Some(column));
        } else if let Some(column) = empty {
            return Err(format!(
                "cell {} is empty, but a token comes after it",
                column + 1
            ));
        } else {
            let token = whole_number(text);
            tokens.push(token.ok_or_else(|| format!("`{text}` is not a whole number"))?);
        }
    }
    Ok(())
}

/// The names of columns or keys, for messages.
pub(super) fn listed(names: &[impl AsRef<str>]) -> String {
    let shown = names.iter().take(LISTED);
    let mut shown: Vec<String> = shown.map(|name| format!("`{}`", name.as_ref())).collect();
    if names.len() > LISTED {
        shown.push(format!("and {} more", names.len() - LISTED));
    }
    shown.join(", ")
}
