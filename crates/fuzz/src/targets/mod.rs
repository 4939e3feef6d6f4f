//! The readers, grouped by format. Each is a module with `read` and `seeds`.
//!
//! Other inputs of a reader (a config, a model) are created once.
#![allow(clippy::unwrap_used)] // Only for inputs that are not from the fuzzer.

pub(crate) mod archives;
pub(crate) mod config;
pub(crate) mod runs;
pub(crate) mod samples;
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

/// Files of the repository with a file extension, as seeds.
fn files(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(repository(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}
