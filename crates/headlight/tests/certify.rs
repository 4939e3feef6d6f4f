//! `headlight certify`: the count over all inputs, in the terminal, in runs and in sweeps.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::{folder, headlight, metrics, quick_run, refuses, run, send, text};
use serde_json::{Value, from_str};

/// A run whose training samples are all 8^4 inputs, so that `evaluate` answers each of them.
fn run_on_all(name: &str, more: &[&str]) -> (PathBuf, PathBuf) {
    let folder = folder(name);
    let path = folder.join("run");
    let config = folder.join("all.toml");
    let settings = r#"
        data = { generator = "all", vocab_size = 9, seq_len = 4, rule = { kind = "equal-positions", first = 1, second = 3 } }
        model = { d_model = 6, n_heads = 2, d_ff = 8 }
        training = { epochs = 1, learning_rate = 2e-3 }
        dump = { every_epochs = 0 }
    "#;
    fs::write(&config, settings).unwrap();
    run(&[&["train", text(&config), "--run", text(&path)], more].concat()).done();
    (folder, path)
}

fn json(arguments: &[&str]) -> Value {
    let printed = run(arguments).done().stdout;
    assert_eq!(printed.lines().count(), 1);
    from_str(&printed).unwrap()
}

fn certified(run: &Path, more: &[&str]) -> Value {
    json(&[&["certify", text(run), "--json"], more].concat())
}

/// The confusion matrix of `evaluate` over all inputs has the same counts.
#[test]
fn the_count_is_that_of_all_inputs_evaluated() {
    let (_, path) = run_on_all("certify_all", &[]);
    let evaluated = json(&["evaluate", text(&path), "--split", "train", "--json"]);
    let confusion: Vec<Vec<u64>> = serde_json::from_value(evaluated["confusion"].clone()).unwrap();
    let found = certified(&path, &[]);
    assert_eq!(found["inputs"], 4096);
    let mut all = 0;
    for (class, row) in confusion.iter().enumerate() {
        let own = &found["classes"][class];
        let wrong = row.iter().sum::<u64>() - row[class];
        assert_eq!(own["inputs"], row.iter().sum::<u64>());
        assert_eq!(own["wrong"], wrong);
        let worst = own["worst"].as_array().unwrap();
        assert_eq!(worst.len(), 10);
        assert_eq!(worst[0]["margin"], own["smallest_margin"]);
        assert_eq!(wrong > 0, worst[0]["predicted"] != class);
        all += wrong;
    }
    assert!(
        all > 0,
        "the model has learned its task: the test shows nothing"
    );
    assert_eq!(found["wrong"], all);
    assert_eq!(found["share"], all as f64 / 4096.0);
    let printed = run(&["certify", text(&path)]).done().stdout;
    assert!(printed.contains(&all.to_string()), "{printed}");
}

/// The quick run's held-out samples are a few of all inputs.
#[test]
fn all_inputs_are_worse_than_held_out_ones() {
    let folder = folder("certify_quick");
    let path = folder.join("run");
    quick_run(&path, &["--set", "dump.every_steps=0"]);
    let found = certified(&path, &["--examples", "3"]);
    assert_eq!(found["inputs"], 50_u64.pow(6));
    let last = metrics(&path).pop().unwrap();
    for (class, key) in [(0, "held_out_max_negative"), (1, "held_out_min_positive")] {
        let own = &found["classes"][class];
        assert_eq!(own["worst"].as_array().unwrap().len(), 3);
        let probability = last[key].as_f64().unwrap();
        let log_odds = (probability / (1.0 - probability)).ln();
        let margin = if class == 1 { log_odds } else { -log_odds };
        assert!(own["smallest_margin"].as_f64().unwrap() <= margin + 1e-4);
    }
    let counted = certified(&path, &["--examples", "0"]);
    assert_eq!(counted["wrong"], found["wrong"]);
    assert_eq!(counted["smallest_margin"], Value::Null);
}

#[test]
fn random_inputs_give_an_interval() {
    let (_, path) = run_on_all("certify_sample", &[]);
    let share = certified(&path, &["--examples", "0"])["share"]
        .as_f64()
        .unwrap();
    let found = certified(&path, &["--sample", "20000"]);
    let [low, high] = [0, 1].map(|end| found["sampled"]["interval"][end].as_f64().unwrap());
    assert_eq!(found["sampled"]["inputs"], 20_000);
    // One interval in twenty does not hold the share; this one, of the run's seed, does.
    assert!(low <= share && share <= high, "{share}: {low} to {high}");
    assert_eq!(found, certified(&path, &["--sample", "20000"]));
}

#[test]
fn a_run_keeps_its_certificate() {
    let (_, path) = run_on_all("certify_kept", &["--certify"]);
    let kept: Value =
        from_str(&fs::read_to_string(path.join("certificate.json")).unwrap()).unwrap();
    let mut found = certified(&path, &[]);
    found.as_object_mut().unwrap().remove("run");
    assert_eq!(kept, found);
    let manifest = fs::read_to_string(path.join("manifest.sha256")).unwrap();
    assert!(manifest.contains("certificate.json"));
    run(&["verify", text(&path)]).done();
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert!(report.contains("## All inputs") && report.contains("smallest_margin"));
    // `certify` itself writes nothing.
    let before = crate::common::contents(&path);
    certified(&path, &[]);
    assert!(crate::common::contents(&path) == before);
}

