//! Runs the real binary, in the repository's root, with outputs in a folder of the test's own.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

pub mod sweeps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

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

/// Moments that look random, and are the same each time.
pub struct Moments(pub u64);

impl Moments {
    pub fn below(&mut self, limit: u64) -> u64 {
        // Knuth's MMIX generator; its upper bits are good.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Sends a signal to a process, which may have come to its end by now.
pub fn send(child: &Child, signal: &str) {
    let _ = Command::new("kill")
        .args(["-s", signal, &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

/// A run of the quick config.
pub fn quick_run(run: &Path, more: &[&str]) -> Finished {
    let arguments = ["train", "configs/quick.toml", "--run", text(run)];
    self::run(&[&arguments, more].concat()).done()
}
