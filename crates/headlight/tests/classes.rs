//! More than two classes, from the config to the run, its dumps, predictions, sweeps and page.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

mod long_names;

use std::fs;
use std::path::Path;

use crate::common::sweeps::rows;
use crate::common::{Finished, folder, mentions, metrics, read_dump, refused, run, text, typed};
use serde_json::Value;

const COUNT: &str = "configs/count.toml";

fn train(path: &Path, more: &[&str]) -> Finished {
    let command = ["train", COUNT, "--run", text(path), "--set"];
    run(&[&command[..], &["data.samples=1600"], more].concat())
}

/// Both engines. Their rounding errors grow exponentially in later epochs of this config.
#[test]
fn a_run_of_three_classes_has_metrics_of_each() {
    let folder = folder("classes");
    let ended = ["fused", "burn"].map(|engine| {
        let path = folder.join(engine);
        train(&path, &["--engine", engine, "--set", "training.epochs=1"]).done();
        metrics(&path).pop().unwrap()
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
    let [path, samples, page] = ["run", "samples.jsonl", "page.html"].map(|name| folder.join(name));
    train(&path, &["--set", "training.epochs=2"]).done();
    let dump = read_dump(path.join("attention/step-000200.npz"));
    assert_eq!(dump.dims.logits, 3);
    assert_eq!(dump.meta.axes["logits"], ["sample", "class"]);
    assert_eq!(dump.logits.len(), 3 * dump.dims.samples);
    for sample in 0..dump.dims.samples {
        let sum: f32 = dump.probabilities(sample).iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        let found = dump.tokens(sample).iter().filter(|&&token| token == 7);
        assert!((dump.labels[sample] - found.count().min(2) as f32).abs() < 1e-6);
    }
    let predict = |tokens| run(&["predict", text(&path), "--tokens", tokens]);
    let told = predict("0 7 1 7 2 3 4").done().stdout;
    assert!(
        mentions(&told, "rule: class 2 (how often token 7 occurs)"),
        "{told}"
    );
    run(&["inspect", text(&path), "--html", text(&page)]).done();
    assert!(fs::read_to_string(&page).unwrap().contains("\"logits\":3"));

    fs::write(&samples, "{\"label\":3,\"tokens\":[0,1,2,3,4,5,6]}\n").unwrap();
    let out = folder.join("out.npz");
    let weights = path.join("model.safetensors");
    let of_file = ["dump", COUNT, "--weights", text(&weights), "--samples"];
    let of_file = run(&[&of_file, &[text(&samples), "--out", text(&out)][..]].concat());
    refused(&of_file, &["samples.jsonl", "3", "0 to 2"]);
}

/// A sweep's row is the run of its seed; the report needs no column of its own.
#[test]
fn sweeps_and_their_reports_take_classes() {
    let folder = folder("classes_sweep");
    let [path, out] = ["run", "rows.jsonl"].map(|name| folder.join(name));
    train(&path, &[]).done();
    let sweep = [
        "sweep",
        COUNT,
        "--seeds",
        "0..2",
        "--out",
        text(&out),
        "--set",
    ];
    run(&[&sweep[..], &["data.samples=1600"]].concat()).done();
    let row = &rows(&out)[0];
    let last = metrics(&path).pop().unwrap();
    assert_eq!(row["f1"], last["f1"]);
    assert_eq!(row["held_out_f1"], last["held_out_f1"]);
    assert_eq!(row["final_loss"], last["loss"]);
    assert_eq!(row["min_positive"], Value::Null);
    run(&["report", text(&out)]).done();
}

#[test]
fn files_have_labels_of_all_classes() {
    let folder = folder("classes_file");
    let [data, path] = ["data.csv", "run"].map(|name| folder.join(name));
    let told = run(&["data", COUNT, "--out", text(&data)]).done().stdout;
    assert!(mentions(&told, "by class"), "{told}");
    let file = format!("data.file={}", text(&data));
    let config = folder.join("file.toml");
    let toml = "[data]\nfile = \"none.csv\"\nvocab_size = 11\nseq_len = 6\n[model]\nd_model = 4\n[training]\nepochs = 1\n";
    fs::write(&config, toml).unwrap();
    let train = |more: &[&str]| {
        let command = ["train", text(&config), "--run", text(&path), "--set", &file];
        run(&[&command[..], more].concat())
    };
    let two = train(&["--set", "data.n_classes=2"]);
    refused(&two, &["data.csv: line", "data.n_classes", "2"]);
    assert!(!path.exists());
    train(&[]).done();
    let rows = fs::read_to_string(&data).unwrap();
    let most = rows.lines().filter(|line| line.starts_with("train,2,"));
    assert_eq!(
        metrics(&path).pop().unwrap()["classes"][2]["samples"],
        most.count()
    );
}

#[test]
fn numbers_of_classes_that_cannot_be_are_refused() {
    for (set, parts) in [
        ("data.n_classes=1", ["n_classes", "1"]),
        ("data.n_classes=8", ["n_classes", "7"]),
        ("data.positive_rate=0.5", ["positive_rate", "3"]),
    ] {
        let path = folder("classes_refused").join("run");
        refused(&train(&path, &["--set", set]), &parts);
    }
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
    let done = |line: &str| typed(&folder, line).done().stdout;
    done("train many.toml --run run");
    done("train --resume --run run --set training.epochs=2");
    let lines = metrics(&folder.join("run"));
    assert_eq!(lines.len(), 3);
    for line in &lines {
        assert!(line.get("classes").is_none() && line.get("held_out_classes").is_none());
        assert!(line.to_string().len() < 2000);
    }
    let evaluated: Value = serde_json::from_str(&done("evaluate run --json")).unwrap();
    assert_eq!(evaluated["classes"].as_array().unwrap().len(), 2000);
    assert_eq!(evaluated["accuracy"], lines[2]["held_out_accuracy"]);
    for line in ["compare run", "verify run", "inspect run --html page.html"] {
        done(line);
    }
    done("sweep many.toml --seeds 0..1 --out rows.jsonl");
    done("report rows.jsonl");
}
