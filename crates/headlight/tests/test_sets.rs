//! Test sets: samples that differ from those of training, in metrics, reports and rows.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::sweeps::rows;
use crate::common::{asked, folder, metrics, refuses_each, refuses_typed, set, typed};

const CONFIG: &str = "\
[data]
generator = \"chacha\"
samples = 400
held_out = 80
vocab_size = 9
seq_len = 4
balanced = true
rule = { kind = \"token-anywhere\", token = 3 }

[[tests]]
name = \"longer\"
file = \"longer.npz\"
seq_len = 7

[[tests]]
name = \"noisy\"
label_noise = 0.25
samples = 2000

[[tests]]
name = \"last\"
at_end = true
rule = { kind = \"token-at-position\", token = 3, position = 2 }

[model]
d_model = 8
n_heads = 2
positions = false

[training]
epochs = 20
learning_rate = 0.01
";

/// As [`CONFIG`], but of the length of its longer test set, and without test sets.
const LONGER: &str = "\
data = { generator = \"chacha\", samples = 310, vocab_size = 9, seq_len = 7, balanced = true, \
rule = { kind = \"token-anywhere\", token = 3 } }
model = { d_model = 8, n_heads = 2, positions = false }
training = { epochs = 1 }
";

fn in_folder(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("c.toml"), CONFIG).unwrap();
    fs::write(folder.join("long.toml"), LONGER).unwrap();
    typed(&folder, "data long.toml --out longer.npz").done();
    folder
}

fn train(folder: &Path, run: &str, more: &str) -> Vec<Value> {
    typed(folder, &format!("train c.toml --run {run} {more}")).done();
    metrics(&folder.join(run))
}

fn close(found: &Value, expected: &Value, bound: f64) {
    let [found, expected] = [found, expected].map(|value| value.as_f64().unwrap());
    assert!((found - expected).abs() < bound, "{found}, not {expected}");
}

/// The weights of the short run in a config of longer samples give the metrics of the longer test set.
#[test]
fn a_longer_test_set_has_the_metrics_of_its_samples() {
    let folder = in_folder("tests_longer");
    let last = train(&folder, "r", "").pop().unwrap();
    typed(&folder, "train long.toml --run long").done();
    let weights = "evaluate long longer.npz --weights r/model.safetensors";
    let assessed = asked(&folder, weights);
    let longer = &last["tests"]["longer"];
    close(&longer["loss"], &assessed["loss"], 1e-12);
    close(&longer["accuracy"], &assessed["accuracy"], 1e-12);
    assert_eq!(assessed["samples"], 310);

    let report = fs::read_to_string(folder.join("r/report.md")).unwrap();
    let row = |name: &str| {
        let start = format!("| {name} ");
        let row = report.lines().find(|line| line.starts_with(&start));
        let cells = row.unwrap().split('|').map(str::trim);
        cells.collect::<Vec<_>>()
    };
    assert_eq!(row("longer")[2], "310");
    assert_eq!(row("held-out")[2], "80");
    let accuracy = longer["accuracy"].as_f64().unwrap();
    assert_eq!(row("longer")[4], format!("{accuracy:.5}"));

    let burn = train(&folder, "b", "--engine burn").pop().unwrap();
    for name in ["longer", "noisy", "last"] {
        let [burn, own] = [&burn, &last].map(|row| &row["tests"][name]["loss"]);
        close(burn, own, 1e-3);
    }
}

/// A quarter of the labels is wrong, so a model that is always right has a quarter of them wrong.
#[test]
fn noise_is_in_the_labels_and_the_end_has_its_own_sets() {
    let folder = in_folder("tests_noise");
    let all = train(&folder, "r", "");
    let (last, before) = all.split_last().unwrap();
    close(&last["held_out_accuracy"], &1.0.into(), 1e-9);
    // Five standard deviations of 2,000 labels.
    close(&last["tests"]["noisy"]["accuracy"], &0.75.into(), 0.05);
    assert!(last["tests"]["last"]["accuracy"].is_number());
    for row in before {
        assert!(row["tests"]["noisy"]["accuracy"].is_number());
        assert!(row["tests"].get("last").is_none());
    }
    // Training that stops early ends there.
    let late = set(
        "training.keep_best=held_out_loss training.patience=1 training.learning_rate=0.3 \
                    training.epochs=60",
    );
    let stopped = train(&folder, "s", &late);
    let (last, before) = stopped.split_last().unwrap();
    assert!(stopped.len() < 61);
    assert!(last["tests"].get("last").is_some());
    assert!(before.iter().all(|row| row["tests"].get("last").is_none()));
}

/// Rows hold what `train` writes at its end; tables and comparisons have them.
#[test]
fn rows_and_their_tables_have_the_test_sets() {
    let folder = in_folder("tests_rows");
    let last = train(&folder, "r", "--set seed=1").pop().unwrap();
    let sweep = "sweep c.toml --seeds 0..3 --grid model.d_model=4,8 --out s.jsonl";
    typed(&folder, sweep).done();
    let rows = rows(&folder.join("s.jsonl"));
    let is_same = |row: &&Value| row["seed"] == 1 && row["model.d_model"] == 8;
    let same = rows.iter().find(is_same).unwrap();
    assert_eq!(same["tests"], last["tests"]);

    typed(&folder, "merge s.jsonl --out s.csv").done();
    let table = fs::read_to_string(folder.join("s.csv")).unwrap();
    let cells = |line: &'_ str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut lines = table.lines().map(cells);
    let header = lines.next().unwrap();
    let column = header.iter().position(|name| *name == "tests.noisy.f1");
    for (line, row) in lines.zip(&rows) {
        let cell: f64 = line[column.unwrap()].parse().unwrap();
        close(&row["tests"]["noisy"]["f1"], &cell.into(), 1e-15);
    }

    let report = asked(&folder, "report s.jsonl");
    let f1 = |point: usize| {
        let own = rows.iter().filter(|row| row["point"] == point);
        let each = own.map(|row| row["tests"]["noisy"]["f1"].as_f64().unwrap());
        each.sum::<f64>() / 3.0
    };
    for (of, mean) in [
        (&report["groups"][1], f1(1)),
        (&report["samples"], f64::midpoint(f1(0), f1(1))),
    ] {
        close(&of["tests.noisy.f1"]["mean"], &mean.into(), 1e-12);
    }

    // A row without one of the sets is not one of this sweep.
    let cut = fs::read_to_string(folder.join("s.jsonl")).unwrap();
    let cut = cut.replace("\"noisy\":", "\"other\":");
    fs::write(folder.join("s.jsonl"), cut).unwrap();
    refuses_typed(&folder, sweep, &["s.jsonl"]);
}

/// The page of a run of a file with a test set of a file tells what came of it, also when it is written again. Of the 310 samples, those
/// that are not held out are known.
#[test]
fn the_page_of_file_data_has_its_outcome() {
    let folder = in_folder("tests_page");
    typed(&folder, "data long.toml --out longer.csv").done();
    let config = "data = { file = \"longer.csv\", held_out = 60 }\nmodel = { d_model = 4 }\n\
                  training = { epochs = 1 }\ntests = [{ name = \"own\", file = \"longer.csv\" }]\n";
    fs::write(folder.join("own.toml"), config).unwrap();
    let told = typed(&folder, "train own.toml --run own").done().stderr;
    typed(&folder, "inspect own --html again.html").done();
    let known = "Samples of test set `own` with the tokens of a training sample: 250.";
    assert!(told.contains(known), "{told}");
    for file in ["own/report.md", "own/inspector.html", "again.html"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains(known), "{text:.200}");
        assert!(file == "own/report.md" || text.contains("\"outcome\":\""));
    }
}

