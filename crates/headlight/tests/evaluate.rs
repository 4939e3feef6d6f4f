//! `headlight evaluate` on a run's own samples and on files, as text, JSON and pictures.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{ended, folder, mentions, metrics, quick_run, refuses, run, text};
use headlight_architecture::Parameter;
use headlight_trainer::files::weights;
use serde_json::{Value, from_str, json};

/// What `--json` prints, which is one line.
fn evaluated(run: &Path, more: &[&str]) -> Value {
    let arguments = [&["evaluate", text(run), "--json"], more].concat();
    let printed = self::run(&arguments).done().stdout;
    assert_eq!(printed.lines().count(), 1);
    from_str(&printed).unwrap()
}

/// A run that has not learned its task, with few samples of class 1.
fn early_run(name: &str) -> (PathBuf, PathBuf) {
    let folder = folder(name);
    let path = folder.join("run");
    let sets = [
        "data.positive_rate=0.2",
        "training.learning_rate=2e-3",
        "training.epochs=1",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    quick_run(&path, &sets);
    (folder, path)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The last row of the run's metrics has the same numbers, bit for bit.
#[test]
fn a_run_is_evaluated_on_its_held_out_samples() {
    let (_, path) = early_run("evaluate_run");
    let last = metrics(&path).pop().unwrap();
    for (more, prefix, split, samples) in [
        (&[][..], "held_out_", "held-out", 400),
        (&["--split", "held-out"], "held_out_", "held-out", 400),
        (&["--split", "train"], "", "train", 1600),
    ] {
        let found = evaluated(&path, more);
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
    let (folder, path) = early_run("evaluate_predictions");
    let data = folder.join("data.csv");
    let set = [
        "--set",
        "data.positive_rate=0.2",
        "--set",
        "data.samples=300",
    ];
    let held_out = ["--set", "data.held_out=100", "--set", "seed=3"];
    let write = ["data", "quick", "--out", text(&data)];
    run(&[&write[..], &set, &held_out].concat()).done();
    let printed = run(&["predict", text(&path), text(&data)]).done().stdout;
    let samples: Vec<(f64, bool)> = printed
        .lines()
        .filter(|line| line.starts_with("held_out,"))
        .map(|line| {
            // The columns of the file, the split and the label among them, and then the prediction.
            let cells: Vec<&str> = line.split(',').collect();
            (cells[cells.len() - 1].parse().unwrap(), cells[1] == "1")
        })
        .collect();
    assert_eq!(samples.len(), 100);

    let found = evaluated(&path, &[text(&data)]);
    assert_eq!(found["data"], text(&data));
    // Those that the file holds out, unless others are asked for.
    assert_eq!(found["split"], "held-out");
    assert_eq!(found["samples"], 100);
    let train = evaluated(&path, &[text(&data), "--split", "train"]);
    assert_eq!(
        (&train["split"], &train["samples"]),
        (&"train".into(), &300.into())
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
    let (folder, path) = early_run("evaluate_shows");
    let [svg, html] = ["e.svg", "e.html"].map(|name| folder.join(name));
    let command = ["evaluate", text(&path)];
    let files = ["--svg", text(&svg), "--html", text(&html)];
    let printed = run(&[&command[..], &files].concat()).done().stdout;
    let found = evaluated(&path, &[]);
    let area = format!("{:.4}", number(&found["roc_auc"]));
    let f1 = format!("{:.4}", number(&found["best_f1"]["f1"]));
    let page = fs::read_to_string(&html).unwrap();
    for part in [&area, &f1, "Brier", "ROC-AUC"] {
        assert!(mentions(&printed, part), "{part}: {printed}");
        assert!(mentions(&page, part), "{part}");
    }
    let picture = fs::read_to_string(&svg).unwrap();
    assert!(mentions(&picture, &area));
    assert!(page.contains("<svg "));
    // Its curves, each with a line to compare with.
    assert_eq!(picture.matches("class=\"curve\"").count(), 3);
    assert_eq!(picture.matches("<path class=\"mark\"").count(), 3);
    // The report of the run has the main numbers.
    let report = fs::read_to_string(path.join("report.md")).unwrap();
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

    refuses(
        &folder,
        &[&command[..], &files].concat(),
        &["e.svg", "--force"],
    );
    run(&[&command[..], &files, &["--force", "--json"]].concat()).done();
}

#[test]
fn several_classes_are_judged_one_against_the_others() {
    let folder = folder("evaluate_classes");
    let (path, svg) = (folder.join("run"), folder.join("e.svg"));
    let few = [
        "data.samples=800",
        "training.epochs=1",
        "training.learning_rate=1e-3",
    ];
    let sets: Vec<&str> = few.iter().flat_map(|set| ["--set", set]).collect();
    run(&[&["train", "count", "--run", text(&path)][..], &sets].concat()).done();
    let found = evaluated(&path, &["--svg", text(&svg)]);
    let last = metrics(&path).pop().unwrap();
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
    let picture = fs::read_to_string(&svg).unwrap();
    assert_eq!(picture.matches("class=\"curve\"").count(), 3 + 3 + 1);
}

#[test]
fn what_one_class_does_not_decide_is_null() {
    let (folder, path) = early_run("evaluate_one_class");
    let data = folder.join("negatives.txt");
    fs::write(&data, "0 45 48 1 4 4 40\n0 1 2 3 4 5 6\n").unwrap();
    let found = evaluated(&path, &[text(&data)]);
    assert_eq!(found["samples"], 2);
    for key in ["recall", "roc_auc", "average_precision", "best_f1"] {
        assert_eq!(found[key], Value::Null, "{key}");
    }
    assert_eq!(found["classes"][0]["average_precision"], 1.0);
    assert_eq!(found["confusion"][1], json!([0, 0]));
    let [svg, html] = ["e.svg", "e.html"].map(|name| folder.join(name));
    let files = ["--svg", text(&svg), "--html", text(&html)];
    let printed = run(&[&["evaluate", text(&path), text(&data)][..], &files].concat());
    let printed = printed.done().stdout;
    assert!(mentions(&printed, "not defined"), "{printed}");
    assert!(!printed.contains("NaN") && !fs::read_to_string(&svg).unwrap().contains("NaN"));
}

#[test]
fn a_run_that_holds_out_nothing_is_evaluated_on_its_training_samples() {
    let folder = folder("evaluate_training");
    let path = folder.join("run");
    quick_run(
        &path,
        &["--set", "data.held_out=0", "--set", "training.epochs=1"],
    );
    let found = evaluated(&path, &[]);
    assert_eq!(
        (&found["split"], &found["samples"]),
        (&json!("train"), &json!(1600))
    );
    assert_eq!(found["loss"], metrics(&path).pop().unwrap()["loss"]);
    let printed = run(&["evaluate", text(&path)]).done().stdout;
    assert!(mentions(&printed, "trained on these samples"), "{printed}");
    let split = ["evaluate", text(&path), "--split", "held-out"];
    refuses(&folder, &split, &["--split", "held-out", "--split train"]);
}

#[test]
fn weights_can_be_given_and_must_give_numbers() {
    let (folder, path) = early_run("evaluate_weights");
    let other = folder.join("other");
    quick_run(&other, &["--set", "seed=5"]);
    let given = other.join("model.safetensors");
    let found = evaluated(&path, &["--weights", text(&given)]);
    assert_eq!(found["weights"], text(&given));
    assert_ne!(found["loss"], evaluated(&path, &[])["loss"]);

    let damaged = folder.join("huge.safetensors");
    let mut parameters = weights::decode(&fs::read(&given).unwrap()).unwrap();
    let overflow = |parameter: &mut Parameter| parameter.values.fill(f32::MAX);
    parameters.iter_mut().for_each(overflow);
    fs::write(&damaged, weights::encode(parameters).unwrap()).unwrap();
    let evaluate = ["evaluate", text(&path), "--weights", text(&damaged)];
    refuses(&folder, &evaluate, &["sample 0", "parameters"]);
    let samples = folder.join("samples.txt");
    fs::write(&samples, "0 1 2 3 4 5 6\n").unwrap();
    let out = folder.join("predictions.csv");
    let predict = ["predict", text(&path), "--weights", text(&damaged)];
    let of_file = [&predict[..], &[text(&samples)]].concat();
    refuses(&folder, &of_file, &["sample 0", "parameters"]);
    let to_file = [&of_file[..], &["--out", text(&out)]].concat();
    refuses(&folder, &to_file, &["sample 0", "parameters"]);
}

#[test]
fn samples_without_labels_and_other_mistakes_are_refused() {
    let folder = folder("evaluate_refuses");
    let (labelled, path) = (folder.join("data.csv"), folder.join("run"));
    fs::write(
        &labelled,
        "split,label,token_0,token_1\ntrain,1,0,1\ntrain,0,0,2\ntrain,1,0,1\nheld_out,0,0,3\n",
    )
    .unwrap();
    let config = folder.join("file.toml");
    let keys = format!(
        "data = {{ file = {:?}, vocab_size = 5, seq_len = 1 }}\nmodel.d_model = 4\ntraining.epochs = 1\n",
        text(&labelled)
    );
    fs::write(&config, keys).unwrap();
    run(&["train", text(&config), "--run", text(&path)]).done();
    assert_eq!(evaluated(&path, &[text(&labelled)])["samples"], 1);

    // The run has no rule, so lines of tokens have no labels.
    let lines = folder.join("samples.txt");
    fs::write(&lines, "0 1\n0 2\n").unwrap();
    refuses(
        &folder,
        &["evaluate", text(&path), text(&lines)],
        &["samples.txt", "labels", ".csv"],
    );
    let unlabelled = folder.join("unlabelled.csv");
    fs::write(&unlabelled, "split,token_0,token_1\ntrain,0,1\n").unwrap();
    refuses(
        &folder,
        &["evaluate", text(&path), text(&unlabelled)],
        &["unlabelled.csv", "labels"],
    );
    refuses(
        &folder,
        &["evaluate", text(&path), "missing.csv"],
        &["missing.csv"],
    );
    let whole = folder.join("whole.csv");
    fs::write(&whole, "label,token_0,token_1\n1,0,1\n0,0,2\n").unwrap();
    let found = evaluated(&path, &[text(&whole)]);
    assert_eq!(
        (&found["split"], &found["samples"]),
        (&Value::Null, &2.into())
    );
    let none = ["evaluate", text(&path), text(&whole), "--split", "held-out"];
    refuses(&folder, &none, &["whole.csv", "--split"]);
    refuses(&folder, &["evaluate", text(&folder)], &["config.toml"]);
    let over = ["evaluate", text(&path), text(&labelled), "--force", "--svg"];
    refuses(
        &folder,
        &[&over[..], &[text(&labelled)]].concat(),
        &["data.csv"],
    );
    ended(&run(&["evaluate"]), 2, &["--help"]);
}
