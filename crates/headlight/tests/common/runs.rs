//! Runs that are stopped and resumed.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use headlight_trainer::run::checkpoint::Checkpoint;

use super::{Finished, headlight, text};

/// Dumps, evaluations and checkpoints fall on different steps.
const SETTINGS: [&str; 7] = [
    "dump.every_steps=30",
    "dump.every_epochs=0",
    "training.evaluate_every=25",
    "training.keep_best=held_out_loss",
    "training.save_weights=true",
    "checkpoint.every_steps=7",
    "training.epochs=2",
];

/// One command that starts a run or resumes it, with settings separated by spaces.
pub fn command(run: &Path, engine: &str, sets: &str) -> Command {
    let mut command = headlight();
    let sets = SETTINGS.into_iter().chain(sets.split_whitespace());
    command
        .args(["train", "configs/quick.toml", "--resume"])
        .args(["--run", text(run), "--engine", engine])
        .args(sets.flat_map(|set| ["--set", set]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Runs that command to its end, whatever the end is.
pub fn attempt(run: &Path, engine: &str, sets: &str) -> Finished {
    command(run, engine, sets).output().unwrap().into()
}

/// Trains a run to its end.
pub fn finish(run: &Path, engine: &str, sets: &str) -> Finished {
    attempt(run, engine, sets).done()
}

/// A run that ended after half of its epochs.
pub fn half(folder: &Path, engine: &str) -> PathBuf {
    let path = folder.join("half");
    finish(&path, engine, "training.epochs=1");
    path
}

/// The files of a run, except for those that hold dates, or hashes of these.
pub fn files(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in ["", "attention", "checkpoint", "weights"] {
        let entries = fs::read_dir(run.join(name)).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        for path in paths.filter(|path| path.is_file()) {
            let bytes = fs::read(&path).unwrap();
            found.insert(path.strip_prefix(run).unwrap().to_owned(), bytes);
        }
    }
    for dated in ["environment.json", "inspector.html", "manifest.sha256"] {
        assert!(found.remove(Path::new(dated)).is_some(), "{dated}");
    }
    found
}

/// Asserts that a run has the files of an undisturbed one, byte for byte.
pub fn assert_same(run: &Path, undisturbed: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    let found = files(run);
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(undisturbed), "{what}");
    for (name, bytes) in undisturbed {
        assert!(&found[name] == bytes, "{what}: {} differs", name.display());
    }
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The checkpoint of a run.
pub fn checkpoint(run: &Path) -> Checkpoint {
    let bytes = fs::read(run.join("checkpoint/state.safetensors")).unwrap();
    Checkpoint::decode(&bytes).unwrap()
}
