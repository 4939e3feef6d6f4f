//! Text that is the product: help, the table of a training run, its report, the report of a sweep, a heatmap.
//!
//! `common/mod.rs` has the command that accepts changed snapshots.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{folder, run, text, typed};
use insta::assert_snapshot;

/// Trains a small config whose every number is the fused engine's, the same on every machine.
fn small_run(path: &Path) -> String {
    let train = ["train", "configs/quick.toml", "--run", text(path)];
    let sets = [
        "data.samples=160",
        "data.positive_rate=0.05",
        "data.held_out=40",
        "training.epochs=2",
    ];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = train.into_iter().chain(sets).collect();
    let verbose = arguments.into_iter().chain(["--verbose"]);
    let told = run(&verbose.collect::<Vec<_>>()).done().stderr;
    // Other lines have the time that it took, and the commit.
    let table = told.split_once("not measured").unwrap().1;
    let rows = table
        .lines()
        .take_while(|line| !line.starts_with("trained"));
    rows.skip(1).collect::<Vec<_>>().join("\n")
}

#[test]
fn help() {
    assert_snapshot!("help", run(&["--help"]).done().stdout);
    assert_snapshot!("help_train", run(&["train", "--help"]).done().stdout);
}

#[test]
fn training() {
    let path = folder("snapshot_run").join("run");
    let table = small_run(&path);
    assert_snapshot!("training_table", table);
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert_snapshot!("training_report", report);
    assert_snapshot!("heatmap", run(&["inspect", text(&path)]).done().stdout);
}

#[test]
fn sweep_report() {
    let folder = folder("snapshot_sweep");
    let out = folder.join("rows.jsonl");
    let sweep = "sweep --seeds 0..8 --out rows.jsonl --set training.epochs=1";
    typed(&folder, sweep).done();
    let report = run(&["report", text(&out)]).done().stdout;
    assert_snapshot!("sweep_report", report);
}
