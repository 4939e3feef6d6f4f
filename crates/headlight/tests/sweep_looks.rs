//! Where the runs of a sweep look: the positions that decide each sample, the names of classes, and the config beside the
//! results.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::sweeps::rows;
use crate::common::{folder, refused, run_in, typed};
use serde_json::Value;

fn report(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["report"], arguments, &["--json"]].concat();
    serde_json::from_str(&run_in(folder, &arguments).done().stdout).unwrap()
}

/// The words that decide stand elsewhere in each sentence: no position is named, and each sample has its own.
#[test]
fn texts_are_measured_sample_by_sample() {
    let folder = folder("looks_texts");
    let small = [
        "--set",
        "data.samples=400",
        "--set",
        "data.held_out=50",
        "--set",
        "training.epochs=1",
    ];
    let sweep = |seeds| {
        let sweep = ["sweep", "negation", "--seeds", seeds, "--out", "n.jsonl"];
        run_in(&folder, &[&sweep[..], &small].concat())
            .done()
            .stdout
    };
    let printed = sweep("0..3");
    assert!(!printed.contains("attention on position "), "{printed}");
    assert!(
        !printed.contains("negatives") && printed.contains("bad"),
        "{printed}"
    );
    let values = report(&folder, &["n.jsonl"]);
    assert_eq!(values["positions_of_attention"], Value::Null);
    let looks = ["looks_towards", "looks_away"].map(|key| values[key].as_u64().unwrap());
    assert_eq!(looks.iter().sum::<u64>(), 3);
    // What training says of the same seed.
    let train = ["train", "negation", "--set", "seed=1", "--run", "run"];
    run_in(&folder, &[&train[..], &small].concat()).done();
    let metrics = fs::read_to_string(folder.join("run/metrics.jsonl")).unwrap();
    let last: Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
    let row = rows(&folder.join("n.jsonl"))[1].clone();
    for (ours, theirs) in [
        ("deciding_attention_positive", "attention_positive"),
        ("deciding_attention_negative", "attention_negative"),
        ("deciding_uniform_positive", "uniform_positive"),
        ("deciding_uniform_negative", "uniform_negative"),
    ] {
        assert_eq!(row[ours], last[theirs], "{theirs}");
    }
}

/// Samples of columns all have the same positions, so none is short.
#[test]
fn samples_of_columns_are_of_one_length() {
    let folder = folder("looks_columns");
    let rows = (0..40).map(|row| format!("{},{},{}\n", row % 4, row % 3, row % 2));
    let rows = "size,shape,label\n".to_owned() + &rows.collect::<String>();
    fs::write(folder.join("c.csv"), rows).unwrap();
    let sweep = [
        "sweep", "c.csv", "--seeds", "0..2", "--out", "c.jsonl", "--set",
    ];
    let screen = run_in(&folder, &[&sweep[..], &["training.epochs=1"]].concat()).done();
    assert!(
        !screen.stdout.contains("short samples"),
        "{}",
        screen.stdout
    );
}

/// Each point of a grid over rules is measured at its own position, and counted.
#[test]
fn each_point_has_its_own_positions() {
    let folder = folder("looks_points");
    let sweep = ["sweep", "quick", "--seeds", "0..6", "--out", "p.jsonl"];
    let grid = ["--grid", "data.rule.position=3,5"];
    run_in(&folder, &[&sweep[..], &grid].concat()).done();
    let mut towards = [0; 2];
    for row in rows(&folder.join("p.jsonl")) {
        let (point, position) = [(0, 3), (1, 5)][row["point"].as_u64().unwrap() as usize];
        let paid = row["attention_positive"][position].as_f64().unwrap();
        towards[point] += u64::from(paid > 1.0 / 7.0);
    }
    let values = report(&folder, &["p.jsonl"]);
    let groups = values["groups"].as_array().unwrap();
    let found = [0, 1].map(|point: usize| groups[point]["looks_towards"].as_u64().unwrap());
    assert_eq!(found, towards);
    assert_eq!(values["looks_towards"].as_u64(), Some(towards.iter().sum()));
}

