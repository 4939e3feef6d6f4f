//! The attention of `[CLS]` for each seed, from a results file with the same config as a run.

use std::collections::BTreeSet;
use std::path::Path;

use headlight_inspector::SeedRow;
use headlight_trainer::Failure;
use headlight_trainer::files::open;
use headlight_trainer::run_dir::RunDir;
use headlight_trainer::standard::shown;
use serde_json::Value;

use crate::grid::Seeds;
use crate::plan::Plan;
use crate::results::RowLines;
use crate::stored::StoredRow;

/// The attention in a row of a results file.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedAttention {
    /// The seed.
    pub seed: u64,
    /// The hash of `model.safetensors`, as `headlight train` writes it.
    pub weights_sha256: String,
    /// The mean attention of `[CLS]` for each class.
    pub attention: SeedRow,
}

/// Reads the attention of each seed, and counts the runs that failed.
///
/// # Errors
/// When the file cannot be read, or its config or data differ from those of `run`.
pub fn attention(path: &Path, run: &RunDir) -> Result<(Vec<SeedAttention>, usize), Failure> {
    let file = open(path, u64::MAX)?;
    let config = run.path().join("config.toml");
    let seed = run.config()?.seed;
    let plan = Plan::new(&config, &[], &Seeds(seed..seed.saturating_add(1)), &[])?;
    let positions = plan.points()[0].positions();
    let mut lines = RowLines::new(file, path);
    let (mut rows, mut failed, mut number) = (Vec::new(), 0, 0);
    let mut seen = BTreeSet::new();
    while let Some(text) = lines.next_complete()? {
        number += 1;
        let invalid =
            |reason: String| Failure::Input(format!("{}, line {number}: {reason}", shown(path)));
        let line = StoredRow::parse(&text).map_err(&invalid)?;
        if line.config_sha256 != plan.config_sha256 {
            return Err(invalid(format!(
                "the row comes from a grid, or from a config, engine, dataset or version of headlight other than those of {}; \
                 write matching rows with `headlight sweep {} --seeds 0..1000 --out FILE`",
                shown(run.path()),
                shown(&config)
            )));
        }
        if !seen.insert(line.seed) {
            return Err(invalid(format!("seed {} appears twice", line.seed)));
        }
        if line.fields.contains_key("error") {
            failed += 1;
            continue;
        }
        let row = |key| by_position(&line, key, positions).map_err(&invalid);
        let weights = line.fields.get("weights_sha256").and_then(Value::as_str);
        rows.push(SeedAttention {
            seed: line.seed,
            weights_sha256: weights.unwrap_or_default().to_owned(),
            attention: SeedRow {
                positive: row("attention_positive")?,
                negative: row("attention_negative")?,
            },
        });
    }
    if rows.is_empty() {
        return Err(Failure::reading(path, "every run in the file failed"));
    }
    Ok((rows, failed))
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
