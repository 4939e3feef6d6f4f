//! Sweeps: the rows of runs, and sweeps that are refused.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::sweeps::rows;
use crate::common::{
    ended, folder, mentions, metrics, printed, refuses_each, refuses_typed, typed, weights,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A sweep of the notebook's experiment, trained for one epoch.
const SWEEP: &str = "sweep --set training.epochs=1 --out";

#[test]
fn a_row_equals_the_run_of_its_seed() {
    let folder = folder("sweep_row");
    for (engine, seeds) in [("fused", "5..8"), ("burn", "6..7")] {
        let sweep = format!("sweep --seeds {seeds} --engine {engine} --out {engine}.jsonl");
        typed(&folder, &sweep).done();
        for row in rows(&folder.join(format!("{engine}.jsonl"))) {
            let seed = format!("seed={}", row["seed"]);
            let run = format!("{engine}-{seed}");
            let train = format!("train --engine {engine} --set {seed} --run {run}");
            typed(&folder, &train).done();
            let hash = format!("{:x}", Sha256::digest(weights(&folder, &run)));
            assert_eq!(row["weights_sha256"], hash);
            let lines = metrics(&folder.join(run));
            let last = lines.last().unwrap();
            for (ours, theirs) in [
                ("final_loss", "loss"),
                ("accuracy", "accuracy"),
                ("precision", "precision"),
                ("recall", "recall"),
                ("f1", "f1"),
                ("held_out_final_loss", "held_out_loss"),
                ("held_out_accuracy", "held_out_accuracy"),
                ("held_out_precision", "held_out_precision"),
                ("held_out_recall", "held_out_recall"),
                ("held_out_f1", "held_out_f1"),
                ("min_positive", "min_positive"),
                ("max_negative", "max_negative"),
            ] {
                assert_eq!(row[ours], last[theirs], "{ours}");
            }
            let losses = lines[1..].iter().map(|line| line["train_loss"].clone());
            assert_eq!(row["epoch_loss"], losses.collect::<Value>());
            for class in ["attention_positive", "attention_negative"] {
                assert_eq!(row[class].as_array().unwrap().len(), 7);
                assert_eq!(row[class][3], last[class], "{class}");
            }
        }
    }
}

#[test]
fn the_step_of_learning_is_the_first_with_enough_held_out_f1() {
    let folder = folder("sweep_learned");
    typed(&folder, "sweep --seeds 3..5 --out rows.jsonl").done();
    for row in rows(&folder.join("rows.jsonl")) {
        let seed = &row["seed"];
        let each = "--set training.evaluate_every=1";
        typed(
            &folder,
            &format!("train --set seed={seed} --run {seed} {each}"),
        )
        .done();
        let mut lines = metrics(&folder.join(seed.to_string())).into_iter();
        let learned = lines.find(|line| line["held_out_f1"].as_f64() >= Some(0.99));
        assert_eq!(row["learned_at_step"], learned.unwrap()["step"]);
    }
}

#[test]
fn a_grid_varies_keys_and_a_failing_run_does_not_stop_the_rest() {
    let folder = folder("sweep_grid");
    let out = folder.join("rows.jsonl");
    let sweep = format!(
        "{SWEEP} rows.jsonl --seeds 0..2 --set data.samples=320 \
         --grid training.learning_rate=1e-3,1e37 --grid model.n_layers=1,2"
    );
    let finished = typed(&folder, &sweep);
    // Each failure names its place in the grid; the last line counts them.
    ended(&finished, 3, &["training.learning_rate=1e+37", "4", "8"]);
    assert!(mentions(&finished.stdout, "8") && mentions(&finished.stdout, "4"));
    let rows = rows(&out);
    assert_eq!(rows.len(), 8);
    for (place, row) in rows.iter().enumerate() {
        assert_eq!([&row["seed"], &row["point"]], [place / 4, place % 4]);
        let hopeless = row["training.learning_rate"] == 1e37;
        assert_eq!(row.get("error").is_some(), hopeless, "{row}");
        assert_eq!(row.get("weights_sha256").is_some(), !hopeless);
        assert_eq!(row["model.n_layers"], 1 + place % 2);
    }
    // Failed runs are finished runs: they would fail again.
    let before = fs::read(&out).unwrap();
    assert_eq!(typed(&folder, &sweep).code, Some(3));
    assert_eq!(before, fs::read(&out).unwrap());

    typed(&folder, "merge rows.jsonl --out rows.csv").done();
    let mut reader = csv::Reader::from_path(folder.join("rows.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let first: Vec<&str> = header.iter().take(5).collect();
    let expected = "seed,point,model.n_layers,training.learning_rate,epoch_loss_1";
    assert_eq!(first.join(","), expected);
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    for (record, row) in reader.records().map(Result::unwrap).zip(&rows) {
        let cell = |name: &str| record[column(name)].parse::<f64>().ok();
        assert_eq!(cell("final_loss"), row["final_loss"].as_f64());
        let attention = row["attention_positive"][3].as_f64();
        assert_eq!(cell("attention_positive_3"), attention);
        let is_empty = record[column("error")].is_empty();
        assert_eq!(is_empty, row.get("error").is_none());
    }
}

/// The training samples have finite outputs, and other inputs, which the measure asks about, do not.
#[test]
fn a_model_whose_certificate_overflows_is_a_failed_run() {
    let folder = folder("sweep_overflow");
    let config = r#"
        data = { vocab_size = 60, seq_len = 2, samples = 2, generator = "chacha", rule = { kind = "token-anywhere", token = 3 } }
        model = { d_model = 8, n_heads = 1, n_layers = 1, norm = "none", d_ff = 64, init = { scheme = "normal", std = { all = 9e5, query = 0.0, key = 0.0 } } }
        training = { epochs = 1, batch_size = 4, optimizer = "sgd", learning_rate = 1e-35 }
        report = { measures = ["wrong_inputs"] }
    "#;
    fs::write(folder.join("config.toml"), config).unwrap();
    let told = typed(&folder, "sweep config.toml --seeds 2..3 --out rows.jsonl");
    assert_eq!(told.code, Some(3));
    let row = rows(&folder.join("rows.jsonl")).remove(0);
    assert!(
        row["error"].as_str().unwrap().contains("not finite"),
        "{row}"
    );
}

#[test]
fn pictures_and_numbers_end_a_sweep() {
    let folder = folder("sweep_summary");
    let stdout = printed(&folder, "sweep --seeds 0..20 --out rows.jsonl");
    for part in ["20", "0.99", "100.0%"] {
        assert!(mentions(&stdout, part), "{part}: {stdout}");
    }
    let rows = rows(&folder.join("rows.jsonl"));
    let values = rows
        .iter()
        .map(|row| row["attention_positive"][3].as_f64().unwrap());
    let mean = values.sum::<f64>() / 20.0;
    let mut lines = stdout.lines();
    let line = lines.find(|line| line.starts_with("| label 1: attention on position 3"));
    assert_eq!(
        line.unwrap().split('|').nth(2).unwrap().trim(),
        format!("{mean:.3}")
    );
    let (_, bars) = stdout.rsplit_once("learned at step\n").unwrap();
    let bars = bars.lines().filter(|line| line.contains('–'));
    let runs = bars.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(runs.sum::<usize>(), 20, "each run is in one bar: {stdout}");
    let picture = fs::read_to_string(folder.join("rows.svg")).unwrap();
    assert_eq!(picture.matches("class=\"dot\"").count(), 20);
}

/// A sweep trains every run to its end, also where its config has patience.
const CONTRADICTIONS: &str = r#"
rows.jsonl --seeds 3      | --seeds | '3' | A..B
rows.jsonl --seeds 3..3   | --seeds | 3..3
rows.jsonl --seeds 5..3   | --seeds | 5..3
rows.jsonl --seeds a..b   | --seeds | a..b
rows.jsonl --seeds=-1..4  | --seeds | -1..4
rows.jsonl --seeds 0..3 --shard 0/4 | --shard | 0/4 | 1
rows.jsonl --seeds 0..3 --grid model.d_modl=4,8 | `d_modl` | `d_model`
rows.jsonl --seeds 0..3 --grid model.d_model=4,none | --grid | model.d_model
rows.jsonl --seeds 0..3 --grid model.d_model | --grid | KEY=V1,V2
rows.jsonl --seeds 0..3 --grid d_model=4 | --grid | d_model
rows.jsonl --seeds 0..3 --grid model.d_model= | --grid | model.d_model
rows.jsonl --seeds 0..3 --grid model.d_model=4,4 | --grid | twice
rows.jsonl --seeds 0..3 --grid seed=1,2 | seed | --seeds
rows.jsonl --seeds 0..3 --folds 3 --set data.fold=1/3 | --set data.fold=1/3 | --folds
rows.jsonl --seeds 0..3 --set seed=4 | --set seed=4 | --seeds
rows.jsonl --seeds 0..3 --set data.rule.token=4 --grid 'data.rule={}' | --set data.rule.token=4 | --grid
rows.jsonl --seeds 0..3 --set 'data.rule={kind="token-anywhere",token=4}' --grid data.rule.token=1,2 | --set data.rule= | `data.rule.token`
rows.jsonl --seeds 0..3 --set 'model={d_model=8,n_heads=1}' --grid model.d_model=4,8 | --set model= | `model.d_model`
rows.jsonl --seeds 0..3 --set 'data={rule={kind="majority"}}' --grid 'data.rule={}' | --set data= | `data.rule`
rows.jsonl --seeds 0..3 --folds 3 --set 'data={fold="1/3"}' | --set data= | --folds | `data.fold`
rows.jsonl --seeds 0..3 --engine fused --grid compute.engine=fused,burn | compute.engine=fused | --grid
rows.jsonl --seeds 0..3 --grid model.d_model=4 --grid model.d_model=8 | --grid | model.d_model
rows.jsonl --seeds 0..3 --set training.batch_size=32 | rows.jsonl | line 1
rows.jsonl --seeds 1..4   | rows.jsonl | line 1 | seed 0 | seed 1
rows.jsonl --seeds 0..2   | rows.jsonl | 2
rows.parquet --seeds 0..2 | rows.parquet | .jsonl
nowhere/rows.jsonl --seeds 0..2 | nowhere
rows.jsonl --seeds 0..3 --set training.keep_best=loss --grid training.patience=1,2 | training.patience
words.jsonl --seeds 0..2  | words.jsonl | line 1
"#;

#[test]
fn contradictory_sweeps_are_refused() {
    let folder = folder("sweep_refused");
    typed(&folder, &format!("{SWEEP} rows.jsonl --seeds 0..3")).done();
    fs::write(folder.join("words.jsonl"), "once upon a time\n").unwrap();
    refuses_each(&folder, SWEEP, CONTRADICTIONS);
    // More points than a sweep may have.
    let keys = [
        "data.seed",
        "model.d_model",
        "training.learning_rate",
        "training.batch_size",
        "data.samples",
    ];
    let grid = keys.map(|key| format!("--grid {key}=1,2,3,4,5,6,7,8,9,10,11"));
    let many = format!("{SWEEP} many.jsonl --seeds 0..2 {}", grid.join(" "));
    refuses_typed(&folder, &many, &["100000 points"]);
}
