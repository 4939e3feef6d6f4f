//! The readers, grouped by format. Each is a module with `read` and `seeds`.
//!
//! Other inputs of a reader (a config, a model) are created once.
#![allow(clippy::unwrap_used)] // Only for inputs that are not from the fuzzer.

pub(crate) mod archives;
pub(crate) mod samples;
pub(crate) mod sweeps;
pub(crate) mod weights;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use headlight_experiment::config::ExperimentConfig;

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// A small experiment.
fn quick() -> &'static ExperimentConfig {
    static QUICK: OnceLock<ExperimentConfig> = OnceLock::new();
    QUICK.get_or_init(|| {
        let path = repository("configs/quick.toml");
        headlight_trainer::storage::config::load(&path, &[]).unwrap()
    })
}
