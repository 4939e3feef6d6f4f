//! `headlight sweep --folds`: each part of a file is held out once.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::sweeps::rows;
use crate::common::{asked, folder, refuses_each, refuses_typed, typed};
use serde_json::Value;

/// 30 texts; a third of them are bad.
fn texts(name: &str) -> PathBuf {
    let folder = folder(name);
    let mut text = "text,label\n".to_owned();
    for number in 0..30 {
        let (word, label) = if number % 3 == 0 {
            ("dull", "bad")
        } else {
            ("fine", "good")
        };
        writeln!(text, "the w{number} film was {word},{label}").unwrap();
    }
    fs::write(folder.join("r.csv"), text).unwrap();
    let config = "data = { file = \"r.csv\" }\nmodel = { d_model = 4 }\n\
                  training = { epochs = 3, learning_rate = 0.02, batch_size = 4 }\n";
    fs::write(folder.join("r.toml"), config).unwrap();
    folder
}

fn report(folder: &Path) -> Value {
    asked(folder, "report f.jsonl")
}

#[test]
fn each_fold_is_a_row_and_the_report_is_over_folds() {
    let folder = texts("folds_rows");
    typed(&folder, "sweep r.toml --folds 5 --out f.jsonl").done();
    let found = rows(&folder.join("f.jsonl"));
    let names: Vec<&str> = found
        .iter()
        .map(|row| row["data.fold"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["1/5", "2/5", "3/5", "4/5", "5/5"]);
    let accuracies: Vec<f64> = found
        .iter()
        .map(|row| row["held_out_accuracy"].as_f64().unwrap())
        .collect();
    let mean = accuracies.iter().sum::<f64>() / 5.0;
    let squares = accuracies
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>();
    let values = report(&folder);
    let over = &values["folds"][0]["held_out_accuracy"];
    assert!((over["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    // 2.776445 is `scipy.stats.t.ppf(0.975, 4)`.
    let margin = 2.776_445_105 * (squares / 4.0 / 5.0).sqrt();
    assert!((over["margin"].as_f64().unwrap() - margin).abs() < 1e-6);

    // `train` gives a fold's model, also from the config beside the rows.
    let train = "train f.config.toml --set data.fold=4/5 --run run";
    typed(&folder, train).done();
    let manifest = fs::read_to_string(folder.join("run/manifest.sha256")).unwrap();
    assert!(manifest.contains(found[3]["weights_sha256"].as_str().unwrap()));
}

/// A figure that some folds do not have names those that have it, and no rule says where their runs should look.
#[test]
fn figures_of_fewer_folds_say_so() {
    let folder = texts("folds_fewer");
    let rows = fs::read_to_string(folder.join("r.csv")).unwrap();
    // Label 1 is rare: a fold without it has no F1.
    let rare = rows.replace("good", "a").replace("bad", "b");
    let few: Vec<&str> = rare.lines().take(7).collect();
    fs::write(folder.join("r.csv"), few.join("\n") + "\n").unwrap();
    let folds = "sweep r.toml --folds 6 --out f.jsonl --set training.epochs=1";
    let screen = typed(&folder, folds).done();
    let over = &report(&folder)["folds"][0];
    let known = over["held_out_f1"]["runs"].as_u64().unwrap();
    assert!(over["folds"] == 6 && known < 6);
    let (_, table) = screen.stdout.split_once("Over folds").unwrap();
    let (table, _) = table.split_once("All runs").unwrap();
    assert!(table.contains(&format!(" in {known} of 6")), "{table}");
    assert!(screen.stdout.contains("no rule"), "{}", screen.stdout);
}

/// With seeds and a grid, a sweep of folds resumes, shards and merges as any other.
#[test]
fn folds_go_with_seeds_grids_and_shards() {
    let folder = texts("folds_grid");
    let sweep = "sweep r.toml --folds 5 --seeds 3..5 --grid model.d_model=2,4 --out";
    let whole = format!("{sweep} f.jsonl");
    typed(&folder, &whole).done();
    let bytes = fs::read_to_string(folder.join("f.jsonl")).unwrap();
    assert_eq!(bytes.lines().count(), 20);
    let values = report(&folder);
    let over = values["folds"].as_array().unwrap();
    assert_eq!(over.len(), 2);
    assert_eq!(over[1]["settings"]["model.d_model"], 4);
    assert_eq!(over[1]["folds"], 5);
    assert_eq!(over[0]["held_out_f1"]["runs"], 5);

    let start: String = bytes
        .lines()
        .take(7)
        .map(|line| line.to_owned() + "\n")
        .collect();
    fs::write(folder.join("f.jsonl"), start).unwrap();
    typed(&folder, &whole).done();
    assert_eq!(fs::read_to_string(folder.join("f.jsonl")).unwrap(), bytes);
    for shard in [1, 2] {
        let part = format!("{sweep} shard-{shard}.jsonl --shard {shard}/2");
        typed(&folder, &part).done();
    }
    let merge = "merge shard-2.jsonl shard-1.jsonl --out all.jsonl";
    typed(&folder, merge).done();
    assert_eq!(fs::read_to_string(folder.join("all.jsonl")).unwrap(), bytes);
}

#[test]
fn folds_that_cannot_be_are_refused() {
    let folder = texts("folds_refused");
    let refused = "
quick --folds 5                       | --folds | data.fold | generated | held_out
r.toml --folds 1                      | --folds
r.toml --folds 31                     | 30 samples | 31 folds
r.toml --folds 5 --grid data.fold=1/2 | data.fold | twice
";
    refuses_each(&folder, "sweep --out x.jsonl", refused);
    let text = fs::read_to_string(folder.join("r.csv")).unwrap();
    let lines = text.lines().enumerate();
    let split = lines.map(|(line, text)| match line {
        0 => format!("{text},split\n"),
        _ => format!("{text},{}\n", ["train", "test"][line % 2]),
    });
    let split: String = split.collect();
    fs::write(folder.join("r.csv"), split).unwrap();
    let split = "sweep r.toml --folds 5 --out x.jsonl";
    refuses_typed(&folder, split, &["own", "held-out"]);
}
