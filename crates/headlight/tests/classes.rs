//! More than two classes, from the config to the run, its dumps, predictions, sweeps and page.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

mod long_names;

use std::fs;

use crate::common::sweeps::rows;
use crate::common::{
    asked, folder, mentions, metrics, printed, read_dump, refuses_each, refuses_typed, typed,
};
use serde_json::Value;

const TRAIN: &str = "train count --set data.samples=1600 --run";

/// Both engines. Their rounding errors grow exponentially in later epochs of this config.
#[test]
fn a_run_of_three_classes_has_metrics_of_each() {
    let folder = folder("classes");
    let ended = ["fused", "burn"].map(|engine| {
        let more = format!("--engine {engine} --set training.epochs=1");
        typed(&folder, &format!("{TRAIN} {engine} {more}")).done();
        metrics(&folder.join(engine)).pop().unwrap()
    });
    let [last, on_burn] = &ended;
    let loss = |line: &Value| line["loss"].as_f64().unwrap();
    assert!((loss(last) - loss(on_burn)).abs() < 1e-5 * loss(on_burn));
    for classes in ["classes", "held_out_classes"] {
        let classes = last[classes].as_array().unwrap();
        assert_eq!(classes.len(), 3);
        let f1 = classes.iter().map(|class| class["f1"].as_f64().unwrap());
        assert!(f1.clone().all(|f1| (0.0..=1.0).contains(&f1)));
    }
    let f1 = |class: usize| last["classes"][class]["f1"].as_f64().unwrap();
    let mean = (f1(0) + f1(1) + f1(2)) / 3.0;
    assert!((last["f1"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert_eq!(last["min_positive"], Value::Null);
    // Samples without the token have no position that decides.
    assert_eq!(last["classes"][0]["attention"], Value::Null);
    assert!(last["classes"][1]["attention"].is_f64());
    let report = fs::read_to_string(folder.join("fused/report.md")).unwrap();
    assert!(mentions(&report, "(batch, 3)"), "{report}");
}

#[test]
fn dumps_and_predictions_have_a_probability_per_class() {
    let folder = folder("classes_dump");
    typed(&folder, &format!("{TRAIN} run --set training.epochs=2")).done();
    let dump = read_dump(folder.join("run/attention/step-000200.npz"));
    assert_eq!(dump.dims.logits, 3);
    assert_eq!(dump.meta.axes["logits"], ["sample", "class"]);
    assert_eq!(dump.logits.len(), 3 * dump.dims.samples);
    for sample in 0..dump.dims.samples {
        let sum: f32 = dump.probabilities(sample).iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        let found = dump.tokens(sample).iter().filter(|&&token| token == 7);
        assert!((dump.labels[sample] - found.count().min(2) as f32).abs() < 1e-6);
    }
    let told = printed(&folder, "predict run --tokens '0 7 1 7 2 3 4'");
    let expected = "rule: class 2 (how often token 7 occurs)";
    assert!(mentions(&told, expected), "{told}");
    typed(&folder, "inspect run --html page.html").done();
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("\"logits\":3"));

    let sample = "{\"label\":3,\"tokens\":[0,1,2,3,4,5,6]}\n";
    fs::write(folder.join("x.jsonl"), sample).unwrap();
    let dump = "dump count --weights run/model.safetensors --samples x.jsonl --out x.npz";
    refuses_typed(&folder, dump, &["x.jsonl", "3", "0 to 2"]);
}

/// A sweep's row is the run of its seed; the report needs no column of its own.
#[test]
fn sweeps_and_their_reports_take_classes() {
    let folder = folder("classes_sweep");
    typed(&folder, &format!("{TRAIN} run")).done();
    let sweep = "sweep count --set data.samples=1600 --seeds 0..2 --out rows.jsonl";
    typed(&folder, sweep).done();
    let row = &rows(&folder.join("rows.jsonl"))[0];
    let last = metrics(&folder.join("run")).pop().unwrap();
    assert_eq!(row["f1"], last["f1"]);
    assert_eq!(row["held_out_f1"], last["held_out_f1"]);
    assert_eq!(row["final_loss"], last["loss"]);
    assert_eq!(row["min_positive"], Value::Null);
    typed(&folder, "report rows.jsonl").done();
}

#[test]
fn files_have_labels_of_all_classes() {
    let folder = folder("classes_file");
    let told = printed(&folder, "data count --out data.csv");
    assert!(mentions(&told, "by class"), "{told}");
    let config = "data = { file = \"none.csv\", vocab_size = 11, seq_len = 6 }\n\
                  model.d_model = 4\ntraining.epochs = 1\n";
    fs::write(folder.join("file.toml"), config).unwrap();
    let train = "train file.toml --run run --set data.file=data.csv";
    let two = format!("{train} --set data.n_classes=2");
    refuses_typed(&folder, &two, &["data.csv: line", "data.n_classes", "2"]);
    typed(&folder, train).done();
    let rows = fs::read_to_string(folder.join("data.csv")).unwrap();
    let most = rows.lines().filter(|line| line.starts_with("train,2,"));
    let last = metrics(&folder.join("run")).pop().unwrap();
    assert_eq!(last["classes"][2]["samples"], most.count());
}

#[test]
fn numbers_of_classes_that_cannot_be_are_refused() {
    let refused = "
data.n_classes=1       | n_classes | 1
data.n_classes=8       | n_classes | 7
data.positive_rate=0.5 | positive_rate | 3
";
    let train = format!("{TRAIN} run --set");
    refuses_each(&folder("classes_refused"), &train, refused);
}

/// An evaluation with numbers for each of so many classes would take a megabyte. The run is read back, resumed, evaluated and shown.
#[test]
fn thousands_of_classes_are_read_back() {
    let folder = folder("classes_thousands");
    let name = "a rather long name of a class";
    let row = |class: usize| format!("{name} {class},{},{}\n", class % 90, class / 90);
    let rows: String = (0..2000).chain(0..100).map(row).collect();
    let rows = format!("label,token_0,token_1\n{rows}");
    fs::write(folder.join("many.csv"), rows).unwrap();
    let config =
        "data = { file = \"many.csv\", cls = \"none\", held_out = 100 }\nmodel.d_model = 2\n";
    let config = format!("{config}training = {{ epochs = 1, batch_size = 500 }}\n");
    fs::write(folder.join("many.toml"), config).unwrap();
    let done = |line: &str| typed(&folder, line).done();
    done("train many.toml --run run");
    done("train --resume --run run --set training.epochs=2");
    let lines = metrics(&folder.join("run"));
    assert_eq!(lines.len(), 3);
    for line in &lines {
        assert!(line.get("classes").is_none() && line.get("held_out_classes").is_none());
        assert!(line.to_string().len() < 2000);
    }
    let evaluated = asked(&folder, "evaluate run");
    assert_eq!(evaluated["classes"].as_array().unwrap().len(), 2000);
    assert_eq!(evaluated["accuracy"], lines[2]["held_out_accuracy"]);
    for line in ["compare run", "verify run", "inspect run --html page.html"] {
        done(line);
    }
    done("sweep many.toml --seeds 0..1 --out rows.jsonl");
    done("report rows.jsonl");
}
