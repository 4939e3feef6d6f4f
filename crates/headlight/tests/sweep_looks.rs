//! Where the runs of a sweep look: the positions that decide each sample, the names of classes, and the config beside the
//! results.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::sweeps::rows;
use crate::common::{asked, folder, metrics, printed, refuses_typed, typed};
use serde_json::Value;

/// The words that decide stand elsewhere in each sentence: no position is named, and each sample has its own.
#[test]
fn texts_are_measured_sample_by_sample() {
    let folder = folder("looks_texts");
    let small = "--set data.samples=400 --set data.held_out=50 --set training.epochs=1";
    let sweep = format!("sweep negation --seeds 0..3 --out n.jsonl {small}");
    let told = printed(&folder, &sweep);
    for part in ["attention on position ", "negatives"] {
        assert!(!told.contains(part), "{told}");
    }
    assert!(told.contains("bad"), "{told}");
    let values = asked(&folder, "report n.jsonl");
    assert_eq!(values["positions_of_attention"], Value::Null);
    let looks = ["looks_towards", "looks_away"].map(|key| values[key].as_u64().unwrap());
    assert_eq!(looks.iter().sum::<u64>(), 3);
    // What training says of the same seed.
    typed(
        &folder,
        &format!("train negation --set seed=1 --run run {small}"),
    )
    .done();
    let last = metrics(&folder.join("run")).pop().unwrap();
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
    let sweep = "sweep c.csv --seeds 0..2 --out c.jsonl --set training.epochs=1";
    let screen = printed(&folder, sweep);
    assert!(!screen.contains("short samples"), "{screen}");
}

/// Each point of a grid over rules is measured at its own position, and counted.
#[test]
fn each_point_has_its_own_positions() {
    let folder = folder("looks_points");
    let sweep = "sweep quick --seeds 0..6 --out p.jsonl --grid data.rule.position=3,5";
    typed(&folder, sweep).done();
    let mut towards = [0; 2];
    for row in rows(&folder.join("p.jsonl")) {
        let (point, position) = [(0, 3), (1, 5)][row["point"].as_u64().unwrap() as usize];
        let paid = row["attention_positive"][position].as_f64().unwrap();
        towards[point] += u64::from(paid > 1.0 / 7.0);
    }
    let values = asked(&folder, "report p.jsonl");
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
    let sweep = |more: &str| format!("sweep quick --seeds 0..2 --out {more}");
    typed(&folder, &sweep("a.jsonl --set training.epochs=1")).done();
    let other = sweep("a.jsonl --set training.epochs=2 --engine burn");
    let parts = ["`training.epochs` is 1, not 2", "compute.engine"];
    refuses_typed(&folder, &other, &parts);
    typed(&folder, &sweep("b.jsonl --set training.epochs=2")).done();
    let merge = "merge a.jsonl b.jsonl --out c.jsonl";
    refuses_typed(&folder, merge, &["`training.epochs` is 2, not 1"]);
    typed(&folder, "merge a.jsonl --out c.jsonl").done();
    assert!(folder.join("c.config.toml").exists());

    typed(&folder, "train a.config.toml --set seed=1 --run run").done();
    let manifest = fs::read_to_string(folder.join("run/manifest.sha256")).unwrap();
    let hash = rows(&folder.join("a.jsonl"))[1]["weights_sha256"].clone();
    assert!(manifest.contains(hash.as_str().unwrap()));

    fs::write(folder.join("mine.config.toml"), "# mine\n").unwrap();
    typed(&folder, &sweep("mine.jsonl")).done();
    let mine = fs::read_to_string(folder.join("mine.config.toml")).unwrap();
    assert_eq!(mine, "# mine\n");
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
        let sweep = format!("sweep {file} --folds 2 --out {out} --set training.epochs=2");
        let told = typed(&folder, &sweep).done().stderr;
        assert!(told.contains("training.patience"), "{told}");
        let rows = rows(&folder.join(out)).into_iter();
        let hashes = rows.map(|row| row["weights_sha256"].clone());
        hashes.collect::<Vec<_>>()
    };
    assert_eq!(sweep("f.csv", "a.jsonl"), sweep("f.toml", "b.jsonl"));
    let values = asked(&folder, "report a.jsonl --position 1");
    assert!(values["samples"]["attention_of_positives"]["mean"].is_number());
    assert_eq!(values["looks_towards"], Value::Null);
    assert_eq!(values["looks_away"], Value::Null);
}
