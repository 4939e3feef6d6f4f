//! The mean prediction of a sweep's seeds, from outside.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::common::{folder, refused, run_in};
use serde_json::{Value, from_str};

/// Words of three classes in 60 sentences, some of them in two classes, so that models are unsure.
const CONFIG: &str = r#"
[data]
file = "animals.csv"
label = "animal"
held_out = 12
words = {}
[model]
d_model = 4
n_heads = 2
[training]
epochs = 3
batch_size = 8
learning_rate = 0.01
token_dropout = 0.2
"#;

fn animals() -> String {
    let mut text = "text,animal\n".to_owned();
    for (index, noise) in ["a", "the", "one", "any", "some"]
        .repeat(4)
        .iter()
        .enumerate()
    {
        for (animal, sound) in [("cat", "purrs"), ("dog", "barks"), ("cow", "eats grass")] {
            let sound = if index % 5 == 0 { "runs" } else { sound };
            let _ = writeln!(text, "{noise} pet that {sound} {index},{animal}");
        }
    }
    text
}

fn prepared(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::write(folder.join("animals.toml"), CONFIG).unwrap();
    fs::write(folder.join("animals.csv"), animals()).unwrap();
    folder
}

fn sweep(folder: &Path, seeds: &str, more: &[&str]) {
    let arguments = [
        "sweep",
        "animals.toml",
        "--seeds",
        seeds,
        "--out",
        "seeds.jsonl",
    ];
    run_in(folder, &[&arguments[..], more].concat()).done();
}

/// The probabilities of each sample of a predictions file, by class.
fn probabilities(folder: &Path, of: &str, more: &[&str]) -> Vec<[f64; 3]> {
    let arguments = [
        "predict",
        of,
        "--tokens",
        "animals.csv",
        "--out",
        "out.jsonl",
        "--force",
    ];
    run_in(folder, &[&arguments[..], more].concat()).done();
    let text = fs::read_to_string(folder.join("out.jsonl")).unwrap();
    let rows = text.lines().map(|line| from_str::<Value>(line).unwrap());
    rows.map(|row| ["cat", "cow", "dog"].map(|class| row["probabilities"][class].as_f64().unwrap()))
        .collect()
}

const OWN: [&str; 2] = ["--config", "animals.toml"];

#[test]
fn the_mean_is_that_of_the_runs() {
    let folder = prepared("ensemble_mean");
    sweep(&folder, "3..6", &[]);
    let mean = probabilities(&folder, "seeds.jsonl", &OWN);
    let mut expected = vec![[0.0; 3]; mean.len()];
    for seed in ["3", "4", "5"] {
        let run = format!("run-{seed}");
        let set = format!("seed={seed}");
        run_in(
            &folder,
            &["train", "animals.toml", "--set", &set, "--run", &run],
        )
        .done();
        for (sum, one) in expected.iter_mut().zip(probabilities(&folder, &run, &[])) {
            (0..3).for_each(|class| sum[class] += one[class] / 3.0);
        }
    }
    assert_eq!(mean.len(), 60);
    let both = mean.iter().flatten().zip(expected.iter().flatten());
    both.for_each(|(mean, expected)| assert!((mean - expected).abs() < 1e-6, "{mean} {expected}"));
    assert!(mean.iter().any(|row| row.iter().all(|&p| p < 0.95)));

    // One sample: the same prediction, and attention that adds up to 1.
    let arguments = [
        "predict",
        "seeds.jsonl",
        "--text",
        "any pet that barks 3",
        "--json",
    ];
    let one = run_in(&folder, &[&arguments[..], &OWN].concat()).done();
    let one: Value = from_str(&one.stdout).unwrap();
    let csv = animals();
    let row = csv
        .lines()
        .position(|line| line == "any pet that barks 3,dog");
    for (class, expected) in mean[row.unwrap() - 1].iter().enumerate() {
        let found = one["probabilities"][class].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-6);
    }
    let weights = one["attention_of_cls"][0][0].as_array().unwrap().iter();
    let sum: f64 = weights.map(|weight| weight.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-5);

    // An evaluation counts what the predictions say.
    let arguments = ["evaluate", "seeds.jsonl", "animals.csv", "--json"];
    let evaluated = run_in(&folder, &[&arguments[..], &OWN].concat()).done();
    let evaluated: Value = from_str(&evaluated.stdout).unwrap();
    let labels = csv
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap());
    let right = mean.iter().zip(labels).filter(|(row, label)| {
        let best = (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        ["cat", "cow", "dog"][best] == *label
    });
    assert_eq!(evaluated["models"], 3);
    assert_eq!(
        evaluated["accuracy"].as_f64(),
        Some(right.count() as f64 / 60.0)
    );
}

