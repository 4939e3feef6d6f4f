//! Measures from outside: as columns of a sweep's rows, in its report, in `evaluate`, and refused before training.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::sweeps::rows;
use crate::common::{folder, refuses_in, run_in, typed};
use serde_json::Value;

const CONFIG: &str = r#"
data = { generator = "all", samples = 90, held_out = 31, vocab_size = 11, seq_len = 2, cls = "none", rule = { kind = "sum-mod", modulus = 11 } }
model = { d_model = 8, n_heads = 2, norm = "none", d_ff = 16 }
training = { epochs = 4, batch_size = 16, learning_rate = 0.01 }
"#;

const MEASURES: &str = "report.measures=[\"kendall_removal\", \"deciding_attention\", \"kendall_gradient\", \"deciding_uniform\"]";

/// A folder with the config.
fn with_config(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::write(folder.join("sums.toml"), CONFIG).unwrap();
    folder
}

fn sweep(folder: &Path, out: &str, more: &[&str]) -> String {
    let sweep = ["sweep", "sums.toml", "--out", out];
    run_in(folder, &[&sweep, more].concat()).done().stdout
}

#[test]
fn rows_have_the_measures_that_the_config_names() {
    let folder = with_config("measures_rows");
    let own = ["--seeds", "0..3", "--set", MEASURES];
    sweep(
        &folder,
        "one.jsonl",
        &[&own[..], &["--threads", "1"]].concat(),
    );
    sweep(
        &folder,
        "three.jsonl",
        &[&own[..], &["--threads", "3"]].concat(),
    );
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    assert_eq!(bytes("one.jsonl"), bytes("three.jsonl"));
    // In the order of the table, between the step and the weights.
    let text = String::from_utf8(bytes("one.jsonl")).unwrap();
    let places = [
        "learned_at_step",
        "deciding_attention",
        "deciding_uniform",
        "kendall_gradient",
        "kendall_removal",
        "weights_sha256",
    ];
    let places = places.map(|name| text.find(&format!("\"{name}\"")).unwrap());
    assert!(places.is_sorted(), "{text}");
    // A run that `train` makes has the same values, also in its report.
    let train = [
        "train",
        "sums.toml",
        "--run",
        "run",
        "--set",
        "seed=2",
        "--set",
        MEASURES,
    ];
    run_in(&folder, &train).done();
    let evaluated = typed(&folder, "evaluate run --json").done().stdout;
    let evaluated: Value = serde_json::from_str(&evaluated).unwrap();
    let row = &rows(&folder.join("one.jsonl"))[2];
    assert_eq!(evaluated["measures"].as_object().unwrap().len(), 4);
    for (name, value) in evaluated["measures"].as_object().unwrap() {
        assert_eq!(*value, row[name], "{name}");
    }
    let shown = typed(&folder, "evaluate run").done().stdout;
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    for text in [shown, report] {
        assert!(
            text.contains("Measures") && text.contains("kendall_removal: Whether the words"),
            "{text}"
        );
    }
    // `evaluate` gives no measures of a changed model.
    let changed = typed(&folder, "evaluate run --json --without-head 0.1").done();
    assert!(!changed.stdout.contains("measures"), "{}", changed.stdout);
    // The same rows, resumed and as CSV.
    sweep(
        &folder,
        "one.jsonl",
        &["--seeds", "0..4", "--set", MEASURES],
    );
    assert_eq!(rows(&folder.join("one.jsonl")).len(), 4);
    typed(&folder, "merge one.jsonl --out all.csv").done();
    let table = fs::read_to_string(folder.join("all.csv")).unwrap();
    let header = table.lines().next().unwrap();
    let columns = "learned_at_step,deciding_attention_0_0,deciding_attention_0_1,deciding_uniform,kendall_gradient,kendall_removal,weights_sha256";
    assert!(header.contains(columns), "{header}");
}

