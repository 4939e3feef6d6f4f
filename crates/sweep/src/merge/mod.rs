//! Joins the results of shards, in any order, into one file.
//!
//! Only the place of each row is kept in memory, 32 bytes per row, and the values of each point. The rows themselves are read one at a time,
//! in the order in which they are written.

mod csv;
mod row_reader;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use headlight_trainer::{Failure, Output, note, shown};

use crate::origin::{ANOTHER, Extent, Origin, difference};
use crate::place::Places;
use crate::results::StoredRows;
use row_reader::{RowPlace, RowReader};

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
    let mut columns = (ending == "csv").then(|| Places::new(COLUMN_LIMIT));
    let (mut places, config) = index(paths, columns.as_mut())?;
    if places.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        return Err(Failure::Input(format!(
            "there are no rows to merge in {}",
            named.join(", ")
        )));
    }
    places.sort_unstable();
    let mut reader = RowReader::new(paths);
    let before = places.len();
    drop_duplicates(&mut places, &mut reader, paths)?;
    let all = extent(paths, config.as_ref(), &places);
    let merged = MergeResult {
        rows: places.len(),
        duplicates: before - places.len(),
        failed: places.iter().filter(|place| place.failed).count(),
        points: all.points,
        missing: missing(&places, all),
    };
    let origin = config.and_then(|(hash, first)| Origin::beside(first, &hash));
    if let Some(columns) = columns {
        csv::write(out, &mut reader, &places, columns)?;
        return Ok(merged);
    }
    out.write(|file| {
        let mut places = places.iter();
        places.try_for_each(|&place| file.write_all(&reader.line(place)?))
    })?;
    if let (false, Some(origin)) = (out.is_standard(), origin) {
        origin.copy(out.path(), all)?;
    }
    Ok(merged)
}

/// The hash of the first row's config, and its file.
type First<'a> = (String, &'a Path);

/// The places of all rows; and the config that the rows must share, with the file of its first row. Counts the columns of a table.
fn index<'a>(
    paths: &'a [PathBuf],
    mut columns: Option<&mut Places>,
) -> Result<(Vec<RowPlace>, Option<First<'a>>), Failure> {
    let (mut places, mut first) = (Vec::new(), None);
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
            places.push(RowPlace {
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
            let known = Origin::beside(first, hash).and_then(|origin| origin.config(&[]).ok());
            let reason = match known {
                Some(ours) => difference(path, config, &ours),
                None => ANOTHER.to_owned(),
            };
            return Err(Failure::Input(format!(
                "{}, line 1, beside the rows of {}: {reason}; merge each sweep into its own file",
                shown(path),
                shown(first)
            )));
        }
    }
    Ok((places, first))
}

/// Keeps one of several identical rows.
fn drop_duplicates(
    places: &mut Vec<RowPlace>,
    reader: &mut RowReader<'_>,
    paths: &[PathBuf],
) -> Result<(), Failure> {
    let not_again =
        |error: io::Error| Failure::System(format!("a results file cannot be read again: {error}"));
    let mut kept = 0;
    for next in 1..places.len() {
        let (last, place) = (places[kept], places[next]);
        if (last.seed, last.point) != (place.seed, place.point) {
            kept += 1;
            places[kept] = place;
            continue;
        }
        if reader.line(last).map_err(not_again)? != reader.line(place).map_err(not_again)? {
            let point = match place.point {
                0 => String::new(),
                point => format!(" point {point}"),
            };
            return Err(Failure::Input(format!(
                "seed {}{point} has two different rows, in {} and in {}; leave out the wrong file",
                place.seed,
                shown(&paths[last.file as usize]),
                shown(&paths[place.file as usize])
            )));
        }
    }
    places.truncate(kept + 1);
    Ok(())
}

/// The runs of the sweep: those that the configs beside the files name, and those of the rows.
fn extent(paths: &[PathBuf], config: Option<&First<'_>>, places: &[RowPlace]) -> Extent {
    let points = places.iter().map(|place| place.point as usize + 1).max();
    let rows = Extent {
        first_seed: places.first().map_or(0, |place| place.seed),
        end: places
            .last()
            .map_or(0, |place| place.seed.saturating_add(1)),
        points: points.unwrap_or(1),
    };
    let runs_of = |path: &PathBuf| Origin::beside(path, &config?.0)?.runs();
    paths.iter().filter_map(runs_of).fold(rows, Extent::joined)
}

/// Counts and lists the runs without a row.
fn missing(kept: &[RowPlace], all: Extent) -> (usize, Vec<(u64, usize)>) {
    let points = all.points as u128;
    let number = |place: &RowPlace| u128::from(place.seed) * points + u128::from(place.point);
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
