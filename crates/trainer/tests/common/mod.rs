//! Runs the real binary, in the repository's root, with outputs in a folder of the test's own.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

pub mod sweeps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a finished command left.
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Finished {
    /// Asserts that the command did what it was asked to.
    pub fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }
}

/// The binary, to be run in the repository's root.
pub fn headlight() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headlight"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

/// Runs the binary to its end.
pub fn run(arguments: &[&str]) -> Finished {
    headlight().args(arguments).output().unwrap().into()
}

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The lines of a run's metrics.
pub fn metrics(run: &Path) -> Vec<serde_json::Value> {
    fs::read_to_string(run.join("metrics.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A run of the quick config.
pub fn quick_run(run: &Path, more: &[&str]) -> Finished {
    let arguments = ["train", "configs/quick.toml", "--run", text(run)];
    self::run(&[&arguments, more].concat()).done()
}
