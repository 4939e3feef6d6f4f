//! Resuming runs: which runs can be resumed, with which settings, and by whom.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::common::runs::{assert_same, attempt, checkpoint, copy, files, finish, half};
use crate::common::{
    Finished, QUICK, contents, ended, folder, headlight, refused, refuses_typed, run, text, typed,
};
use headlight_trainer::run::checkpoint::Checkpoint;

/// A run's files but for its dumps, which quote the config of their time, except for the last ones.
fn of_any_length(mut files: BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<PathBuf, Vec<u8>> {
    let last = files.keys().filter(|name| name.starts_with("attention"));
    let last = last.max().unwrap().clone();
    let best = Path::new("attention/best.npz");
    for (name, bytes) in &mut files {
        if name.starts_with("attention") && *name != last && name != best {
            bytes.clear();
        }
    }
    files
}

/// More epochs, later, are the longer run: with either engine; and after patience has run out, when there is nothing to train
/// but the files say that there may have been.
#[test]
fn longer_training_is_the_longer_run() {
    let folder = folder("longer");
    let patience =
        "data.samples=320 training.patience=2 training.learning_rate=0.2 training.evaluate_every=5";
    let dropout = "training.dropout.preset=pytorch training.dropout.embedding=0.2 training.class_weights=balanced";
    for (name, engine, sets, epochs) in [
        ("fused", "fused", "", [1, 2]),
        ("burn", "burn", "", [1, 2]),
        ("dropped", "fused", dropout, [1, 2]),
        ("burn-dropped", "burn", dropout, [1, 2]),
        ("patience", "fused", patience, [4, 5]),
    ] {
        let [path, whole] = ["", "-whole"].map(|end| folder.join(format!("{name}{end}")));
        let [first, last] = epochs.map(|epochs| format!("{sets} training.epochs={epochs}"));
        finish(&path, engine, &first);
        let resumed = finish(&path, engine, &last);
        if name != "patience" {
            ended(&resumed, 0, &["100", "200"]);
        }
        finish(&whole, engine, &last);
        let whole = of_any_length(files(&whole));
        let found = of_any_length(files(&path));
        assert!(found.keys().eq(whole.keys()), "{name}");
        for (file, bytes) in &whole {
            assert!(found[file] == *bytes, "{name}: {}", file.display());
        }
        run(&["verify", text(&path)]).done();
    }
}

/// A config may be as long as 65,536 names of classes.
#[test]
fn a_checkpoint_holds_a_long_config() {
    let mut checkpoint = checkpoint(&half(&folder("long_config"), "fused"));
    checkpoint.counters.config = "x".repeat(6 << 20).into();
    let bytes = checkpoint.encode().unwrap();
    assert!(Checkpoint::decode(&bytes).unwrap() == checkpoint);
}

/// What cannot be resumed is named, and left as it is; its config repeats the run.
#[test]
fn a_damaged_run_is_to_be_trained_again() {
    let folder = folder("damaged");
    let whole = half(&folder, "fused");
    let undisturbed = files(&whole);
    let state = "checkpoint/state.safetensors";
    for (name, bytes) in [
        (state, None),
        (state, Some(&b"headlight"[..])),
        ("metrics.jsonl", Some(b"")),
        ("checkpoint/losses.f32", Some(b"")),
    ] {
        let damaged = folder.join("copy");
        copy(&whole, &damaged);
        match bytes {
            Some(bytes) => fs::write(damaged.join(name), bytes).unwrap(),
            None => fs::remove_file(damaged.join(name)).unwrap(),
        }
        let before = contents(&damaged);
        let config = damaged.join("config.toml");
        let parts = ["headlight train", text(&config)];
        refused(&attempt(&damaged, "fused", ""), &parts);
        assert!(contents(&damaged) == before, "{name}");
        let again = folder.join("again");
        run(&["train", text(&config), "--run", text(&again)]).done();
        assert_same(&again, &undisturbed, name);
        fs::remove_dir_all(&damaged).unwrap();
        fs::remove_dir_all(&again).unwrap();
    }
}

/// Longer training would list the damaged files as written by Headlight. Files of the end are written again.
#[test]
fn damage_is_not_trained_over() {
    let folder = folder("damaged-end");
    let path = half(&folder, "fused");
    let page = path.join("inspector.html");
    fs::write(&page, "").unwrap();
    let dump = path.join("attention/step-000030.npz");
    let whole = fs::read(&dump).unwrap();
    fs::write(&dump, "").unwrap();
    let before = contents(&path);
    let parts = ["1 file", "step-000030.npz", "train it again"];
    refused(&attempt(&path, "fused", ""), &parts);
    assert!(contents(&path) == before);
    fs::write(&dump, whole).unwrap();
    finish(&path, "fused", "");
    run(&["verify", text(&path)]).done();
}

#[test]
fn a_finished_run_stays_as_it_is() {
    let path = folder("finished").join("run");
    finish(&path, "fused", "");
    let before = files(&path);
    let environment = path.join("environment.json");
    let began = fs::read(&environment).unwrap();
    ended(&finish(&path, "fused", ""), 0, &["200"]);
    assert_same(&path, &before, "again");
    // Also with the config of the run directory.
    run(&["train", "--resume", "--run", text(&path)]).done();
    assert_same(&path, &before, "from its own config");
    assert_eq!(fs::read(&environment).unwrap(), began);
    // Without its report, it has not ended: its last files are written again.
    fs::remove_file(path.join("report.md")).unwrap();
    fs::remove_file(path.join("model.safetensors")).unwrap();
    finish(&path, "fused", "");
    assert_same(&path, &before, "ended again");
    // With more epochs it trains on.
    finish(&path, "fused", "training.epochs=3");
    let now = fs::read_to_string(&environment).unwrap();
    let now: serde_json::Value = serde_json::from_str(&now).unwrap();
    assert_eq!(now["resumed"][1]["step"], 200);
}

/// The settings of the steps so far count, not later edits of config.toml.
#[test]
fn other_settings_are_refused_with_the_difference() {
    let folder = folder("other-settings");
    let path = half(&folder, "fused");
    let before = files(&path);
    for (set, before, now) in [
        ("training.learning_rate", "0.01", "0.5"),
        // The checkpoint does not match these, and is not called damaged.
        ("model.d_model", "8", "4"),
        ("training.batch_size", "16", "8"),
        ("model.n_heads", "1", "2"),
        ("dump.samples", "[0]", "[1]"),
        ("seed", "0", "3"),
        ("training.schedule", "\"constant\"", "\"linear\""),
        ("compute.engine", "\"fused\"", "\"burn\""),
    ] {
        let resume = format!("train --resume --run half --set '{set}={now}'");
        refuses_typed(&folder, &resume, &[set, before, now]);
    }
    let notebook = "train notebook --resume --run half";
    refuses_typed(&folder, notebook, &["data.samples", "1600", "8000"]);
    let config = path.join("config.toml");
    let written = fs::read_to_string(&config).unwrap();
    let edited = written.replace("learning_rate = 0.01", "learning_rate = 0.001");
    assert_ne!(edited, written);
    fs::write(&config, edited).unwrap();
    let resume = "train --resume --run half --set training.epochs=2";
    let parts = ["training.learning_rate", "0.01", "0.001"];
    refuses_typed(&folder, resume, &parts);
    fs::write(&config, written).unwrap();
    assert_same(&path, &before, "refused");
    // Fewer epochs than have been trained.
    finish(&path, "fused", "");
    let fewer = "train --resume --run half --set training.epochs=1 --set checkpoint.every_steps=7";
    refuses_typed(&folder, fewer, &["200", "100", "training.epochs = 1"]);
}

/// A file may have moved, and its samples are compared.
#[test]
fn other_samples_are_refused() {
    let folder = folder("other-samples");
    typed(&folder, "data quick --out data.csv").done();
    let config = "[data]\nfile = 'data.csv'\nvocab_size = 51\nseq_len = 6\n[model]\nd_model = 8\n";
    fs::write(folder.join("file.toml"), config).unwrap();
    let train = |more: &str| format!("train file.toml --resume --run run --set training.{more}");
    typed(&folder, &train("epochs=1")).done();
    let data = folder.join("data.csv");
    fs::copy(&data, folder.join("moved.csv")).unwrap();
    typed(&folder, &train("epochs=2 --set data.file=moved.csv")).done();
    let samples = fs::read_to_string(&data).unwrap();
    let mut lines: Vec<&str> = samples.lines().collect();
    lines.swap(5, 6);
    for count in [lines.len(), 100] {
        fs::write(&data, lines[..count].join("\n") + "\n").unwrap();
        refuses_typed(&folder, &train("epochs=3"), &["run", "[data]"]);
    }
    let moved = fs::read(folder.join("moved.csv")).unwrap();
    fs::copy(&data, folder.join("moved.csv")).unwrap();
    for line in ["evaluate run", "embed run --word 3"] {
        refuses_typed(&folder, line, &["moved.csv", "have changed"]);
    }
    let found = typed(&folder, "predict run data.csv");
    ended(&found, 0, &["has changed since"]);
    fs::write(folder.join("moved.csv"), moved).unwrap();
    typed(&folder, "evaluate run").done();
    fs::remove_file(folder.join("moved.csv")).unwrap();
    for (line, remedy) in [
        ("train --resume --run run", "--set data.file="),
        ("evaluate run", "dataset file"),
        ("embed run --word 3", "put it back"),
    ] {
        refuses_typed(&folder, line, &["moved.csv", remedy]);
    }
}

/// Processes of different seeds that begin at once: one trains the run, and the others refuse it.
#[test]
fn processes_that_start_together_write_one_run() {
    let folder = folder("together");
    let start = |name: &str, seed: usize, resume: &str| {
        let mut command = headlight();
        let line = format!("train {QUICK} --engine fused --set seed={seed} --run {name} {resume}");
        command.current_dir(&folder).args(line.split_whitespace());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let undisturbed = [1, 2, 3].map(|seed| {
        let name = seed.to_string();
        let child = start(&name, seed, "");
        Finished::from(child.wait_with_output().unwrap()).done();
        files(&folder.join(name))
    });
    for attempt in 0..30 {
        let name = format!("run-{attempt}");
        let last = ["", "--resume"][attempt % 2];
        let children: [Child; 3] =
            [(1, ""), (2, "--resume"), (3, last)].map(|(seed, resume)| start(&name, seed, resume));
        let ends = children.map(|child| {
            let finished = Finished::from(child.wait_with_output().unwrap());
            // A process that has created the directory may find that another one has locked it.
            match finished.code {
                Some(0) => {}
                Some(1) => ended(&finished, 1, &[".lock"]),
                _ => refused(&finished, &[&name]),
            }
            finished.code == Some(0)
        });
        let winner = ends.iter().position(|&done| done).unwrap();
        assert_eq!(ends.iter().filter(|&&done| done).count(), 1, "{attempt}");
        assert_same(&folder.join(&name), &undisturbed[winner], &name);
        typed(&folder, &format!("verify {name}")).done();
    }
}

#[test]
fn what_is_no_run_is_left_alone() {
    let folder = folder("no-run");
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/thesis.txt"), "mine").unwrap();
    refuses_typed(&folder, "train quick --resume --run mine", &["mine"]);
    // A name that was mistyped starts no run.
    refuses_typed(&folder, "train --resume --run rnu", &["rnu"]);
}

/// The config that a run was begun with names its files; so do its dumps and checkpoints, from wherever it is resumed.
#[test]
fn a_run_is_resumed_from_any_folder() {
    let at = folder("resume_folder");
    let [here, elsewhere] = ["here", "elsewhere"].map(|name| at.join(name));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    typed(&here, "data quick --out x.csv --set data.samples=320").done();
    let train =
        "train x.csv --engine fused --run run --set training.epochs=2 --set dump.every_steps=4";
    typed(&here, train).done();
    let path = here.join("run");
    let undisturbed = files(&path);
    // Before its end, and before its first checkpoint.
    let ends = [
        "report.md",
        "model.safetensors",
        "checkpoint/state.safetensors",
    ];
    for lost in [&ends[..1], &ends] {
        for name in lost {
            fs::remove_file(path.join(name)).unwrap();
        }
        typed(&elsewhere, "train --resume --run ../here/run --quiet").done();
        assert_same(&path, &undisturbed, "resumed from elsewhere");
    }
}

/// A run that cannot go on keeps its files.
#[test]
fn what_cannot_be_resumed_keeps_its_files() {
    let folder = folder("resume_keeps");
    let path = half(&folder, "fused");
    let metrics = path.join("metrics.jsonl");
    let written = fs::read_to_string(&metrics).unwrap();
    fs::write(&metrics, written.replacen('{', "[", 1)).unwrap();
    let resume = "train --resume --run half --set training.epochs=2";
    refuses_typed(&folder, resume, &["metrics.jsonl"]);
    fs::write(&metrics, written.replacen("\"loss\"", "\"lost\"", 1)).unwrap();
    refuses_typed(&folder, resume, &["metrics.jsonl"]);
    fs::write(&metrics, written).unwrap();
    typed(&folder, resume).done();
    // The manifest has the weights of the steps before, too.
    let manifest = fs::read_to_string(path.join("manifest.sha256")).unwrap();
    let saved = fs::read_dir(path.join("weights")).unwrap().count();
    assert_eq!(manifest.matches("  weights/step-").count(), saved);
    assert_eq!(saved, 9, "steps 0, 25, ..., 200");
}
