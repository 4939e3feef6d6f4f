//! `headlight evaluate` on a run's own samples and on files, as text, JSON and pictures.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use crate::common::{
    asked, ended, folder, mentions, metrics, printed, refuses_each, refuses_typed, set, typed,
};
use headlight_architecture::Parameter;
use headlight_trainer::files::weights;
use serde_json::{Value, json};

/// A folder with a `run` that has not learned its task, with few samples of class 1.
fn early_run(name: &str) -> PathBuf {
    let folder = folder(name);
    let sets = set("data.positive_rate=0.2 training.learning_rate=2e-3 training.epochs=1");
    typed(&folder, &format!("train quick --run run {sets}")).done();
    folder
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The last row of the run's metrics has the same numbers, bit for bit.
#[test]
fn a_run_is_evaluated_on_its_held_out_samples() {
    let folder = early_run("evaluate_run");
    let last = metrics(&folder.join("run")).pop().unwrap();
    for (more, prefix, split, samples) in [
        ("", "held_out_", "held-out", 400),
        ("--split held-out", "held_out_", "held-out", 400),
        ("--split train", "", "train", 1600),
    ] {
        let found = asked(&folder, &format!("evaluate run {more}"));
        assert_eq!(found["split"], split);
        assert_eq!(found["samples"], samples);
        for key in ["loss", "accuracy", "precision", "recall", "f1"] {
            assert_eq!(found[key], last[format!("{prefix}{key}")], "{key}");
        }
        let counts: Vec<Vec<u64>> = serde_json::from_value(found["confusion"].clone()).unwrap();
        for (class, row) in counts.iter().enumerate() {
            let of_class = found["classes"][class]["samples"].as_u64();
            assert_eq!(Some(row.iter().sum()), of_class);
        }
        let correct = counts[0][0] + counts[1][1];
        assert_eq!(
            number(&found["accuracy"]),
            correct as f64 / f64::from(samples)
        );
    }
}

/// What follows from each sample's predicted probability, as `predict` prints it.
#[test]
fn numbers_follow_from_the_predictions() {
    let folder = early_run("evaluate_predictions");
    let sets = set("data.positive_rate=0.2 data.samples=300 data.held_out=100 seed=3");
    typed(&folder, &format!("data quick --out data.csv {sets}")).done();
    let predicted = printed(&folder, "predict run data.csv");
    let samples: Vec<(f64, bool)> = predicted
        .lines()
        .filter(|line| line.starts_with("held_out,"))
        .map(|line| {
            // The columns of the file, the split and the label among them, and then the prediction.
            let cells: Vec<&str> = line.split(',').collect();
            (cells[cells.len() - 1].parse().unwrap(), cells[1] == "1")
        })
        .collect();
    assert_eq!(samples.len(), 100);

    let found = asked(&folder, "evaluate run data.csv");
    assert_eq!(found["data"], "data.csv");
    // Those that the file holds out, unless others are asked for.
    assert_eq!(found["split"], "held-out");
    assert_eq!(found["samples"], 100);
    let train = asked(&folder, "evaluate run data.csv --split train");
    assert_eq!(
        [&train["split"], &train["samples"]],
        [&json!("train"), &json!(300)]
    );
    assert_ne!(train["loss"], found["loss"]);
    let positives: Vec<f64> = samples.iter().filter(|s| s.1).map(|s| s.0).collect();
    let negatives: Vec<f64> = samples.iter().filter(|s| !s.1).map(|s| s.0).collect();
    let pairs = positives
        .iter()
        .flat_map(|p| negatives.iter().map(move |n| (p, n)));
    let won: f64 = pairs
        .map(|(p, n)| f64::from(u8::from(p > n)) + 0.5 * f64::from(u8::from(p == n)))
        .sum();
    let area = won / (positives.len() * negatives.len()) as f64;
    assert!((number(&found["roc_auc"]) - area).abs() < 1e-12);
    assert!(area > 0.5 && area < 1.0, "{area}");
    for at in found["thresholds"].as_array().unwrap() {
        // The printed probabilities are the shortest that round to the same float32.
        let threshold = number(&at["threshold"]);
        let above = samples.iter().filter(|s| s.0 >= threshold).count();
        let hit = positives.iter().filter(|&&p| p >= threshold).count();
        assert_eq!(at["predicted_positives"], above);
        assert_eq!(
            at["precision"].as_f64(),
            (above > 0).then(|| hit as f64 / above as f64)
        );
        assert_eq!(number(&at["recall"]), hit as f64 / positives.len() as f64);
        let best = number(&found["best_f1"]["f1"]);
        assert!(at["f1"].as_f64().unwrap() <= best);
    }
    // The best threshold is the middle between the last sample that it takes and the next one.
    let best = &found["best_f1"];
    let threshold = number(&best["threshold"]);
    let mut scores: Vec<f64> = samples.iter().map(|sample| sample.0).collect();
    scores.sort_by(f64::total_cmp);
    let above = scores.partition_point(|&score| score < threshold);
    assert_eq!(best["predicted_positives"], scores.len() - above);
    let middle = f64::midpoint(scores[above - 1], scores[above]);
    assert!((threshold - middle).abs() < 1e-6, "{threshold} {middle}");
    let brier: f64 = samples
        .iter()
        .map(|s| (s.0 - f64::from(u8::from(s.1))).powi(2))
        .sum();
    assert!((number(&found["brier"]) - brier / 100.0).abs() < 1e-6);
    let bins = found["calibration"]["bins"].as_array().unwrap();
    assert_eq!(bins.len(), 10);
    let in_bins = bins.iter().map(|bin| bin["samples"].as_u64().unwrap());
    assert_eq!(in_bins.sum::<u64>(), 100);
}

#[test]
fn tables_and_pictures_show_the_numbers() {
    let folder = early_run("evaluate_shows");
    let command = "evaluate run --svg e.svg --html e.html";
    let printed = printed(&folder, command);
    let found = asked(&folder, "evaluate run");
    let area = format!("{:.4}", number(&found["roc_auc"]));
    let f1 = format!("{:.4}", number(&found["best_f1"]["f1"]));
    let page = fs::read_to_string(folder.join("e.html")).unwrap();
    for part in [&area, &f1, "Brier", "ROC-AUC"] {
        assert!(mentions(&printed, part), "{part}: {printed}");
        assert!(mentions(&page, part), "{part}");
    }
    let picture = fs::read_to_string(folder.join("e.svg")).unwrap();
    assert!(mentions(&picture, &area));
    assert!(page.contains("<svg "));
    // Its curves, each with a line to compare with.
    assert_eq!(picture.matches("class=\"curve\"").count(), 3);
    assert_eq!(picture.matches("<path class=\"mark\"").count(), 3);
    // The report of the run has the main numbers.
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    let (_, section) = report.split_once("## Evaluation").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    assert!(mentions(section, &area), "{section}");
    // Tables are narrow, whatever the width of the terminal.
    let tables = printed.lines().filter(|line| line.contains("  "));
    assert!(tables.clone().count() > 12);
    assert!(
        tables.clone().all(|line| line.chars().count() <= 60),
        "{printed}"
    );

    refuses_typed(&folder, command, &["e.svg", "--force"]);
    asked(&folder, &format!("{command} --force"));
}

#[test]
fn several_classes_are_judged_one_against_the_others() {
    let folder = folder("evaluate_classes");
    let few = set("data.samples=800 training.epochs=1 training.learning_rate=1e-3");
    typed(&folder, &format!("train count --run run {few}")).done();
    let found = asked(&folder, "evaluate run --svg e.svg");
    let last = metrics(&folder.join("run")).pop().unwrap();
    for class in 0..3 {
        for key in ["samples", "precision", "recall", "f1"] {
            let expected = &last["held_out_classes"][class][key];
            assert_eq!(&found["classes"][class][key], expected, "{key}");
        }
    }
    for key in ["roc_auc", "average_precision"] {
        let of_classes = (0..3).map(|class| number(&found["classes"][class][key]));
        assert!((number(&found[key]) - of_classes.sum::<f64>() / 3.0).abs() < 1e-12);
    }
    assert_eq!(found["macro"]["f1"], last["held_out_f1"]);
    assert_eq!(found["thresholds"], Value::Null);
    assert_eq!(found["best_f1"], Value::Null);
    // A curve for each class, and calibration.
    let picture = fs::read_to_string(folder.join("e.svg")).unwrap();
    assert_eq!(picture.matches("class=\"curve\"").count(), 3 + 3 + 1);
}

#[test]
fn what_one_class_does_not_decide_is_null() {
    let folder = early_run("evaluate_one_class");
    let data = folder.join("negatives.txt");
    fs::write(&data, "0 45 48 1 4 4 40\n0 1 2 3 4 5 6\n").unwrap();
    let found = asked(&folder, "evaluate run negatives.txt");
    assert_eq!(found["samples"], 2);
    for key in ["recall", "roc_auc", "average_precision", "best_f1"] {
        assert_eq!(found[key], Value::Null, "{key}");
    }
    assert_eq!(found["classes"][0]["average_precision"], 1.0);
    assert_eq!(found["confusion"][1], json!([0, 0]));
    let shown = printed(
        &folder,
        "evaluate run negatives.txt --svg e.svg --html e.html",
    );
    let picture = fs::read_to_string(folder.join("e.svg")).unwrap();
    assert!(mentions(&shown, "not defined"), "{shown}");
    assert!(!shown.contains("NaN") && !picture.contains("NaN"));
}

#[test]
fn a_run_that_holds_out_nothing_is_evaluated_on_its_training_samples() {
    let folder = folder("evaluate_training");
    let train = "train quick --run run --set data.held_out=0 --set training.epochs=1";
    typed(&folder, train).done();
    let found = asked(&folder, "evaluate run");
    assert_eq!(
        [&found["split"], &found["samples"]],
        [&json!("train"), &json!(1600)]
    );
    let last = metrics(&folder.join("run")).pop().unwrap();
    assert_eq!(found["loss"], last["loss"]);
    let shown = printed(&folder, "evaluate run");
    assert!(mentions(&shown, "trained on these samples"), "{shown}");
    let parts = ["--split", "held-out", "--split train"];
    refuses_typed(&folder, "evaluate run --split held-out", &parts);
}

#[test]
fn weights_can_be_given_and_must_give_numbers() {
    let folder = early_run("evaluate_weights");
    typed(&folder, "train quick --run other --set seed=5").done();
    let given = "other/model.safetensors";
    let found = asked(&folder, &format!("evaluate run --weights {given}"));
    assert_eq!(found["weights"], given);
    assert_ne!(found["loss"], asked(&folder, "evaluate run")["loss"]);

    let damaged = folder.join("huge.safetensors");
    let mut parameters = weights::decode(&fs::read(folder.join(given)).unwrap()).unwrap();
    let overflow = |parameter: &mut Parameter| parameter.values.fill(f32::MAX);
    parameters.iter_mut().for_each(overflow);
    fs::write(&damaged, weights::encode(parameters).unwrap()).unwrap();
    fs::write(folder.join("samples.txt"), "0 1 2 3 4 5 6\n").unwrap();
    for line in [
        "evaluate run",
        "predict run samples.txt",
        "predict run samples.txt --out p.csv",
    ] {
        let line = format!("{line} --weights huge.safetensors");
        refuses_typed(&folder, &line, &["sample 0", "parameters"]);
    }
}

#[test]
fn samples_without_labels_and_other_mistakes_are_refused() {
    let folder = folder("evaluate_refuses");
    let files = [
        (
            "data.csv",
            "split,label,token_0,token_1\ntrain,1,0,1\ntrain,0,0,2\ntrain,1,0,1\nheld_out,0,0,3\n",
        ),
        (
            "file.toml",
            "data = { file = \"data.csv\", vocab_size = 5, seq_len = 1 }\nmodel.d_model = 4\ntraining.epochs = 1\n",
        ),
        ("samples.txt", "0 1\n0 2\n"),
        ("unlabelled.csv", "split,token_0,token_1\ntrain,0,1\n"),
        ("whole.csv", "label,token_0,token_1\n1,0,1\n0,0,2\n"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    typed(&folder, "train file.toml --run run").done();
    assert_eq!(asked(&folder, "evaluate run data.csv")["samples"], 1);
    let found = asked(&folder, "evaluate run whole.csv");
    assert_eq!(
        [&found["split"], &found["samples"]],
        [&Value::Null, &json!(2)]
    );
    // The run has no rule, so lines of tokens have no labels.
    let refused = "
run samples.txt                     | samples.txt | lines have no labels | .csv
run unlabelled.csv                  | unlabelled.csv | no column `label` | give the column of labels this name | `token_0`
run missing.csv                     | missing.csv
run whole.csv --split held-out      | whole.csv | --split
.                                   | config.toml
run data.csv --force --svg data.csv | data.csv
";
    refuses_each(&folder, "evaluate", refused);
    ended(&typed(&folder, "evaluate"), 2, &["--help"]);
}
