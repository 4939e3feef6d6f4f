//! Joins the results of shards, in any order, into one file.
//!
//! Only the span of each row is kept in memory, 32 bytes per row, and the values of each point. The rows themselves are read one at a time,
//! in the order in which they are written.

mod csv;
mod row_reader;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use headlight_trainer::{Failure, Output, note, shown};

use crate::column_index::ColumnIndex;
use crate::recorded_config::{Extent, FROM_ANOTHER_SWEEP, RecordedConfig, difference};
use crate::results::StoredRows;
use row_reader::{RowReader, RowSpan};

/// The most columns of a table.
const COLUMN_LIMIT: usize = 1 << 16;

/// The most missing runs that are listed.
const LISTED: usize = 5;

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeResult {
    /// Rows written.
    pub rows: usize,
    /// Rows that were dropped because another row has the same bytes.
    pub duplicates: usize,
    /// Rows of failed runs.
    pub failed: usize,
    /// The points of the grid.
    pub points: usize,
    /// How many runs of the sweep are missing, and seed and point of the first few. Without the config
    /// beside the files, the range is inferred from the rows.
    pub missing: (usize, Vec<(u64, usize)>),
}

/// Writes the rows of all files to `out`, sorted by seed and point: unchanged (.jsonl), or as a table
/// (.csv).
///
/// # Errors
/// When a file cannot be read, rows come from different sweeps, or a run has two different rows.
pub fn merge(paths: &[PathBuf], out: Output<'_>) -> Result<MergeResult, Failure> {
    let named = out.named("-.jsonl");
    let ending = named.extension().unwrap_or_default();
    if ending != "jsonl" && ending != "csv" {
        return Err(Failure::Input(format!(
            "--out {}: unknown file extension; use .jsonl or .csv",
            shown(named)
        )));
    }
    let mut columns = (ending == "csv").then(|| ColumnIndex::new(COLUMN_LIMIT));
    let (mut spans, config) = index(paths, columns.as_mut())?;
    if spans.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        return Err(Failure::Input(format!(
            "there are no rows to merge in {}",
            named.join(", ")
        )));
    }
    spans.sort_unstable();
    let mut reader = RowReader::new(paths);
    let before = spans.len();
    drop_duplicates(&mut spans, &mut reader, paths)?;
    let all = extent(paths, config.as_ref(), &spans);
    let merged = MergeResult {
        rows: spans.len(),
        duplicates: before - spans.len(),
        failed: spans.iter().filter(|span| span.failed).count(),
        points: all.points,
        missing: missing(&spans, all),
    };
    let recorded = config.and_then(|(hash, first)| RecordedConfig::beside(first, &hash));
    if let Some(columns) = columns {
        csv::write(out, &mut reader, &spans, columns)?;
        return Ok(merged);
    }
    out.write(|file| {
        let mut spans = spans.iter();
        spans.try_for_each(|&span| file.write_all(&reader.line(span)?))
    })?;
    if let (false, Some(recorded)) = (out.is_standard(), recorded) {
        recorded.copy(out.path(), all)?;
    }
    Ok(merged)
}

/// The hash of the first row's config, and its file.
type FirstConfig<'a> = (String, &'a Path);

/// The spans of all rows; and the config that the rows must share, with the file of its first row. Counts the columns of a table.
fn index<'a>(
    paths: &'a [PathBuf],
    mut columns: Option<&mut ColumnIndex>,
) -> Result<(Vec<RowSpan>, Option<FirstConfig<'a>>), Failure> {
    let (mut spans, mut first) = (Vec::new(), None);
    let mut points = HashMap::new();
    for (file, path) in paths.iter().enumerate() {
        let mut rows = StoredRows::open(path)?;
        while let Some(line) = rows.next()? {
            let (start, length) = rows.span;
            let fields = line.fields().map_err(|reason| rows.invalid_row(&reason))?;
            let point = line.point.unwrap_or(0) as u32;
            let values = line.values(&fields, points.get(&point));
            points.insert(point, values.map_err(|reason| rows.invalid_row(&reason))?);
            if let Some(columns) = columns.as_deref_mut() {
                let counted = columns.values(&fields);
                counted
                    .map_err(|reason| rows.invalid_row(&format!("{reason}; merge to .jsonl")))?;
            }
            spans.push(RowSpan {
                seed: line.seed,
                point,
                file: file as u32,
                start,
                length: length as u32,
                failed: line.error.is_some(),
            });
        }
        let Some(config) = rows.config() else {
            note(&format!("{}: the file holds no rows", shown(path)));
            continue;
        };
        let (hash, first) = first.get_or_insert_with(|| (config.to_owned(), &**path));
        if hash != config {
            let known =
                RecordedConfig::beside(first, hash).and_then(|recorded| recorded.config(&[]).ok());
            let reason = match known {
                Some(ours) => difference(path, config, &ours),
                None => FROM_ANOTHER_SWEEP.to_owned(),
            };
            return Err(Failure::Input(format!(
                "{}, line 1, beside the rows of {}: {reason}; merge each sweep into its own file",
                shown(path),
                shown(first)
            )));
        }
    }
    Ok((spans, first))
}

/// Keeps one of several identical rows.
fn drop_duplicates(
    spans: &mut Vec<RowSpan>,
    reader: &mut RowReader<'_>,
    paths: &[PathBuf],
) -> Result<(), Failure> {
    let not_again =
        |error: io::Error| Failure::System(format!("a results file cannot be read again: {error}"));
    let mut kept = 0;
    for next in 1..spans.len() {
        let (last, span) = (spans[kept], spans[next]);
        if (last.seed, last.point) != (span.seed, span.point) {
            kept += 1;
            spans[kept] = span;
            continue;
        }
        if reader.line(last).map_err(not_again)? != reader.line(span).map_err(not_again)? {
            let point = match span.point {
                0 => String::new(),
                point => format!(" point {point}"),
            };
            return Err(Failure::Input(format!(
                "seed {}{point} has two different rows, in {} and in {}; leave out the wrong file",
                span.seed,
                shown(&paths[last.file as usize]),
                shown(&paths[span.file as usize])
            )));
        }
    }
    spans.truncate(kept + 1);
    Ok(())
}

/// The runs of the sweep: those that the configs beside the files name, and those of the rows.
fn extent(paths: &[PathBuf], config: Option<&FirstConfig<'_>>, spans: &[RowSpan]) -> Extent {
    let points = spans.iter().map(|span| span.point as usize + 1).max();
    let rows = Extent {
        first_seed: spans.first().map_or(0, |span| span.seed),
        end: spans.last().map_or(0, |span| span.seed.saturating_add(1)),
        points: points.unwrap_or(1),
    };
    let runs_of = |path: &PathBuf| RecordedConfig::beside(path, &config?.0)?.runs();
    paths.iter().filter_map(runs_of).fold(rows, Extent::union)
}

/// Counts and lists the runs without a row.
fn missing(kept: &[RowSpan], all: Extent) -> (usize, Vec<(u64, usize)>) {
    let points = all.points as u128;
    let number = |span: &RowSpan| u128::from(span.seed) * points + u128::from(span.point);
    let start = u128::from(all.first_seed) * points;
    let end = u128::from(all.end) * points;
    let absent =
        usize::try_from((end - start).saturating_sub(kept.len() as u128)).unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    let mut expected = start;
    for next in kept.iter().map(number).chain([end]) {
        while expected < next && listed.len() < LISTED {
            let (seed, point) = (expected / points, expected % points);
            listed.push((seed as u64, point as usize));
            expected += 1;
        }
        expected = next + 1;
    }
    (absent, listed)
}
