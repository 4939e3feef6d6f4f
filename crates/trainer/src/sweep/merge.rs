//! Results of shards, in any order, as one file.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::results::Lines;
use super::row::Line;
use crate::Failure;
use crate::files::{note, open, write_whole};

/// The most columns of a table: a row with a longer list, or so many fields, is none of a sweep's.
const COLUMN_LIMIT: usize = 1 << 16;

/// How many problems are listed one by one.
const LISTED: usize = 5;

/// What was merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Rows written.
    pub rows: usize,
    /// Rows that were there more than once, with the same bytes, and are written once.
    pub doubled: usize,
    /// Rows that report a failed run.
    pub failed: usize,
    /// Runs that are missing between the first seed and the last, and the first few of them.
    pub missing: (usize, Vec<(u64, usize)>),
}

/// Where a row lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    seed: u64,
    point: usize,
    file: usize,
    start: u64,
    length: usize,
}

/// Writes the rows of all files, by seed and point, to `out`: as they are (.jsonl), or as a table
/// (.csv).
///
/// # Errors
/// When a file cannot be read, rows are of different sweeps, or a run has two different rows.
pub fn merge(paths: &[PathBuf], out: &Path) -> Result<Merged, Failure> {
    let csv = match out.extension().and_then(|ending| ending.to_str()) {
        Some("jsonl") => false,
        Some("csv") => true,
        _ => {
            return Err(Failure::Input(format!(
                "--out {}: the ending says no format; use .jsonl or .csv",
                out.display()
            )));
        }
    };
    let mut index = Index::default();
    for (number, path) in paths.iter().enumerate() {
        index.read(number, path)?;
    }
    let Index {
        mut entries,
        failed,
        ..
    } = index;
    if entries.is_empty() {
        return Err(Failure::Input("there are no rows to merge".to_owned()));
    }
    entries.sort_unstable();
    let mut rows = Rows::open(paths)?;
    let before = entries.len();
    let mut kept: Vec<Entry> = Vec::with_capacity(before);
    for entry in entries {
        match kept.last() {
            Some(last) if (last.seed, last.point) == (entry.seed, entry.point) => {
                if rows.line(*last)? != rows.line(entry)? {
                    return Err(Failure::Input(format!(
                        "seed {} has two different rows, in {} and in {}",
                        entry.seed,
                        paths[last.file].display(),
                        paths[entry.file].display()
                    )));
                }
            }
            _ => kept.push(entry),
        }
    }
    let merged = Merged {
        rows: kept.len(),
        doubled: before - kept.len(),
        failed,
        missing: missing(&kept),
    };
    let columns = if csv {
        Some(columns(&mut rows, &kept)?)
    } else {
        None
    };
    write_whole(out, |file| match &columns {
        None => kept
            .iter()
            .try_for_each(|&entry| file.write_all(&rows.line(entry)?)),
        Some(columns) => write_csv(file, &mut rows, &kept, columns),
    })?;
    Ok(merged)
}

/// The place of every row, and what all of them must agree on.
#[derive(Default)]
struct Index {
    entries: Vec<Entry>,
    failed: usize,
    /// The first row's config, and the file it came from.
    config: Option<(String, PathBuf)>,
}

impl Index {
    fn read(&mut self, number: usize, path: &Path) -> Result<(), Failure> {
        let file = open(path, u64::MAX)?;
        let mut lines = Lines::new(file, path);
        let mut start = 0;
        let mut count = 0;
        while let Some(text) = lines.next_whole()? {
            count += 1;
            let line = Line::parse(&text)
                .map_err(|reason| Failure::reading(path, format!("line {count}: {reason}")))?;
            let (config, first) = self
                .config
                .get_or_insert_with(|| (line.config_sha256.clone(), path.to_owned()));
            if *config != line.config_sha256 {
                return Err(Failure::Input(format!(
                    "{}, line {count}: the row is of another config, grid, dataset or version of headlight than \
                     those of {}",
                    path.display(),
                    first.display()
                )));
            }
            self.failed += usize::from(line.fields.contains_key("error"));
            self.entries.push(Entry {
                seed: line.seed,
                point: line.point.unwrap_or(0),
                file: number,
                start,
                length: text.len() + 1,
            });
            start = lines.read();
        }
        if lines.read() > start {
            note(&format!(
                "{}: the last line was cut short and is left out; start its sweep again to complete it",
                path.display()
            ));
        }
        Ok(())
    }
}