/// The config beside the results is the sweep's own, never another file; it trains a row's run again, and says which key
/// differs where rows do not belong.
#[test]
fn the_config_stands_beside_the_results() {
    let folder = folder("looks_config");
    let sweep = |out: &str, more: &[&str]| {
        let sweep = ["sweep", "quick", "--seeds", "0..2", "--out", out];
        run_in(&folder, &[&sweep[..], more].concat())
    };
    sweep("a.jsonl", &["--set", "training.epochs=1"]).done();
    let before = fs::read(folder.join("a.jsonl")).unwrap();
    let other = sweep(
        "a.jsonl",
        &["--set", "training.epochs=2", "--engine", "burn"],
    );
    refused(&other, &["`training.epochs` is 1, not 2", "compute.engine"]);
    assert_eq!(fs::read(folder.join("a.jsonl")).unwrap(), before);
    sweep("b.jsonl", &["--set", "training.epochs=2"]).done();
    let merge = ["merge", "a.jsonl", "b.jsonl", "--out", "c.jsonl"];
    refused(&run_in(&folder, &merge), &["`training.epochs` is 2, not 1"]);
    typed(&folder, "merge a.jsonl --out c.jsonl").done();
    assert!(folder.join("c.config.toml").exists());

    let again = ["train", "a.config.toml", "--set", "seed=1", "--run", "run"];
    run_in(&folder, &again).done();
    let manifest = fs::read_to_string(folder.join("run/manifest.sha256")).unwrap();
    let hash = rows(&folder.join("a.jsonl"))[1]["weights_sha256"].clone();
    assert!(manifest.contains(hash.as_str().unwrap()));

    fs::write(folder.join("mine.config.toml"), "# mine\n").unwrap();
    sweep("mine.jsonl", &[]).done();
    assert_eq!(
        fs::read_to_string(folder.join("mine.config.toml")).unwrap(),
        "# mine\n"
    );
    let told = typed(&folder, "report mine.jsonl").done().stderr;
    assert!(told.contains("mine.config.toml is ignored"), "{told}");
}

/// Samples of different lengths have their own numbers of keys, which rows lack, so the report counts none that look away. The
/// config that `init` writes is swept as its file is, for all epochs.
#[test]
fn padded_samples_have_no_common_uniform_attention() {
    let folder = folder("looks_padded");
    let text = |sample: usize| {
        let word = ["good", "bad"][sample % 2];
        format!("{word}{},{word}\n", " so".repeat(sample % 5 + 1))
    };
    let texts: String = (0..60).map(text).collect();
    fs::write(folder.join("f.csv"), format!("text,label\n{texts}")).unwrap();
    typed(&folder, "init f.csv --out f.toml").done();
    let written = fs::read_to_string(folder.join("f.toml")).unwrap();
    assert!(written.contains("patience"), "{written}");
    let sweep = |file: &str, out: &str| {
        let sweep = ["sweep", file, "--folds", "2", "--out", out];
        let short = ["--set", "training.epochs=2"];
        let done = run_in(&folder, &[&sweep[..], &short].concat()).done();
        assert!(done.stderr.contains("training.patience"), "{}", done.stderr);
        rows(&folder.join(out))
    };
    let found = sweep("f.csv", "a.jsonl");
    let weights = |rows: &[Value]| -> Vec<Value> {
        rows.iter()
            .map(|row| row["weights_sha256"].clone())
            .collect()
    };
    assert_eq!(weights(&found), weights(&sweep("f.toml", "b.jsonl")));
    let values = report(&folder, &["a.jsonl", "--position", "1"]);
    assert!(values["samples"]["attention_of_positives"]["mean"].is_number());
    assert_eq!(values["looks_towards"], Value::Null);
    assert_eq!(values["looks_away"], Value::Null);
}