/// Rows without measures have another config, and are those of earlier versions: no key more.
#[test]
fn rows_of_configs_with_and_without_measures_do_not_mix() {
    let folder = with_config("measures_mixed");
    sweep(&folder, "without.jsonl", &["--seeds", "0..2"]);
    let text = fs::read_to_string(folder.join("without.jsonl")).unwrap();
    assert!(
        !text.contains("kendall_removal") && !text.contains("measures"),
        "{text}"
    );
    let more = [
        "sweep",
        "sums.toml",
        "--seeds",
        "0..2",
        "--out",
        "without.jsonl",
        "--set",
        MEASURES,
    ];
    refuses_in(&folder, &more, &["report.measures", "without.jsonl"]);
    // A row that lacks a measure is no row of this sweep.
    sweep(
        &folder,
        "with.jsonl",
        &["--seeds", "0..1", "--set", MEASURES],
    );
    let row = fs::read_to_string(folder.join("with.jsonl")).unwrap();
    fs::write(
        folder.join("with.jsonl"),
        row.replace("\"kendall_removal\"", "\"roundness\""),
    )
    .unwrap();
    let more = [
        "sweep",
        "sums.toml",
        "--seeds",
        "0..2",
        "--out",
        "with.jsonl",
        "--set",
        MEASURES,
    ];
    refuses_in(&folder, &more, &["kendall_removal", "missing"]);
}

#[test]
fn a_report_draws_curves_and_maps_of_measures() {
    let folder = with_config("measures_report");
    let grid = [
        "--seeds",
        "0..2",
        "--set",
        "report.measures=[\"kendall_removal\"]",
        "--grid",
        "model.d_ff=4,8,16",
        "--grid",
        "training.learning_rate=0.003,0.01",
    ];
    let printed = sweep(&folder, "grid.jsonl", &grid);
    assert!(
        printed.contains("kendall_removal by training.learning_rate and model.d_ff"),
        "{printed}"
    );
    let picture = fs::read_to_string(folder.join("grid.svg")).unwrap();
    for part in [
        "mean kendall_removal",
        "model.d_ff = 8, training.learning_rate = 0.01: ",
    ] {
        assert!(picture.contains(part), "{part}");
    }
    // One number by one key: no map.
    let one = [
        "report",
        "grid.jsonl",
        "--by",
        "model.d_ff",
        "--metric",
        "accuracy",
        "--svg",
        "one.svg",
    ];
    run_in(&folder, &one).done();
    let picture = fs::read_to_string(folder.join("one.svg")).unwrap();
    assert!(
        picture.contains("mean accuracy") && !picture.contains("kendall_removal"),
        "{picture}"
    );
    assert!(!picture.contains("model.d_ff = 8"));
    let json = [
        "report",
        "grid.jsonl",
        "--metric",
        "held_out_accuracy",
        "--by",
        "training.learning_rate",
        "--by",
        "model.d_ff",
        "--json",
    ];
    let found: Value = serde_json::from_str(&run_in(&folder, &json).done().stdout).unwrap();
    assert_eq!(found["grids"][0]["metric"], "held_out_accuracy");
    assert_eq!(
        found["grids"][0]["values"][1],
        serde_json::json!([4, 8, 16])
    );
    assert_eq!(found["grids"][0]["cells"][2][1]["runs"], 2);
    let unknown = ["report", "grid.jsonl", "--metric", "roundness"];
    refuses_in(
        &folder,
        &unknown,
        &["--metric roundness", "grid.jsonl", "kendall_removal"],
    );
}

/// Before anything is trained.
#[test]
fn measures_that_a_model_lacks_are_refused() {
    let folder = with_config("measures_refused");
    let sweep = [
        "sweep",
        "sums.toml",
        "--seeds",
        "0..2",
        "--out",
        "rows.jsonl",
    ];
    let set = ["--set", "report.measures=[\"gap\"]"];
    let parts = ["report.measures", "gap", "two classes"];
    refuses_in(&folder, &[&sweep[..], &set].concat(), &parts);
    refuses_in(
        &folder,
        &[&["train", "sums.toml", "--run", "run"], &set[..]].concat(),
        &parts,
    );
    let unknown = ["--set", "report.measures=[\"roundness\"]"];
    refuses_in(
        &folder,
        &[&sweep[..], &unknown].concat(),
        &["roundness", "kendall_removal"],
    );
}