/// The measures of all inputs are of no samples: `evaluate` has none of them, and the line of `train` has the count.
#[test]
fn the_count_is_of_the_run_and_not_of_samples() {
    let (folder, path) = run_on_all("certify_line", &["--certify", "--json"]);
    let config = folder.join("all.toml");
    let line = json(&[
        "train",
        text(&config),
        "--certify",
        "--json",
        "--run",
        text(&folder.join("again")),
    ]);
    assert_eq!(line["wrong_inputs"], certified(&path, &[])["wrong"]);
    let evaluated = json(&["evaluate", text(&path), "--split", "train", "--json"]);
    assert!(!evaluated.to_string().contains("wrong_inputs"));
    // A run that is trained further has the count of its new model.
    run(&[
        "train",
        "--resume",
        "--run",
        text(&path),
        "--set",
        "training.epochs=2",
    ])
    .done();
    let kept: Value =
        from_str(&fs::read_to_string(path.join("certificate.json")).unwrap()).unwrap();
    assert_eq!(kept["wrong"], certified(&path, &[])["wrong"]);
}

/// A signal during the count leaves a complete run without a certificate.
#[cfg(unix)]
#[test]
fn a_run_whose_count_is_interrupted_is_complete() {
    let path = folder("certify_interrupted").join("run");
    let mut command = headlight();
    command.args([
        "train",
        "configs/quick.toml",
        "--certify",
        "--set",
        "data.seq_len=11",
        "--set",
        "data.rule={kind = \"sum-mod\", modulus = 2}",
        "--run",
        text(&path),
    ]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The count takes hours, and nothing but it comes between the weights and the report.
    while !path.join("model.safetensors").exists() {
        thread::sleep(Duration::from_millis(10));
        assert!(child.try_wait().unwrap().is_none());
    }
    thread::sleep(Duration::from_millis(500));
    send(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!path.join("certificate.json").exists());
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert!(!report.contains("wrong_inputs"));
    run(&["verify", text(&path)]).done();
    let resumed = run(&["train", "--resume", "--run", text(&path), "--json"]).done();
    let line: Value = from_str(&resumed.stdout).unwrap();
    assert_eq!(line["interrupted"], false);
    assert_eq!(line["wrong_inputs"], Value::Null);
}

#[test]
fn rows_of_a_sweep_have_the_count() {
    let folder = folder("certify_sweep");
    let (_, path) = run_on_all("certify_swept", &["--set", "seed=1"]);
    let found = certified(&path, &["--examples", "1"]);
    let config = path.parent().unwrap().join("all.toml");
    let out = folder.join("seeds.jsonl");
    let arguments = [
        "sweep",
        text(&config),
        "--seeds",
        "0..2",
        "--certify",
        "--out",
        text(&out),
    ];
    run(&arguments).done();
    let rows = fs::read_to_string(&out).unwrap();
    let row: Value = from_str(rows.lines().nth(1).unwrap()).unwrap();
    assert_eq!(row["wrong_inputs"].as_f64(), found["wrong"].as_f64());
    assert_eq!(row["smallest_margin"], found["smallest_margin"]);
    let again = folder.join("two.jsonl");
    run(&[&arguments[..6], &[text(&again), "--threads", "1"]].concat()).done();
    assert_eq!(fs::read_to_string(&again).unwrap(), rows);
}

#[test]
fn models_and_rules_without_a_certificate_are_refused() {
    let folder = folder("certify_refused");
    let path = folder.join("run");
    quick_run(
        &path,
        &["--set", "dump.every_steps=0", "--set", "model.n_layers=2"],
    );
    refuses(&folder, &["certify", text(&path)], &["2", "--sample"]);
    run(&["certify", text(&path), "--sample", "1000"]).done();
    for count in ["0", "1000000001", "18446744073709551615"] {
        refuses(
            &folder,
            &["certify", text(&path), "--sample", count],
            &["1000000000"],
        );
    }
    let wide = folder.join("wide");
    quick_run(
        &wide,
        &["--set", "dump.every_steps=0", "--set", "data.seq_len=12"],
    );
    refuses(
        &folder,
        &["certify", text(&wide)],
        &["12", "50", "--sample"],
    );
    let words = folder.join("words");
    run(&[
        "train",
        "apple",
        "--set",
        "training.epochs=1",
        "--run",
        text(&words),
    ])
    .done();
    refuses(&folder, &["certify", text(&words)], &["data.rule"]);
    refuses(
        &folder,
        &["certify", text(&words), "--sample", "9"],
        &["data.rule"],
    );
    let sweep = ["sweep", "apple", "--seeds", "0..1", "--certify", "--out"];
    refuses(
        &folder,
        &[&sweep[..], &[text(&folder.join("rows.jsonl"))]].concat(),
        &["--certify", "data.rule"],
    );
    let new = folder.join("new");
    refuses(
        &folder,
        &["train", "apple", "--certify", "--run", text(&new)],
        &["--certify", "data.rule"],
    );
}