#[test]
fn a_resumed_run_has_the_same_test_sets() {
    let folder = in_folder("tests_resumed");
    let whole = train(&folder, "r", "");
    train(&folder, "s", "--set training.epochs=10");
    let resumed = train(&folder, "s", "--resume --set training.epochs=20");
    assert_eq!(resumed.last(), whole.last());
}

const REFUSED: &str = r#"
model.positions=true
'tests=[{ name = "a" }, { name = "a" }]'
'tests=[{ name = "a b" }]'
'tests=[{ name = "a", other = 1 }]'
'tests=[{ name = "a", samples = 0 }]'
'tests=[{ name = "a", file = "longer.npz" }]'
'tests=[{ name = "a", file = "longer.npz", samples = 5 }]'
'tests=[{ name = "a", file = "none.npz" }]'
'tests=[{ name = "a", rule = { kind = "sum-mod", modulus = 5 } }]'
'tests=[{ name = "a", rule = { kind = "sort" } }]'
'tests={ name = "a" }'
'tests=[{ name = "a", rule = ["majority", 3] }]'
"#;

#[test]
fn a_test_set_that_does_not_fit_is_refused_before_training() {
    let folder = in_folder("tests_refused");
    refuses_each(&folder, "train c.toml --run r --set", REFUSED);
    // Shorter samples need the first of the learned positions.
    let shorter = "--set model.positions=true --set 'tests=[{ name = \"short\", seq_len = 2 }]'";
    let last = train(&folder, "r", shorter).pop().unwrap();
    assert!(last["tests"]["short"]["loss"].is_number());
}
