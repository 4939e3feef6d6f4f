//! Runs that keep their best model: its files, and every reader of the run uses it.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{
    asked, ended, folder, json, mentions, metrics, printed, read_dump, refused, set, typed,
};
use serde_json::Value;

/// A run whose best model is none of its dumps, and not its last one; with the steps of both.
struct Kept {
    folder: PathBuf,
    path: PathBuf,
    best: Value,
    last: Value,
}

impl Kept {
    fn step(&self) -> u64 {
        self.best["step"].as_u64().unwrap()
    }
}

fn kept(name: &str, config: &str, sets: &str) -> Kept {
    let folder = folder(name);
    let path = folder.join("run");
    let common = set(
        "training.keep_best=held_out_loss training.evaluate_every=7 \
                      dump.every_epochs=0 data.held_out=200",
    );
    let train = format!("train {config} --run run {common} {}", set(sets));
    let ended = asked(&folder, &train);
    let rows = metrics(&path);
    let loss = |row: &Value| row["held_out_loss"].as_f64().unwrap();
    let least = rows.iter().map(loss).fold(f64::INFINITY, f64::min);
    let best = rows.iter().find(|row| loss(row) <= least).unwrap().clone();
    let last = rows.last().unwrap().clone();
    assert!(best["step"].as_u64() < last["step"].as_u64());
    assert_eq!(ended["best_step"], best["step"]);
    assert_eq!(ended["step"], last["step"]);
    // The run that is over says the same.
    let again = asked(&folder, "train --resume --run run");
    for key in ["best_step", "step", "learned", "outcome"] {
        assert_eq!(again[key], ended[key], "{key}");
    }
    Kept {
        folder,
        path,
        best,
        last,
    }
}

fn of_tokens(name: &str) -> Kept {
    let few = "data.samples=80 data.positive_rate=0.5 training.epochs=60 training.patience=6";
    kept(name, "quick", &format!("{few} training.learning_rate=0.03"))
}

fn of_texts(name: &str) -> Kept {
    let few = "data.samples=600 training.epochs=40 training.patience=8";
    kept(
        name,
        "negation",
        &format!("{few} training.learning_rate=0.003"),
    )
}

/// Commands that compute with a model name its step, and have the numbers of that step's evaluation.
fn check_readers(kept: &Kept) {
    let folder = &kept.folder;
    let manifest = fs::read_to_string(kept.path.join("manifest.sha256")).unwrap();
    for file in ["attention/best.npz", "best.safetensors"] {
        assert!(manifest.contains(file), "{file}");
    }
    typed(folder, "verify run").done();

    for (more, row) in [
        ("", &kept.best),
        ("--weights model.safetensors", &kept.last),
    ] {
        let evaluate = format!("evaluate run {more}");
        let found = asked(folder, &evaluate);
        assert_eq!(found["step"], row["step"]);
        for key in ["loss", "accuracy", "f1"] {
            assert_eq!(found[key], row[format!("held_out_{key}")], "{key}");
        }
        let shown = printed(folder, &evaluate);
        assert!(mentions(&shown, &format!("step {}", row["step"])));
    }
    let compared = asked(folder, "compare run run");
    for run in compared["runs"].as_array().unwrap() {
        assert_eq!(run["metrics"], kept.best);
        assert_eq!(run["step"], kept.best["step"]);
    }

    let dump = read_dump(kept.path.join("attention/best.npz"));
    assert_eq!(dump.meta.step.map(|step| step as u64), Some(kept.step()));
    assert_eq!(
        dump.meta.epoch.map(Value::from),
        Some(kept.best["epoch"].clone())
    );
    let tokens: Vec<String> = dump.tokens(0).iter().map(i64::to_string).collect();
    let tokens = tokens.join(" ");
    let predict = format!("predict run --tokens '{tokens}'");
    let found = asked(folder, &predict);
    assert_eq!(found["step"], kept.best["step"]);
    assert_eq!(found["logits"][0].as_f64(), Some(f64::from(dump.logits[0])));
    let last = asked(folder, &format!("{predict} --weights model.safetensors"));
    assert_eq!(last["step"], kept.last["step"]);
    assert_ne!(last["logits"], found["logits"]);
    fs::write(folder.join("tokens.txt"), format!("{tokens}\n")).unwrap();
    let file = asked(folder, "predict run tokens.txt --out predictions.csv");
    assert_eq!(file["step"], kept.best["step"]);

    let (best, last) = (&kept.best["step"], &kept.last["step"]);
    let steps = [best, last].map(|step| (format!("--step {step}"), step));
    for (more, step) in [(String::new(), best)].into_iter().chain(steps) {
        let shown = printed(folder, &format!("inspect run {more}"));
        assert!(mentions(&shown, &format!("step {step}")), "{shown}");
    }

    let report = fs::read_to_string(kept.path.join("report.md")).unwrap();
    assert!(mentions(&report, &format!("step {}", kept.step())));
    let loss = format!("{:.5}", kept.best["held_out_loss"].as_f64().unwrap());
    assert!(mentions(&report, &loss), "{loss}");
    let facts = page_of(&kept.path);
    assert_eq!(facts["best"], kept.best["step"]);
    let steps = facts["steps"].as_array().unwrap();
    assert!(steps.contains(&kept.best["step"]), "{steps:?}");
    assert!(steps.contains(&kept.last["step"]), "{steps:?}");
}