/// Runs between the first seed and the last, over all points seen, that have no row.
fn missing(kept: &[Entry]) -> (usize, Vec<(u64, usize)>) {
    let points = kept.iter().map(|entry| entry.point).max().unwrap_or(0) + 1;
    let number = |entry: &Entry| u128::from(entry.seed) * points as u128 + entry.point as u128;
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else {
        return (0, Vec::new());
    };
    let start = u128::from(first.seed) * points as u128;
    let end = (u128::from(last.seed) + 1) * points as u128;
    let absent = usize::try_from(end - start - kept.len() as u128).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    let mut expected = start;
    for place in kept.iter().map(number).chain([end]) {
        while expected < place && listed.len() < LISTED {
            let (seed, point) = (expected / points as u128, expected % points as u128);
            listed.push((seed as u64, point as usize));
            expected += 1;
        }
        expected = place + 1;
    }
    (absent, listed)
}

/// Rows by their place.
struct Rows(Vec<BufReader<File>>);

impl Rows {
    fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let open = |path: &PathBuf| Ok(BufReader::new(open(path, u64::MAX)?));
        Ok(Self(
            paths.iter().map(open).collect::<Result<_, Failure>>()?,
        ))
    }

    /// A line with its end.
    fn line(&mut self, entry: Entry) -> io::Result<Vec<u8>> {
        let reader = &mut self.0[entry.file];
        let here = reader.stream_position()?;
        // Rows of a file come one after the other nearly always: the buffer is kept then.
        match i64::try_from(i128::from(entry.start) - i128::from(here)) {
            Ok(offset) => reader.seek_relative(offset)?,
            Err(_) => drop(reader.seek(SeekFrom::Start(entry.start))?),
        }
        let mut line = vec![0; entry.length];
        reader.read_exact(&mut line)?;
        Ok(line)
    }

    fn fields(&mut self, entry: Entry) -> io::Result<Map<String, Value>> {
        Ok(serde_json::from_slice(&self.line(entry)?)?)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System(format!("a results file cannot be read again: {error}"))
    }
}

/// A column of the table: a field, or one element of a field that is a list.
struct Column {
    field: String,
    element: Option<usize>,
}

impl Column {
    /// Lists count from 1 for epochs, and from 0 for positions.
    fn name(&self) -> String {
        match self.element {
            None => self.field.clone(),
            Some(index) => {
                let first = usize::from(self.field == "epoch_loss");
                format!("{}_{}", self.field, index + first)
            }
        }
    }

    fn cell(&self, fields: &Map<String, Value>) -> String {
        let value = fields.get(&self.field);
        let value = match self.element {
            None => value,
            Some(index) => value.and_then(|list| list.get(index)),
        };
        match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// The order of a row's fields; the grid's keys come after `point`.
const ORDER: [&str; 21] = [
    "seed",
    "point",
    "",
    "epoch_loss",
    "final_loss",
    "accuracy",
    "precision",
    "recall",
    "f1",
    "held_out_final_loss",
    "held_out_accuracy",
    "held_out_precision",
    "held_out_recall",
    "held_out_f1",
    "min_positive",
    "max_negative",
    "attention_positive",
    "attention_negative",
    "learned_at_step",
    "weights_sha256",
    "config_sha256",
];

/// The columns that hold every field of every row.
fn columns(rows: &mut Rows, kept: &[Entry]) -> Result<Vec<Column>, Failure> {
    // For each field its longest list, or none; runs of a grid may differ in epochs and positions.
    let mut lengths: std::collections::BTreeMap<String, Option<usize>> =
        std::collections::BTreeMap::new();
    for &entry in kept {
        for (field, value) in rows.fields(entry)? {
            let length = value.as_array().map(Vec::len);
            let longest = lengths.entry(field).or_default();
            *longest = (*longest).max(length);
        }
    }
    let count: usize = lengths.values().map(|length| length.unwrap_or(1)).sum();
    if count > COLUMN_LIMIT {
        return Err(Failure::Input(format!(
            "the table would have {count} columns, more than {COLUMN_LIMIT}; merge to .jsonl"
        )));
    }
    let place = |field: &str| {
        let known = ORDER.iter().position(|name| *name == field);
        known.unwrap_or(if field.contains('.') { 2 } else { ORDER.len() })
    };
    let mut fields: Vec<(String, Option<usize>)> = lengths.into_iter().collect();
    fields.sort_by_key(|(field, _)| place(field));
    let columns = fields.into_iter().flat_map(|(field, length)| {
        let elements: Vec<Option<usize>> = match length {
            None => vec![None],
            Some(length) => (0..length).map(Some).collect(),
        };
        elements.into_iter().map(move |element| Column {
            field: field.clone(),
            element,
        })
    });
    Ok(columns.collect())
}

fn write_csv(
    file: &mut BufWriter<File>,
    rows: &mut Rows,
    kept: &[Entry],
    columns: &[Column],
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(columns.iter().map(Column::name))?;
    for &entry in kept {
        let fields = rows.fields(entry)?;
        writer.write_record(columns.iter().map(|column| column.cell(&fields)))?;
    }
    writer.flush()
}
