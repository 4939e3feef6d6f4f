//! Runs that keep their best model: its files, and every reader of the run uses it.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{
    ended, folder, json, mentions, metrics, quick_run, read_dump, refused, run, text,
};
use serde_json::Value;

/// A run whose best model is none of its dumps, and not its last one; with the steps of both.
struct Kept {
    path: PathBuf,
    best: Value,
    last: Value,
}

impl Kept {
    fn step(&self) -> u64 {
        self.best["step"].as_u64().unwrap()
    }
}

fn kept(folder: &Path, config: &str, sets: &[&str]) -> Kept {
    let path = folder.join("run");
    let common = [
        "training.keep_best=held_out_loss",
        "training.evaluate_every=7",
        "dump.every_epochs=0",
        "data.held_out=200",
    ];
    let sets = common.iter().chain(sets).flat_map(|set| ["--set", set]);
    let train = ["train", config, "--json", "--run", text(&path)];
    let train: Vec<&str> = train.into_iter().chain(sets).collect();
    let ended = json(&run(&train).done().stdout);
    let rows = metrics(&path);
    let loss = |row: &Value| row["held_out_loss"].as_f64().unwrap();
    let least = rows.iter().map(loss).fold(f64::INFINITY, f64::min);
    let best = rows.iter().find(|row| loss(row) <= least).unwrap().clone();
    let last = rows.last().unwrap().clone();
    assert!(best["step"].as_u64() < last["step"].as_u64());
    assert_eq!(ended["best_step"], best["step"]);
    assert_eq!(ended["step"], last["step"]);
    // The run that is over says the same.
    let again = ["train", "--resume", "--run", text(&path), "--json"];
    let again = json(&run(&again).done().stdout);
    for key in ["best_step", "step", "learned", "outcome"] {
        assert_eq!(again[key], ended[key], "{key}");
    }
    Kept { path, best, last }
}

fn of_tokens(folder: &Path) -> Kept {
    let sets = [
        "training.learning_rate=0.03",
        "training.patience=6",
        "training.epochs=60",
        "data.samples=80",
        "data.positive_rate=0.5",
    ];
    kept(folder, "configs/quick.toml", &sets)
}

fn of_texts(folder: &Path) -> Kept {
    let sets = [
        "training.learning_rate=0.003",
        "training.patience=8",
        "training.epochs=40",
        "data.samples=600",
    ];
    kept(folder, "negation", &sets)
}

fn asked(arguments: &[&str], more: &[&str]) -> Value {
    json(&run(&[arguments, more, &["--json"]].concat()).done().stdout)
}

const LAST: [&str; 2] = ["--weights", "model.safetensors"];

