//! The attention of `[CLS]` for each seed, from a results file with the same config as a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use headlight_inspector::{SeedFigures, SeedRow};
use headlight_trainer::Failure;
use headlight_trainer::storage::files::open;
use headlight_trainer::storage::run_dir::RunDir;
use headlight_trainer::storage::standard::shown;
use serde_json::Value;

use crate::grid::Seeds;
use crate::origin::difference;
use crate::plan::Plan;
use crate::results::RowLines;
use crate::stored_row::StoredRow;

/// The fields that are read of each row, besides its place.
const FIELDS: [&str; 4] = [
    "error",
    "weights_sha256",
    "attention_positive",
    "attention_negative",
];

/// What a results file holds of the seeds of a run.
#[derive(Clone, Debug, Default)]
pub struct SeedAttention {
    /// The attention of `[CLS]` over all seeds that did not fail.
    pub figures: SeedFigures,
    /// The number of seeds that failed.
    pub failed: usize,
    /// The seeds with the requested weights, and their rows, by the hash of `model.safetensors`.
    pub found: BTreeMap<String, (u64, SeedRow)>,
}

/// Reads the attention of each seed, and finds the first row with each of these `weights`.
///
/// # Errors
/// When the file cannot be read, or its config or data differ from those of a run.
pub fn attention(
    path: &Path,
    runs: &[&RunDir],
    weights: &BTreeSet<String>,
) -> Result<SeedAttention, Failure> {
    let file = open(path, u64::MAX)?;
    let plans = runs.iter().map(|run| plan(run));
    let plans: Vec<(&RunDir, Plan)> = runs
        .iter()
        .copied()
        .zip(plans.collect::<Result<Vec<_>, _>>()?)
        .collect();
    let mut lines = RowLines::new(file, path);
    let (mut all, mut rows, mut number) = (SeedAttention::default(), 0, 0);
    let mut seen = BTreeSet::new();
    while let Some(text) = lines.next_complete()? {
        number += 1;
        let invalid =
            |reason: String| Failure::Input(format!("{}, line {number}: {reason}", shown(path)));
        let line = StoredRow::parse_only(&text, |key| FIELDS.contains(&key)).map_err(&invalid)?;
        let foreign = |(_, plan): &&(&RunDir, Plan)| line.config_sha256 != plan.config_sha256;
        if let Some((run, plan)) = plans.iter().find(foreign) {
            let config = plan.points()[0].config();
            return Err(invalid(format!(
                "{} (of {}); write matching rows with `headlight sweep {} --seeds 0..1000 --out FILE`",
                difference(path, &line.config_sha256, config),
                shown(run.path()),
                shown(&run.path().join("config.toml"))
            )));
        }
        if !seen.insert(line.seed) {
            return Err(invalid(format!("seed {} appears twice", line.seed)));
        }
        if line.fields.contains_key("error") {
            all.failed += 1;
            continue;
        }
        // Runs that share a config share their positions.
        let positions = plans.first().map(|(_, plan)| plan.points()[0].positions());
        let row = |key| by_position(&line, key, positions.unwrap_or(0)).map_err(&invalid);
        let row = SeedRow {
            positive: row("attention_positive")?,
            negative: row("attention_negative")?,
        };
        rows += 1;
        all.figures.add(&row);
        let hash = line.fields.get("weights_sha256").and_then(Value::as_str);
        if let Some(hash) = hash.filter(|hash| weights.contains(*hash)) {
            let found = all.found.entry(hash.to_owned());
            found.or_insert((line.seed, row));
        }
    }
    if rows == 0 {
        let reason = match number {
            0 => "the file holds no rows",
            _ => "every run in the file failed",
        };
        return Err(Failure::reading(path, reason));
    }
    Ok(all)
}

/// The plan that trains a run.
fn plan(run: &RunDir) -> Result<Plan, Failure> {
    let config = run.path().join("config.toml");
    let seed = run.config()?.seed;
    Plan::new(&config, &[], &Seeds(seed..seed.saturating_add(1)), &[])
}

/// One number per position; `None` if the class has no samples.
fn by_position(line: &StoredRow, key: &str, positions: usize) -> Result<Option<Vec<f64>>, String> {
    let value = line.fields.get(key);
    if value.is_some_and(Value::is_null) {
        return Ok(None);
    }
    let numbers = value.and_then(Value::as_array);
    let numbers: Option<Vec<f64>> =
        numbers.and_then(|numbers| numbers.iter().map(Value::as_f64).collect());
    numbers
        .filter(|row| row.len() == positions)
        .map(Some)
        .ok_or_else(|| format!("its `{key}` is not a list of {positions} numbers"))
}
