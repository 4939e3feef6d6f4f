//! Files of sweeps. Their readers take paths, so each target writes a file of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use headlight_sweep::{Plan, ReportChoices, Results, Seeds, Summary};
use headlight_trainer::files::outputs::{Destination, Output};
use tempfile::TempDir;

use super::quick;

/// A folder in memory, if the system has one.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

/// The path of a file for the fuzzer's bytes, which exists until the process ends.
fn file(name: &str) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(folder).path().join(name)
}

/// The plan of the sweep that the rows belong to.
fn plan() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let overrides = ["data.samples=20".to_owned(), "data.held_out=0".to_owned()];
        let grid = "model.d_model=2,4".parse().unwrap();
        Plan::new(&quick(), &overrides, &Seeds(0..3), &[grid]).unwrap()
    })
}

/// A results file that a sweep resumes.
pub(crate) fn results(bytes: &[u8]) {
    let path = file("results.jsonl");
    fs::write(&path, bytes).unwrap();
    let opened = Results::open(&path, plan(), 0..plan().runs());
    match opened.map(drop) {
        // A summary reads fields that resuming a sweep does not read.
        Ok(()) => {
            let _ = Summary::read(&path, &ReportChoices::default())
                .map(|summary| summary.document("").markdown(80));
        }
        // A refused file is not changed.
        Err(_) => assert_eq!(fs::read(&path).unwrap(), bytes),
    }
}

/// Two results files to merge, separated by a zero byte.
pub(crate) fn merge(bytes: &[u8]) {
    let (first, second) = match bytes.iter().position(|&byte| byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[][..]),
    };
    let paths = [file("first.jsonl"), file("second.jsonl")];
    fs::write(&paths[0], first).unwrap();
    fs::write(&paths[1], second).unwrap();
    for out in [file("merged.jsonl"), file("merged.csv")] {
        let _ = fs::remove_file(&out);
        let merged = Output::new(&Destination::from(out.clone()), false)
            .and_then(|out| headlight_sweep::merge(&paths, out));
        assert_eq!(merged.is_ok(), out.exists());
    }
}