/// The facts of the run in its page.
fn page_of(run: &Path) -> Value {
    let page = fs::read_to_string(run.join("inspector.html")).unwrap();
    let (_, rest) = page.split_once("id=\"facts\">").unwrap();
    json(rest.split_once("</script>").unwrap().0)["runs"][0].take()
}

#[test]
fn readers_of_a_run_use_its_best_model() {
    check_readers(&of_tokens("best-tokens"));
}

#[test]
fn so_do_those_of_a_run_of_texts() {
    let kept = of_texts("best-texts");
    check_readers(&kept);
    let embed = "embed run --word not";
    let best = asked(&kept.folder, embed);
    let last = asked(
        &kept.folder,
        &format!("{embed} --weights model.safetensors"),
    );
    assert_eq!(best["step"], kept.best["step"]);
    assert_eq!(last["step"], kept.last["step"]);
    assert_ne!(best["levels"], last["levels"]);
}

/// A run of an older version has the weights of its best model alone.
#[test]
fn without_its_dump_the_best_model_is_used_where_it_can_be() {
    let kept = of_tokens("best-older");
    let folder = &kept.folder;
    fs::remove_file(kept.path.join("attention/best.npz")).unwrap();
    assert_eq!(asked(folder, "evaluate run")["step"], kept.best["step"]);
    let shown = printed(folder, "inspect run");
    let last = format!("step {}", kept.last["step"]);
    assert!(mentions(&shown, &last), "{shown}");
    typed(folder, "inspect run --html page.html").done();
    // The manifest lists the dump.
    let verified = typed(folder, "verify run");
    ended(&verified, 2, &[]);
    assert!(mentions(&verified.stdout, "attention/best.npz"));
}

/// Nothing else of a run depends on whether the best model is kept.
#[test]
fn a_run_that_keeps_no_best_model_has_no_files_of_it() {
    let folder = folder("best-none");
    let (without, with) = (folder.join("without"), folder.join("with"));
    let train = "train quick --set training.epochs=1 --run";
    typed(&folder, &format!("{train} without")).done();
    let keep = "--set training.keep_best=loss";
    typed(&folder, &format!("{train} with {keep}")).done();
    for file in ["best.safetensors", "attention/best.npz"] {
        assert!(
            !without.join(file).exists() && with.join(file).is_file(),
            "{file}"
        );
    }
    for file in ["model.safetensors", "metrics.jsonl", "loss.npy"] {
        let [without, with] = [&without, &with].map(|run| fs::read(run.join(file)).unwrap());
        assert!(without == with, "{file}");
    }
    let found = asked(&folder, "evaluate without");
    assert_eq!(found["step"], metrics(&without).pop().unwrap()["step"]);
    assert_eq!(page_of(&without)["best"], Value::Null);
}

/// A reader says when the best model is missing. Without its report a run has not ended, and is resumed.
#[test]
fn missing_models_are_named() {
    let kept = of_tokens("best_missing");
    let folder = &kept.folder;
    let predict = "predict run --tokens '0 1 2 3 4 5 6'";
    let stderr = |line: &str| typed(folder, line).done().stderr;
    assert_eq!(stderr(predict), "");
    fs::remove_file(kept.path.join("best.safetensors")).unwrap();
    assert!(mentions(&stderr(predict), "best.safetensors"));
    let last = format!("{predict} --weights model.safetensors");
    assert_eq!(stderr(&last), "");
    fs::remove_file(kept.path.join("report.md")).unwrap();
    fs::remove_file(kept.path.join("model.safetensors")).unwrap();
    refused(&typed(folder, predict), &["model.safetensors", "--resume"]);
    typed(folder, "train --resume --run run").done();
    assert_eq!(stderr(predict), "");
    assert_eq!(asked(folder, predict)["step"], kept.best["step"]);
}