#[test]
fn what_cannot_be_averaged_is_refused() {
    let folder = prepared("ensemble_refused");
    sweep(&folder, "0..2", &[]);
    let refuse = |arguments: &[&str], expected: &str| {
        refused(
            &run_in(&folder, &[&["evaluate"], arguments].concat()),
            &[expected],
        );
    };
    refuse(&["seeds.jsonl"], "--config");
    refuse(&["seeds.jsonl", "--config", "notebook"], "line 1");
    refuse(
        &[
            "seeds.jsonl",
            "--config",
            "animals.toml",
            "--set",
            "training.epochs=4",
        ],
        "line 1",
    );
    refuse(
        &["seeds.jsonl", "--config", "animals.toml", "--weights", "x"],
        "--weights",
    );
    refuse(
        &[
            "seeds.jsonl",
            "--config",
            "animals.toml",
            "--device",
            "flex",
        ],
        "--device",
    );

    let rows = fs::read_to_string(folder.join("seeds.jsonl")).unwrap();
    let write = |text: &str| fs::write(folder.join("seeds.jsonl"), text).unwrap();
    let with_config = ["seeds.jsonl", "--config", "animals.toml"];
    // The hash of the second row is that of the first: its seed gets other weights.
    let hash = |row: &str| {
        let row: Value = from_str(row).unwrap();
        row["weights_sha256"].as_str().unwrap().to_owned()
    };
    let (first, second) = rows.trim_end().split_once('\n').unwrap();
    write(&format!(
        "{first}\n{}\n",
        second.replace(&hash(second), &hash(first))
    ));
    refuse(&with_config, "line 2");
    write(&format!("{first}\n{first}\n"));
    refuse(&with_config, "line 2");
    write("no row\n");
    refuse(&with_config, "line 1");
    write("");
    refuse(&with_config, "seeds.jsonl");
    let many: String = (0..1001)
        .map(|seed| first.replace("\"seed\":0", &format!("\"seed\":{seed}")) + "\n")
        .collect();
    write(&many);
    refuse(&with_config, "1000");

    run_in(&folder, &["train", "animals.toml", "--run", "run"]).done();
    refuse(&["run", "--config", "animals.toml"], "--config");
}

#[test]
fn dropout_needs_padding() {
    let folder = folder("ensemble_dropout");
    for (set, key) in [
        ("training.token_dropout=0.1", "training.token_dropout"),
        ("training.token_dropout=1", "training.token_dropout"),
        ("training.token_dropout=-0.1", "training.token_dropout"),
    ] {
        let arguments = ["train", "notebook", "--set", set, "--run", "run"];
        refused(&run_in(&folder, &arguments), &[key]);
    }
}

/// Any model that is trained is refused, since the rows have another hash: so a message about anything else came before.
#[test]
fn everything_else_is_checked_before_models_are_trained() {
    let folder = prepared("ensemble_first");
    sweep(&folder, "0..2", &[]);
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let rows = fs::read_to_string(folder.join("seeds.jsonl")).unwrap();
    let rows = rows.lines().map(|line| {
        let mut row: Value = from_str(line).unwrap();
        row["weights_sha256"] = "0".repeat(64).into();
        row.to_string() + "\n"
    });
    write("seeds.jsonl", &rows.collect::<String>());
    write("without.csv", "text\na pet that barks\n");
    write("other.csv", "text,animal\na pet that barks,horse\n");
    write("taken.csv", "text,predicted\na pet that barks,1\n");
    write(
        "taken.jsonl",
        "{\"text\":\"a\"}\n{\"text\":\"b\",\"predicted\":1}\n",
    );
    write("there.svg", "mine");
    let of = |command: &str, more: &[&str]| {
        run_in(
            &folder,
            &[&[command, "seeds.jsonl"], more, &OWN[..]].concat(),
        )
    };
    // Two models train side by side, and either may end first.
    refused(&of("predict", &["--tokens", "animals.csv"]), &["SHA-256"]);
    for (command, more, part) in [
        ("predict", &["--tokens", "missing.csv"][..], "missing.csv"),
        (
            "predict",
            &["--tokens", "animals.csv", "--out", "x.png"],
            "--out",
        ),
        ("predict", &["animals.csv", "--out", "x.txt"], "--out"),
        (
            "predict",
            &["animals.csv", "--out", "animals.csv"],
            "animals.csv",
        ),
        ("predict", &["taken.csv"], "`predicted`"),
        ("predict", &["taken.jsonl"], "`predicted`"),
        ("predict", &["--text", "a pet", "--out", "x.csv"], "--out"),
        ("evaluate", &["without.csv"], "`animal`"),
        ("evaluate", &["other.csv"], "horse"),
        ("evaluate", &["--svg", "there.svg"], "there.svg"),
    ] {
        let finished = of(command, more);
        refused(&finished, &[part]);
        assert!(
            !finished.stderr.contains("SHA-256"),
            "{more:?}: {}",
            finished.stderr
        );
    }
}

#[test]
fn a_last_row_without_an_end_is_reported() {
    let folder = prepared("ensemble_cut");
    sweep(&folder, "0..3", &[]);
    let rows = fs::read_to_string(folder.join("seeds.jsonl")).unwrap();
    fs::write(folder.join("seeds.jsonl"), rows.trim_end()).unwrap();
    let arguments = [&["evaluate", "seeds.jsonl", "--json"][..], &OWN].concat();
    let evaluated = run_in(&folder, &arguments).done();
    let line: Value = from_str(&evaluated.stdout).unwrap();
    assert_eq!(line["models"], 2);
    assert!(
        evaluated.stderr.contains("seeds.jsonl"),
        "{}",
        evaluated.stderr
    );
}

/// 60 models of 400,000 parameters, each of 1.6 MB. On one core, since each thread trains a model.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_rows() {
    let folder = folder("ensemble_memory");
    let set = ["--set", "data.vocab_size=50000", "--set", "data.samples=32"];
    let more = ["--set", "data.held_out=4", "--set", "training.epochs=1"];
    let own = [&["quick"][..], &set, &more].concat();
    let sweep = ["--seeds", "0..60", "--out", "seeds.jsonl"];
    run_in(&folder, &[&["sweep"], &own[..], &sweep].concat()).done();
    let evaluate = ["evaluate", "seeds.jsonl", "--config"];
    let one_core =
        "-d 100000; taskset -p -c $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//') $$ > /dev/null";
    crate::common::limited(&folder, one_core, &[&evaluate[..], &own].concat()).done();
}
