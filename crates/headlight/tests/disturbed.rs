//! Runs whose directory or files another program moves, replaces or changes while they are written.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::runs::{assert_same, files, newest};
use crate::common::{Finished, ended, folder, headlight, refused, run, send, text};

/// A command that trains into `path` until it is stopped.
fn endless(path: &Path) -> Command {
    let mut command = headlight();
    command
        .args(["train", "configs/quick.toml", "--run", text(path)])
        .args(["--engine", "fused", "--set", "dump.every_steps=0"])
        .args([
            "--set",
            "training.epochs=1000000",
            "--set",
            "dump.every_epochs=0",
        ])
        .args(["--set", "checkpoint.every_steps=50"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Starts to train, until there are two checkpoints.
fn started(folder: &Path) -> (PathBuf, Child) {
    let path = folder.join("run");
    let child = endless(&path).spawn().unwrap();
    let count = || fs::read_dir(path.join("checkpoint")).map_or(0, Iterator::count);
    while count() < 3 {
        sleep(Duration::from_millis(1));
    }
    (path, child)
}

/// Waits for a process that must end by itself.
fn end_of(mut child: Child) -> Finished {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
        }
        sleep(Duration::from_millis(1));
    }
    child.wait_with_output().unwrap().into()
}

fn short(path: &Path) -> Finished {
    let train = [
        "train",
        "configs/quick.toml",
        "--engine",
        "fused",
        "--set",
        "seed=2",
    ];
    run(&[&train[..], &["--run", text(path)]].concat())
}

#[test]
fn a_run_that_is_moved_and_replaced_mixes_with_no_other() {
    let folder = folder("moved");
    let undisturbed = folder.join("undisturbed");
    short(&undisturbed).done();
    let undisturbed = files(&undisturbed);
    let (path, first) = started(&folder);
    let old = folder.join("old");
    fs::rename(&path, &old).unwrap();
    short(&path).done();
    ended(&end_of(first), 1, &[text(&path)]);
    assert_same(&path, &undisturbed, "the second run");
    run(&["verify", text(&path)]).done();
    // The first is as whole as after a kill, under its new name.
    run(&["verify", text(&old)]).done();
    assert!(!old.join("report.md").exists());
}

#[test]
fn a_run_that_is_moved_is_stopped() {
    let folder = folder("moved-away");
    let (path, first) = started(&folder);
    fs::rename(&path, folder.join("old")).unwrap();
    ended(&end_of(first), 1, &[text(&path)]);
    assert!(!path.exists());
    run(&["verify", text(&folder.join("old"))]).done();
}

#[test]
fn a_run_without_its_lock_is_stopped() {
    let (path, first) = started(&folder("unlocked"));
    fs::remove_file(path.join(".lock")).unwrap();
    ended(&end_of(first), 1, &[text(&path)]);
    run(&["verify", text(&path)]).done();
}

fn change(path: &Path, way: &str) {
    let mut options = OpenOptions::new();
    match way {
        "removed" => fs::remove_file(path).unwrap(),
        "truncated" => options.write(true).open(path).unwrap().set_len(10).unwrap(),
        "lengthened" => {
            let mut file = options.append(true).open(path).unwrap();
            file.write_all(b"{}\n").unwrap();
        }
        _ => {
            let copy = path.with_extension("copy");
            fs::copy(path, &copy).unwrap();
            fs::rename(copy, path).unwrap();
        }
    }
}

#[test]
fn changed_metrics_stop_a_run() {
    let folder = folder("changed-metrics-during");
    for way in ["removed", "truncated", "lengthened", "replaced"] {
        for name in ["metrics.jsonl", "checkpoint/losses.f32"] {
            let at = folder.join(way).join(name.replace('/', "-"));
            fs::create_dir_all(&at).unwrap();
            let (path, child) = started(&at);
            change(&path.join(name), way);
            ended(&end_of(child), 1, &[text(&path.join(name))]);
            assert!(!path.join("report.md").exists(), "{name} {way}");
        }
    }
}

/// An edit that keeps the length is noticed at the end.
#[test]
fn edited_metrics_are_noticed_when_the_run_ends() {
    let (path, child) = started(&folder("edited-metrics-during"));
    let metrics = path.join("metrics.jsonl");
    let mut file = OpenOptions::new().write(true).open(&metrics).unwrap();
    file.write_all(b"[").unwrap();
    send(&child, "INT");
    ended(&end_of(child), 1, &[text(&metrics)]);
    assert!(!path.join("report.md").exists());
}

/// Weights can be finite while Adam's moments are not; such a state cannot be resumed, and so is not saved.
#[test]
fn moments_that_overflow_are_divergence() {
    let folder = folder("moments");
    let path = folder.join("run");
    let sets = [
        "training.learning_rate=1e7",
        "training.epsilon=1e-30",
        "training.epochs=1",
        "data.samples=32",
        "data.held_out=0",
        "checkpoint.every_steps=1",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let train = [
        "train",
        "configs/quick.toml",
        "--engine",
        "fused",
        "--run",
        text(&path),
    ];
    ended(
        &run(&[&train[..], &sets].concat()),
        3,
        &["training.learning_rate"],
    );
    assert!(!path.join("report.md").exists());
    // The first step is saved, and resumes; the second is not.
    assert!(newest(&path).ends_with("step-000000001.checkpoint"));
    ended(
        &run(&["train", "--resume", "--run", text(&path)]),
        3,
        &["2"],
    );
    // A sweep calls the same seed diverged.
    let out = folder.join("seeds.jsonl");
    let sweep = [
        "sweep",
        "configs/quick.toml",
        "--seeds",
        "0..1",
        "--out",
        text(&out),
    ];
    run(&[&sweep[..], &sets].concat());
    let row: serde_json::Value =
        serde_json::from_str(fs::read_to_string(&out).unwrap().trim()).unwrap();
    assert!(row["error"].is_string(), "{row}");
    refused(&run(&["verify", text(&folder)]), &[text(&folder)]);
}
