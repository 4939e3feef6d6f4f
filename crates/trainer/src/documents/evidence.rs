//! The origin of a run's numbers, for its page.

use std::path::Path;

use headlight_input::TEXT_LIMIT;
use headlight_inspector::Evidence;

use crate::Failure;
use crate::documents::certificate;
use crate::storage::files::read_bounded;
use crate::storage::hash::file_sha256;
use crate::storage::paths::is_file;
use crate::storage::run_dir::RunDir;

/// The origin of a run's numbers, from the files of its run directory; missing files are skipped.
pub(crate) fn evidence(run: &RunDir) -> Result<Vec<Evidence>, Failure> {
    let folder = run.path();
    let mut evidence = vec![entry(
        "Page made by",
        format!("headlight {}", env!("CARGO_PKG_VERSION")),
    )];
    if let Some(environment) = json(&folder.join("environment.json"))? {
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
        let describe = |environment: &serde_json::Value| -> String {
            let facts = keys.iter().filter_map(|&key| {
                let value = environment[key].as_str()?;
                Some(format!("{} {value}", key.replace('_', " ")))
            });
            facts.collect::<Vec<String>>().join(", ")
        };
        evidence.push(entry("Run", describe(&environment)));
        for resumed in environment["resumed"].as_array().into_iter().flatten() {
            let name = format!("Resumed from step {}", resumed["step"]);
            evidence.push(entry(&name, describe(resumed)));
        }
    }
    for name in ["model.safetensors", "best.safetensors", "config.toml"] {
        let path = folder.join(name);
        if is_file(&path)? {
            let hash = file_sha256(&path)?;
            evidence.push(entry(&format!("SHA-256 of {name}"), hash));
        }
    }
    evidence.extend(run.certificate()?.as_ref().map(certificate::evidence));
    Ok(evidence)
}

fn entry(name: &str, text: String) -> Evidence {
    Evidence {
        name: name.to_owned(),
        text,
        inputs: Vec::new(),
    }
}

/// A JSON file, if it exists.
fn json(path: &Path) -> Result<Option<serde_json::Value>, Failure> {
    if !is_file(path)? {
        return Ok(None);
    }
    let value = serde_json::from_slice(&read_bounded(path, TEXT_LIMIT)?);
    value
        .map(Some)
        .map_err(|error| Failure::reading(path, error))
}
