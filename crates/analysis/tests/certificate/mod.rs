//! Certificates beside the fused engine's answers to every input, one after the other.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

mod brute;
mod models;
mod refused;
mod sampled;
mod tight;

use headlight_analysis::certificate::{Certificate, certify};
use headlight_experiment::config::{ExperimentConfig, toml};
use models::Model;

/// Inputs of each class that are listed.
const EXAMPLES: usize = 10;

/// A config with these changes.
fn config(changes: &[&str]) -> ExperimentConfig {
    let base = "data = { samples = 1, generator = \"chacha\" }\nmodel = { d_model = 4 }\ntraining = { epochs = 1 }\n";
    let changes = changes.iter().map(|change| ("--set", *change));
    toml::parse("base", base, changes, |_| Ok(()), |_| Ok(())).unwrap()
}

fn certified(model: &Model, threads: usize) -> Certificate {
    certify(
        &model.config,
        &model.weights,
        EXAMPLES,
        threads,
        &|_| Ok(()),
    )
    .unwrap()
}