/// Commands that compute with a model name its step, and have the numbers of that step's evaluation.
fn check_readers(kept: &Kept) {
    let path = text(&kept.path);
    let manifest = fs::read_to_string(kept.path.join("manifest.sha256")).unwrap();
    for file in ["attention/best.npz", "best.safetensors"] {
        assert!(manifest.contains(file), "{file}");
    }
    run(&["verify", path]).done();

    let evaluate = ["evaluate", path];
    for (more, row) in [(&[][..], &kept.best), (&LAST[..], &kept.last)] {
        let found = asked(&evaluate, more);
        assert_eq!(found["step"], row["step"]);
        for key in ["loss", "accuracy", "f1"] {
            assert_eq!(found[key], row[format!("held_out_{key}")], "{key}");
        }
        let shown = run(&[&evaluate, more].concat()).done().stdout;
        assert!(mentions(&shown, &format!("step {}", row["step"])));
    }
    let compared = asked(&["compare", path, path], &[]);
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
    let predict = ["predict", path, "--tokens", &tokens];
    let found = asked(&predict, &[]);
    assert_eq!(found["step"], kept.best["step"]);
    assert_eq!(found["logits"][0].as_f64(), Some(f64::from(dump.logits[0])));
    let last = asked(&predict, &LAST);
    assert_eq!(last["step"], kept.last["step"]);
    assert_ne!(last["logits"], found["logits"]);
    let file = kept.path.with_file_name("tokens.txt");
    fs::write(&file, format!("{tokens}\n")).unwrap();
    let out = kept.path.with_file_name("predictions.csv");
    let file = ["predict", path, text(&file), "--out", text(&out)];
    assert_eq!(asked(&file, &[])["step"], kept.best["step"]);

    let shown = run(&["inspect", path]).done().stdout;
    assert!(
        mentions(&shown, &format!("step {}", kept.step())),
        "{shown}"
    );
    for step in [&kept.best["step"], &kept.last["step"]] {
        let shown = run(&["inspect", path, "--step", &step.to_string()]).done();
        assert!(mentions(&shown.stdout, &format!("step {step}")));
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
    check_readers(&of_tokens(&folder("best-tokens")));
}

#[test]
fn so_do_those_of_a_run_of_texts() {
    let kept = of_texts(&folder("best-texts"));
    check_readers(&kept);
    let embed = ["embed", text(&kept.path), "--word", "not"];
    let (best, last) = (asked(&embed, &[]), asked(&embed, &LAST));
    assert_eq!(best["step"], kept.best["step"]);
    assert_eq!(last["step"], kept.last["step"]);
    assert_ne!(best["levels"], last["levels"]);
}

/// A run of an older version has the weights of its best model alone.
#[test]
fn without_its_dump_the_best_model_is_used_where_it_can_be() {
    let kept = of_tokens(&folder("best-older"));
    fs::remove_file(kept.path.join("attention/best.npz")).unwrap();
    let path = text(&kept.path);
    assert_eq!(asked(&["evaluate", path], &[])["step"], kept.best["step"]);
    let shown = run(&["inspect", path]).done();
    let last = format!("step {}", kept.last["step"]);
    assert!(mentions(&shown.stdout, &last), "{}", shown.stdout);
    let html = kept.path.with_file_name("page.html");
    run(&["inspect", path, "--html", text(&html)]).done();
    // The manifest lists the dump.
    let verified = run(&["verify", path]);
    ended(&verified, 2, &[]);
    assert!(mentions(&verified.stdout, "attention/best.npz"));
}

/// Nothing else of a run depends on whether the best model is kept.
#[test]
fn a_run_that_keeps_no_best_model_has_no_files_of_it() {
    let folder = folder("best-none");
    let (without, with) = (folder.join("without"), folder.join("with"));
    let short = ["--set", "training.epochs=1"];
    quick_run(&without, &short);
    let keep = ["--set", "training.keep_best=loss"];
    quick_run(&with, &[&short[..], &keep].concat());
    for file in ["best.safetensors", "attention/best.npz"] {
        assert!(
            !without.join(file).exists() && with.join(file).is_file(),
            "{file}"
        );
    }
    for file in ["model.safetensors", "metrics.jsonl", "loss.npy"] {
        assert_eq!(
            fs::read(without.join(file)).unwrap(),
            fs::read(with.join(file)).unwrap()
        );
    }
    let found = asked(&["evaluate", text(&without)], &[]);
    assert_eq!(found["step"], metrics(&without).pop().unwrap()["step"]);
    assert_eq!(page_of(&without)["best"], Value::Null);
}

/// A reader says when the best model is missing. Without its report a run has not ended, and is resumed.
#[test]
fn missing_models_are_named() {
    let kept = of_tokens(&folder("best_missing"));
    let predict = ["predict", text(&kept.path), "--tokens", "0 1 2 3 4 5 6"];
    let stderr = |more: &[&str]| run(&[&predict[..], more].concat()).done().stderr;
    assert_eq!(stderr(&[]), "");
    fs::remove_file(kept.path.join("best.safetensors")).unwrap();
    assert!(mentions(&stderr(&[]), "best.safetensors"));
    assert_eq!(stderr(&LAST), "");
    fs::remove_file(kept.path.join("report.md")).unwrap();
    fs::remove_file(kept.path.join("model.safetensors")).unwrap();
    refused(&run(&predict), &["model.safetensors", "--resume"]);
    run(&["train", "--resume", "--run", text(&kept.path)]).done();
    assert_eq!(stderr(&[]), "");
    assert_eq!(asked(&predict, &[])["step"], kept.best["step"]);
}
