//! The origin of a run's numbers, for its page.

use headlight_page::Evidence;
use serde_json::Value;

use crate::files::hash::file_sha256;
use crate::files::run_files::{BEST, CONFIG, ENVIRONMENT, WEIGHTS};
use crate::show::certificate;
use crate::{Failure, RunDir};

/// The origin of a run's numbers, from the files of its run directory; missing files are skipped.
pub(crate) fn evidence(run: &RunDir) -> Result<Vec<Evidence>, Failure> {
    let mut evidence = vec![entry(
        "Page made by",
        format!("headlight {}", env!("CARGO_PKG_VERSION")),
    )];
    if let Some(environment) = run.json::<Value>(ENVIRONMENT)? {
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
        let describe = |environment: &Value| -> String {
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
    for name in [WEIGHTS, BEST, CONFIG] {
        let path = run.file(name);
        if path.is_file() {
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
