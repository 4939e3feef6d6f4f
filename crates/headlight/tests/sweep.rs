//! Sweeps: the rows of runs, and sweeps that are refused.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::sweeps::{rows, sweep};
use crate::common::{contents, ended, folder, mentions, metrics, refused, run, text};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[test]
fn a_row_equals_the_run_of_its_seed() {
    let folder = folder("sweep_row");
    for (engine, seeds) in [("fused", "5..8"), ("burn", "6..7")] {
        let out = folder.join(format!("{engine}.jsonl"));
        run(&[
            "sweep",
            "--seeds",
            seeds,
            "--engine",
            engine,
            "--out",
            text(&out),
        ])
        .done();
        for row in rows(&out) {
            let seed = format!("seed={}", row["seed"]);
            let path = folder.join(format!("{engine}-{seed}"));
            run(&[
                "train",
                "--engine",
                engine,
                "--set",
                &seed,
                "--run",
                text(&path),
            ])
            .done();
            assert_eq!(
                row["weights_sha256"],
                hex(&fs::read(path.join("model.safetensors")).unwrap())
            );
            let lines = metrics(&path);
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
            let losses: Vec<&Value> = lines[1..].iter().map(|line| &line["train_loss"]).collect();
            assert_eq!(
                row["epoch_loss"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .collect::<Vec<_>>(),
                losses
            );
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
    let out = folder.join("rows.jsonl");
    run(&["sweep", "--seeds", "3..5", "--out", text(&out)]).done();
    for row in rows(&out) {
        let path = folder.join(row["seed"].to_string());
        let seed = format!("seed={}", row["seed"]);
        let each = [
            "--set",
            "training.evaluate_every=1",
            "--set",
            "dump.formats=[\"npz\"]",
        ];
        run(&[&["train", "--set", &seed, "--run", text(&path)][..], &each].concat()).done();
        let learned = metrics(&path)
            .into_iter()
            .find(|line| line["held_out_f1"].as_f64() >= Some(0.99));
        assert_eq!(row["learned_at_step"], learned.unwrap()["step"]);
    }
}

#[test]
fn a_grid_varies_keys_and_a_failing_run_does_not_stop_the_rest() {
    let folder = folder("sweep_grid");
    let out = folder.join("rows.jsonl");
    let grid = [
        "--grid",
        "training.learning_rate=1e-3,1e37",
        "--grid",
        "model.n_layers=1,2",
        "--set",
        "data.samples=320",
    ];
    let finished = sweep(&out, "0..2", &grid);
    // Each failure names its place in the grid; the last line counts them.
    ended(&finished, 3, &["training.learning_rate=1e+37", "4", "8"]);
    assert!(mentions(&finished.stdout, "8") && mentions(&finished.stdout, "4"));
    let rows = rows(&out);
    let places: Vec<(u64, u64)> = rows
        .iter()
        .map(|row| {
            (
                row["seed"].as_u64().unwrap(),
                row["point"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        places,
        [
            (0, 0),
            (0, 1),
            (0, 2),
            (0, 3),
            (1, 0),
            (1, 1),
            (1, 2),
            (1, 3)
        ]
    );
    for row in &rows {
        let hopeless = row["training.learning_rate"] == 1e37;
        assert_eq!(row.get("error").is_some(), hopeless, "{row}");
        assert_eq!(row.get("weights_sha256").is_some(), !hopeless);
        assert_eq!(
            row["model.n_layers"],
            if row["point"].as_u64().unwrap() % 2 == 0 {
                1
            } else {
                2
            }
        );
    }
    // Failed runs are finished runs: they would fail again.
    let before = fs::read(&out).unwrap();
    assert_eq!(sweep(&out, "0..2", &grid).code, Some(3));
    assert_eq!(before, fs::read(&out).unwrap());

    let table = folder.join("rows.csv");
    run(&["merge", text(&out), "--out", text(&table)]).done();
    let mut reader = csv::Reader::from_path(&table).unwrap();
    let header = reader.headers().unwrap().clone();
    assert_eq!(
        &header.iter().take(5).collect::<Vec<_>>(),
        &[
            "seed",
            "point",
            "model.n_layers",
            "training.learning_rate",
            "epoch_loss_1"
        ]
    );
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    for (record, row) in reader.records().map(Result::unwrap).zip(&rows) {
        let cell = |name: &str| record[column(name)].parse::<f64>().ok();
        assert_eq!(cell("final_loss"), row["final_loss"].as_f64());
        assert_eq!(
            cell("attention_positive_3"),
            row["attention_positive"][3].as_f64()
        );
        assert_eq!(
            record[column("error")].is_empty(),
            row.get("error").is_none()
        );
    }
}

/// The training samples have finite outputs, and other inputs, which the measure asks about, do not.
#[test]
fn a_model_whose_certificate_overflows_is_a_failed_run() {
    let folder = folder("sweep_overflow");
    let (config, out) = (folder.join("config.toml"), folder.join("rows.jsonl"));
    let text_of_config = r#"
        data = { vocab_size = 60, seq_len = 2, samples = 2, generator = "chacha", rule = { kind = "token-anywhere", token = 3 } }
        model = { d_model = 8, n_heads = 1, n_layers = 1, norm = "none", d_ff = 64, init = { scheme = "normal", std = { all = 9e5, query = 0.0, key = 0.0 } } }
        training = { epochs = 1, batch_size = 4, optimizer = "sgd", learning_rate = 1e-35 }
        report = { measures = ["wrong_inputs"] }
    "#;
    fs::write(&config, text_of_config).unwrap();
    let ended = run(&[
        "sweep",
        text(&config),
        "--seeds",
        "2..3",
        "--out",
        text(&out),
    ]);
    assert_eq!(ended.code, Some(3));
    let rows = rows(&out);
    assert!(
        rows[0]["error"].as_str().unwrap().contains("not finite"),
        "{rows:?}"
    );
}

#[test]
fn pictures_and_numbers_end_a_sweep() {
    let folder = folder("sweep_summary");
    let out = folder.join("rows.jsonl");
    let stdout = run(&["sweep", "--seeds", "0..20", "--out", text(&out)])
        .done()
        .stdout;
    for part in ["20", "0.99", "100.0%"] {
        assert!(mentions(&stdout, part), "{part}: {stdout}");
    }
    let values: Vec<f64> = rows(&out)
        .iter()
        .map(|row| row["attention_positive"][3].as_f64().unwrap())
        .collect();
    let mean = values.iter().sum::<f64>() / 20.0;
    let line = stdout
        .lines()
        .find(|line| line.starts_with("| label 1: attention on position 3"))
        .unwrap();
    assert_eq!(line.split('|').nth(2).unwrap().trim(), format!("{mean:.3}"));
    let bars: usize = stdout
        .split("learned at step\n")
        .last()
        .unwrap()
        .lines()
        .filter(|line| line.contains('–'))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
        .sum();
    assert_eq!(bars, 20, "each run is in one bar: {stdout}");
    let picture = fs::read_to_string(folder.join("rows.svg")).unwrap();
    assert_eq!(picture.matches("class=\"dot\"").count(), 20);
}

#[test]
fn contradictory_sweeps_are_refused() {
    let folder = folder("sweep_refused");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..3", &[]).done();
    let before = contents(&folder);
    let cases: [(&str, &[&str], &[&str]); 10] = [
        ("3", &[], &["--seeds", "'3'", "A..B"]),
        ("3..3", &[], &["--seeds", "3..3"]),
        ("0..3", &["--shard", "0/4"], &["--shard", "0/4", "1"]),
        (
            "0..3",
            &["--grid", "model.d_modl=4,8"],
            &["`d_modl`", "`d_model`"],
        ),
        (
            "0..3",
            &["--grid", "model.d_model=4,none"],
            &["--grid", "model.d_model"],
        ),
        ("0..3", &["--grid", "seed=1,2"], &["seed", "--seeds"]),
        (
            "0..3",
            &["--grid", "model.d_model=4", "--grid", "model.d_model=8"],
            &["--grid", "model.d_model"],
        ),
        (
            "0..3",
            &["--set", "training.batch_size=32"],
            &["rows.jsonl", "line 1"],
        ),
        ("1..4", &[], &["rows.jsonl", "line 1", "seed 0", "seed 1"]),
        ("0..2", &[], &["rows.jsonl", "2"]),
    ];
    for (seeds, flags, parts) in cases {
        refused(&sweep(&out, seeds, flags), parts);
    }
    let parquet = folder.join("rows.parquet");
    refused(&sweep(&parquet, "0..2", &[]), &["rows.parquet", ".jsonl"]);
    let nowhere = folder.join("nowhere/rows.jsonl");
    refused(
        &sweep(&nowhere, "0..2", &[]),
        &[text(&folder.join("nowhere"))],
    );
    // A sweep trains every run to its end.
    let patience = [
        "--set",
        "training.keep_best=loss",
        "--grid",
        "training.patience=1,2",
    ];
    refused(&sweep(&out, "0..3", &patience), &["training.patience"]);
    assert!(contents(&folder) == before);

    let words = folder.join("words.jsonl");
    fs::write(&words, "once upon a time\n").unwrap();
    refused(&sweep(&words, "0..2", &[]), &["words.jsonl", "line 1"]);
    assert_eq!(fs::read_to_string(&words).unwrap(), "once upon a time\n");
}
