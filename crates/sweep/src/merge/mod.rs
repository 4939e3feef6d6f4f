//! Joins the results of shards, in any order, into one file.
//!
//! In memory is only the place of each row, 32 bytes per row; the rows themselves are read one at a time, in
//! the order in which they are written.

mod csv;
mod places;

use std::io::Write;
use std::path::{Path, PathBuf};

use headlight_trainer::Failure;
use headlight_trainer::files::{note, write_atomically};

use crate::results::Rows;
use places::{Entry, Places};

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

/// A format, named by the file extension.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Jsonl,
    Csv,
}

impl Format {
    fn of(out: &Path) -> Result<Self, Failure> {
        match out.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => Ok(Self::Jsonl),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Failure::Input(format!(
                "--out {}: unknown file extension; use .jsonl or .csv",
                out.display()
            ))),
        }
    }
}

/// Writes the rows of all files, by seed and point, to `out`: as they are (.jsonl), or as a table
/// (.csv).
///
/// # Errors
/// When a file cannot be read, rows are of different sweeps, or a run has two different rows.
pub fn merge(paths: &[PathBuf], out: &Path) -> Result<Merged, Failure> {
    let format = Format::of(out)?;
    let mut index = Index::default();
    for (number, path) in paths.iter().enumerate() {
        index.read(number as u32, path)?;
    }
    let Index {
        mut entries,
        mut failed,
        ..
    } = index;
    if entries.is_empty() {
        let named: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(Failure::Input(format!(
            "there are no rows to merge in {}",
            named.join(", ")
        )));
    }
    entries.sort_unstable();
    let mut places = Places::of(paths);
    let before = entries.len();
    failed -= drop_doubled(&mut entries, &mut places, paths)?;
    let merged = Merged {
        rows: entries.len(),
        doubled: before - entries.len(),
        failed,
        missing: missing(&entries),
    };
    match format {
        Format::Jsonl => write_atomically(out, |file| {
            entries
                .iter()
                .try_for_each(|&entry| file.write_all(&places.line(entry)?))
        }),
        Format::Csv => csv::write(out, &mut places, &entries),
    }?;
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
    fn read(&mut self, file: u32, path: &Path) -> Result<(), Failure> {
        let mut rows = Rows::open(path)?;
        while let Some(line) = rows.next(|key| key == "error")? {
            let (start, length) = rows.span;
            let failed = line.fields.contains_key("error");
            self.failed += usize::from(failed);
            self.entries.push(Entry {
                seed: line.seed,
                point: line.point.unwrap_or(0) as u32,
                file,
                start,
                length: length as u32,
                failed,
            });
        }
        let Some(config) = rows.config() else {
            note(&format!("{}: it holds no rows", path.display()));
            return Ok(());
        };
        let (first, first_path) = self
            .config
            .get_or_insert_with(|| (config.to_owned(), path.to_owned()));
        if *first != config {
            return Err(Failure::Input(format!(
                "{}, line 1: the row is of another config, grid, dataset or version of headlight than those of {}; \
                 merge them into a file of their own",
                path.display(),
                first_path.display()
            )));
        }
        Ok(())
    }
}

/// Keeps one of rows that are the same; returns how many of those dropped report a failed run.
fn drop_doubled(
    entries: &mut Vec<Entry>,
    places: &mut Places<'_>,
    paths: &[PathBuf],
) -> Result<usize, Failure> {
    let (mut kept, mut failed) = (0, 0);
    for next in 1..entries.len() {
        let (last, entry) = (entries[kept], entries[next]);
        if (last.seed, last.point) != (entry.seed, entry.point) {
            kept += 1;
            entries[kept] = entry;
            continue;
        }
        let reread =
            |error| Failure::System(format!("a results file cannot be read again: {error}"));
        if places.line(last).map_err(reread)? != places.line(entry).map_err(reread)? {
            let point = match entry.point {
                0 => String::new(),
                point => format!(" point {point}"),
            };
            return Err(Failure::Input(format!(
                "seed {}{point} has two different rows, in {} and in {}; leave out the file that is wrong",
                entry.seed,
                paths[last.file as usize].display(),
                paths[entry.file as usize].display()
            )));
        }
        failed += usize::from(entry.failed);
    }
    entries.truncate(kept + 1);
    Ok(failed)
}

/// Runs between the first seed and the last, over all points seen, that have no row.
fn missing(kept: &[Entry]) -> (usize, Vec<(u64, usize)>) {
    let points = u128::from(kept.iter().map(|entry| entry.point).max().unwrap_or(0)) + 1;
    let number = |entry: &Entry| u128::from(entry.seed) * points + u128::from(entry.point);
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else {
        return (0, Vec::new());
    };
    let start = u128::from(first.seed) * points;
    let end = (u128::from(last.seed) + 1) * points;
    let absent = usize::try_from(end - start - kept.len() as u128).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    let mut expected = start;
    for place in kept.iter().map(number).chain([end]) {
        while expected < place && listed.len() < LISTED {
            let (seed, point) = (expected / points, expected % points);
            listed.push((seed as u64, point as usize));
            expected += 1;
        }
        expected = place + 1;
    }
    (absent, listed)
}
