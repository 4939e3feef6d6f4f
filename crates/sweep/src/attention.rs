//! Where `[CLS]` looks, seed by seed, from a results file that is of a run's own config.

use std::collections::BTreeSet;
use std::path::Path;

use headlight_inspector::SeedRow;
use headlight_trainer::Failure;
use headlight_trainer::files::open;
use headlight_trainer::run_dir::RunDir;
use serde_json::Value;

use crate::grid::Seeds;
use crate::plan::Plan;
use crate::results::RowLines;
use crate::stored::StoredRow;

/// A row of a results file, as far as attention goes.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedAttention {
    /// The seed.
    pub seed: u64,
    /// Of `model.safetensors`, as `headlight train` writes it.
    pub weights_sha256: String,
    /// The mean `[CLS]` row of each class.
    pub attention: SeedRow,
}

/// The rows of a results file, and the number of its runs that failed.
///
/// # Errors
/// When it cannot be read, or its config or data differ from those of `run`.
pub fn attention(path: &Path, run: &RunDir) -> Result<(Vec<SeedAttention>, usize), Failure> {
    let file = open(path, u64::MAX)?;
    let config = run.path().join("config.toml");
    let seed = run.config()?.seed;
    let plan = Plan::new(&config, &[], &Seeds(seed..seed.saturating_add(1)), &[])?;
    let positions = plan.points()[0].positions();
    let mut lines = RowLines::new(file, path);
    let (mut rows, mut failed, mut number) = (Vec::new(), 0, 0);
    let mut seen = BTreeSet::new();
    while let Some(text) = lines.next_whole()? {
        number += 1;
        let refuse =
            |reason: String| Failure::Input(format!("{}, line {number}: {reason}", path.display()));
        let line = StoredRow::parse(&text).map_err(&refuse)?;
        if line.config_sha256 != plan.config_sha256 {
            return Err(refuse(format!(
                "the row is of another config, engine, dataset or version of headlight than {}, or of a grid; \
                 `headlight sweep {} --seeds 0..1000 --out FILE` makes rows that fit",
                run.path().display(),
                config.display()
            )));
        }
        if !seen.insert(line.seed) {
            return Err(refuse(format!("seed {} stands there twice", line.seed)));
        }
        if line.fields.contains_key("error") {
            failed += 1;
            continue;
        }
        let row = |key| by_position(&line, key, positions).map_err(&refuse);
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
        return Err(Failure::reading(path, "every run in it failed"));
    }
    Ok((rows, failed))
}

/// A number per position, or `None` where the class has no samples.
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
