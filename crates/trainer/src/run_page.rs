//! A run's files as one page to look around in.

use std::fmt::Write;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use headlight_dump::AttentionDump;
use headlight_input::{FILE_LIMIT, TEXT_LIMIT};
use headlight_inspector::{Evidence, LossPoint, Viewer};
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::files::{open, read_bounded};
use crate::run_dir::RunDir;

/// The page of some dumps, by step, the last of which is read already; with what else the run's
/// folder holds, where there is one.
///
/// # Errors
/// When a file cannot be read, or the dumps do not belong together.
pub fn page(
    dumps: &[PathBuf],
    last: &AttentionDump,
    run: Option<&RunDir>,
) -> Result<Viewer, Failure> {
    let name = match run {
        Some(run) => run.path().file_name(),
        None => dumps.last().and_then(|path| path.file_name()),
    };
    let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut viewer = Viewer::new(format!("Attention of {name}"), last, dumps.len());
    for index in viewer.wanted().to_vec() {
        let path = &dumps[index];
        let added = if index + 1 == dumps.len() {
            viewer.add(last)
        } else {
            viewer.add(&read_dump(path)?)
        };
        added.map_err(|reason| Failure::reading(path, reason))?;
    }
    if let Some(run) = run {
        viewer.loss = loss(run)?;
        viewer.evidence = evidence(run.path())?;
    }
    Ok(viewer)
}

/// Writes a run's page into its folder; nothing where the run has no npz dumps.
///
/// # Errors
/// When a file of the run cannot be read, or the page cannot be written.
pub fn write(run: &RunDir) -> Result<(), Failure> {
    let dumps = run.dumps()?;
    let Some(last) = dumps.last() else {
        return Ok(());
    };
    let html = html(&page(&dumps, &read_dump(last)?, Some(run))?)?;
    run.write_text("inspector.html", &html)
}

/// The page as HTML.
///
/// # Errors
/// When it cannot be made.
pub fn html(viewer: &Viewer) -> Result<String, Failure> {
    viewer
        .html()
        .map_err(|error| Failure::System(format!("the page cannot be made: {error}")))
}

/// Reads and checks a dump.
///
/// # Errors
/// When it is missing or damaged.
pub fn read_dump(path: &Path) -> Result<AttentionDump, Failure> {
    let file = open(path, FILE_LIMIT)?;
    AttentionDump::read_npz(BufReader::new(file)).map_err(|error| Failure::reading(path, error))
}

fn loss(run: &RunDir) -> Result<Vec<LossPoint>, Failure> {
    if !run.path().join("metrics.jsonl").is_file() {
        return Ok(Vec::new());
    }
    run.metrics(|line| {
        Some(LossPoint {
            step: usize::try_from(line["step"].as_u64()?).ok()?,
            loss: line["loss"].as_f64()?,
        })
    })
}

/// What a run's folder says of where its numbers are from; what it lacks is left out.
fn evidence(run: &Path) -> Result<Vec<Evidence>, Failure> {
    let mut evidence = vec![entry(
        "Page made by",
        format!("headlight {}", env!("CARGO_PKG_VERSION")),
    )];
    if let Some(environment) = json(&run.join("environment.json"))? {
        let keys = [
            "version",
            "git_commit",
            "engine",
            "device",
            "adapter",
            "operating_system",
            "architecture",
            "started",
        ];
        let said = keys.into_iter().filter_map(|key| {
            let value = environment[key].as_str()?;
            Some(format!("{} {value}", key.replace('_', " ")))
        });
        evidence.push(entry("Run", said.collect::<Vec<String>>().join(", ")));
    }
    let weights = run.join("model.safetensors");
    if weights.is_file() {
        let mut hash = String::new();
        let mut sum = Sha256::new();
        io::copy(&mut open(&weights, FILE_LIMIT)?, &mut sum)
            .map_err(|error| Failure::reading(&weights, error))?;
        for byte in sum.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        evidence.push(entry("SHA-256 of model.safetensors", hash));
    }
    if let Some(comparisons) = json(&run.join("reference.json"))? {
        for comparison in comparisons.as_array().into_iter().flatten() {
            let text = |key: &str| comparison[key].as_str().unwrap_or("").to_owned();
            let within = comparison["within"].as_bool() == Some(true);
            let largest = comparison["largest"].as_f64().unwrap_or(f64::NAN);
            evidence.push(entry(
                &format!("Beside the recorded run: {}", text("what")),
                format!(
                    "{}; {} numbers, largest difference {largest:.1e}, bound {}: {}",
                    text("level"),
                    comparison["numbers"],
                    text("bound"),
                    if within { "within" } else { "BEYOND" }
                ),
            ));
        }
    }
    Ok(evidence)
}

fn entry(name: &str, text: String) -> Evidence {
    Evidence {
        name: name.to_owned(),
        text,
    }
}

/// A JSON file, where there is one.
fn json(path: &Path) -> Result<Option<serde_json::Value>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let value = serde_json::from_slice(&read_bounded(path, TEXT_LIMIT)?);
    value
        .map(Some)
        .map_err(|error| Failure::reading(path, error))
}
