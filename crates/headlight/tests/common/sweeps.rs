//! Sweeps, for tests of their rows and files.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::json;

#[path = "../../../sweep/tests/common/whole_rows.rs"]
mod whole_rows;

pub use whole_rows::whole;

/// The rows of a results file.
pub fn rows(path: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(path).unwrap();
    lines.lines().map(json).collect()
}
