//! Files of runs and sweeps. Their readers take paths, so each target writes a file of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use headlight_trainer::documents::page::{Source, page};
use headlight_trainer::storage::run_dir::RunDir;
use tempfile::TempDir;

use super::archives::small_dump;
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

/// Reads a run directory with these bytes as one of its files.
fn read_run(name: &str, bytes: &[u8]) {
    let folder = file("run");
    if !folder.exists() {
        fs::create_dir(&folder).unwrap();
        let config = repository("configs/quick.toml");
        fs::copy(config, folder.join("config.toml")).unwrap();
        // The page needs a dump.
        let attention = folder.join("attention");
        fs::create_dir(&attention).unwrap();
        fs::write(attention.join("step-000000.npz"), small_dump()).unwrap();
    }
    fs::write(folder.join(name), bytes).unwrap();
    let run = RunDir::open(&folder).unwrap();
    let _ = run.metrics(Some);
    let _ = run.verify();
    let _ = page(&[Source::open(&folder).unwrap()]);
}

/// `metrics.jsonl`.
pub(crate) mod metrics {
    pub(crate) fn read(bytes: &[u8]) {
        super::read_run("metrics.jsonl", bytes);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![
            b"{\"epoch\":0,\"step\":0,\"loss\":0.69,\"f1\":null}\n{\"epoch\":1,\"step\":100,\"loss\":1e-3}\n"
                .to_vec(),
            b"{\"step\":0,\"loss\":0.7}\n{\"ste".to_vec(),
        ]
    }
}

/// `environment.json`.
pub(crate) mod environment {
    pub(crate) fn read(bytes: &[u8]) {
        super::read_run("environment.json", bytes);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![br#"{"version":"0.1.0","git_commit":"abc","device":"flex","started":"now"}"#.to_vec()]
    }
}

/// `manifest.sha256`.
pub(crate) mod manifest {
    pub(crate) fn read(bytes: &[u8]) {
        super::read_run("manifest.sha256", bytes);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let hash = "0123456789abcdef".repeat(4);
        let files = |names: &[&str]| {
            let lines = names.iter().map(|name| format!("{hash}  {name}\n"));
            let head = format!("# {} files, for sha256sum --check\n", names.len());
            (head + &lines.collect::<String>()).into_bytes()
        };
        vec![
            files(&["attention/step-000000.npz", "config.toml"]),
            files(&["../config.toml"]),
        ]
    }
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
    use headlight_sweep::{AttentionTarget, Results, Summary};

    use super::{file, fs, plan, rows};

    pub(crate) fn read(bytes: &[u8]) {
        let path = file("results.jsonl");
        fs::write(&path, bytes).unwrap();
        let opened = Results::open(&path, plan(), 0..plan().len());
        match opened.map(drop) {
            // A summary reads fields that resuming a sweep does not read.
            Ok(()) => {
                let _ = Summary::of(&path, AttentionTarget::Deciding, &[], None)
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

/// A results file to report on.
pub(crate) mod report {
    use headlight_sweep::{AttentionTarget, Summary};

    use super::{file, fs, rows};

    pub(crate) fn read(bytes: &[u8]) {
        let path = file("report.jsonl");
        fs::write(&path, bytes).unwrap();
        if let Ok(summary) = Summary::of(&path, AttentionTarget::Deciding, &[], None) {
            let document = summary.document("fuzzed");
            let _ = (document.markdown(80), document.plots_svg(), document.html());
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let full = "{\"seed\":7,\"point\":0,\"model.d_model\":2,\"epoch_loss\":[0.5,0.1],\"final_loss\":0.1,\
                    \"held_out_f1\":null,\"attention_positive\":[0.2,0.8],\"attention_negative\":[0.5,0.5],\
                    \"learned_at_step\":12,\"config_sha256\":\"a\"}\n";
        let failed = "{\"seed\":8,\"point\":0,\"model.d_model\":2,\"error\":\"diverged at step 3\",\
                      \"config_sha256\":\"a\"}\n";
        let extremes = "{\"seed\":0,\"epoch_loss\":[1e308,0],\"final_loss\":1e308,\"attention_positive\":[0,1e308],\
                        \"attention_negative\":[0,0],\"learned_at_step\":0,\"config_sha256\":\"a\"}\n\
                        {\"seed\":1,\"epoch_loss\":[0,0],\"final_loss\":-1e308,\"attention_positive\":[0,0],\
                        \"attention_negative\":[0,1e-300],\"learned_at_step\":1e308,\"config_sha256\":\"a\"}\n";
        vec![
            rows("a"),
            [rows("a"), full.into(), failed.into()].concat(),
            extremes.into(),
        ]
    }
}
