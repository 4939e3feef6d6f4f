//! Files of sweeps. Their readers take paths, so each target writes a file of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use super::repository;

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
fn plan() -> &'static headlight_sweep::Plan {
    use headlight_sweep::{Plan, Seeds};
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let overrides = ["data.samples=20".to_owned(), "data.held_out=0".to_owned()];
        let grid = "model.d_model=2,4".parse().unwrap();
        Plan::new(
            &repository("configs/quick.toml"),
            &overrides,
            &Seeds(0..3),
            &[grid],
        )
        .unwrap()
    })
}

fn rows(hash: &str) -> Vec<u8> {
    let row = |seed: u64, point: usize| {
        format!(
            "{{\"seed\":{seed},\"point\":{point},\"model.d_model\":2,\"epoch_loss\":[0.5,0.1],\"final_loss\":0.1,\"config_sha256\":\"{hash}\"}}\n"
        )
    };
    [row(0, 0), row(0, 1), row(1, 0)].concat().into_bytes()
}

/// A results file that a sweep resumes.
pub(crate) mod results {
    use headlight_sweep::{ReportChoices, Results, Summary};

    use super::{file, fs, plan, rows};

    pub(crate) fn read(bytes: &[u8]) {
        let path = file("results.jsonl");
        fs::write(&path, bytes).unwrap();
        let opened = Results::open(&path, plan(), 0..plan().len());
        match opened.map(drop) {
            // A summary reads fields that resuming a sweep does not read.
            Ok(()) => {
                let _ = Summary::of(&path, &ReportChoices::default())
                    .map(|summary| summary.document("").markdown(80));
            }
            // A refused file is not changed.
            Err(_) => assert_eq!(fs::read(&path).unwrap(), bytes),
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![rows(&plan().config_sha256), rows("other")]
    }
}

/// Two results files to merge, separated by a zero byte.
pub(crate) mod merge {
    use headlight_sweep::merge;
    use headlight_trainer::storage::outputs::{Destination, Output};

    use super::{file, fs, rows};

    pub(crate) fn read(bytes: &[u8]) {
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
                .and_then(|out| merge(&paths, out));
            assert_eq!(merged.is_ok(), out.exists());
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![
            rows("a"),
            [rows("a"), vec![0], rows("a")].concat(),
            b"{\"seed\":0,\"error\":\"diverged\",\"config_sha256\":\"a\"}\n".to_vec(),
        ]
    }
}
