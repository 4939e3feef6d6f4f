//! The readers, grouped by format.
//!
//! Other inputs of a reader (a config, a model) are created once.
#![allow(clippy::unwrap_used)] // Only for inputs that are not from the fuzzer.

pub(crate) mod archives;
pub(crate) mod samples;
pub(crate) mod sweeps;
pub(crate) mod weights;

use std::path::{Path, PathBuf};

/// The config of a small experiment.
fn quick() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/quick.toml")
}
