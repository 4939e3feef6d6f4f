//! Resuming runs: which runs can be resumed, with which settings, and from which checkpoint.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::runs::{assert_same, attempt, command, copy, files, finish, half};
use crate::common::{
    Finished, SHORT, contents, ended, folder, headlight, refused, refuses, run, run_in, send, text,
};

/// `train --resume` with settings.
fn resumed_with(path: &Path, sets: &[&str]) -> Finished {
    let sets = sets.iter().flat_map(|&set| ["--set", set]);
    let train = ["train", "--resume", "--run", text(path)];
    run(&train.into_iter().chain(sets).collect::<Vec<_>>())
}

/// Dumps quote their config, and so those from before the resumption quote the old `training.epochs`; nothing
/// else differs.
#[test]
fn longer_training_is_the_longer_run() {
    let folder = folder("longer");
    for engine in ["fused", "burn"] {
        let at = folder.join(engine);
        fs::create_dir(&at).unwrap();
        let run = half(&at, engine);
        ended(&finish(&run, engine, &[]), 0, &["100", "200"]);
        let whole = at.join("whole");
        finish(&whole, engine, &[]);
        let (longer, whole) = (files(&run), files(&whole));
        assert!(longer.keys().eq(whole.keys()));
        for (name, bytes) in &whole {
            let is_dump = name.starts_with("attention");
            assert!(is_dump || &longer[name] == bytes, "{}", name.display());
        }
        let last = Path::new("attention/step-000200.npz");
        assert_eq!(longer[last], whole[last]);
    }
}

/// A run that is resumed and improves replaces its best model, with its dump. While it trains, neither of an earlier step is
/// there.
#[test]
fn a_better_model_replaces_the_best_one() {
    let folder = folder("better");
    let path = half(&folder, "fused");
    let best = ["best.safetensors", "attention/best.npz"].map(|name| path.join(name));
    let bytes = || best.each_ref().map(|file| fs::read(file).ok());
    let before = bytes();
    assert!(before.iter().all(Option::is_some));
    let mut child = command(&path, "fused", &["--set", "training.epochs=10000"])
        .spawn()
        .unwrap();
    while !path.join("attention/step-000120.npz").exists() {
        sleep(Duration::from_micros(100));
    }
    send(&child, "KILL");
    child.wait().unwrap();
    assert_eq!(bytes(), [None, None]);
    fs::remove_dir_all(&path).unwrap();
    let path = half(&folder, "fused");
    finish(&path, "fused", &[]);
    let after = bytes();
    for (before, after) in before.iter().zip(&after) {
        assert!(after.is_some() && after != before);
    }
    let whole = folder.join("whole");
    finish(&whole, "fused", &[]);
    let best = Path::new("attention/best.npz");
    assert!(files(&path)[best] == files(&whole)[best]);
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
        refused(
            &attempt(&damaged, "fused", &[]),
            &["headlight train", text(&config)],
        );
        assert!(contents(&damaged) == before, "{name}");
        let again = folder.join("again");
        run(&["train", text(&config), "--run", text(&again)]).done();
        assert_same(&again, &undisturbed, name);
        fs::remove_dir_all(&damaged).unwrap();
        fs::remove_dir_all(&again).unwrap();
    }
}

/// The weights of each evaluation are those of an undisturbed run, also after an interruption between two of them.
#[test]
fn the_weights_of_evaluations_survive_a_kill() {
    let folder = folder("step_weights");
    let save = ["--set", "training.save_weights=true"];
    let weights = |path: &Path| contents(&path.join("weights"));
    let whole = folder.join("whole");
    finish(&whole, "fused", &save);
    let path = folder.join("run");
    finish(
        &path,
        "fused",
        &[&save[..], &["--set", "training.epochs=1"]].concat(),
    );
    // As an interruption after step 111 leaves it.
    let first = path.join("weights/step-000025.safetensors");
    fs::copy(first, path.join("weights/step-000111.safetensors")).unwrap();
    finish(&path, "fused", &save);
    assert!(
        weights(&path)
            .into_values()
            .eq(weights(&whole).into_values())
    );
    let manifest = fs::read_to_string(path.join("manifest.sha256")).unwrap();
    assert_eq!(
        manifest.matches("  weights/step-").count(),
        weights(&whole).len()
    );
    run(&["verify", text(&path)]).done();
}

#[test]
fn a_finished_run_stays_as_it_is() {
    let folder = folder("finished");
    let path = folder.join("run");
    finish(&path, "fused", &[]);
    let before = files(&path);
    let environment = path.join("environment.json");
    let began = fs::read(&environment).unwrap();
    let again = finish(&path, "fused", &[]);
    ended(&again, 0, &["200"]);
    assert_same(&path, &before, "again");
    // Also with the config of the run directory.
    run(&["train", "--resume", "--run", text(&path)]).done();
    assert_same(&path, &before, "from its own config");
    assert_eq!(fs::read(&environment).unwrap(), began);
    // Without its report, it has not ended: its last files are written again.
    fs::remove_file(path.join("report.md")).unwrap();
    fs::remove_file(path.join("model.safetensors")).unwrap();
    finish(&path, "fused", &[]);
    assert_same(&path, &before, "ended again");
    // With more epochs it trains on.
    finish(&path, "fused", &["--set", "training.epochs=3"]);
    let now = fs::read_to_string(&environment).unwrap();
    let now: serde_json::Value = serde_json::from_str(&now).unwrap();
    assert_eq!(now["resumed"][1]["step"], 200);
}

#[test]
fn other_settings_are_refused_with_the_difference() {
    let folder = folder("other-settings");
    let path = half(&folder, "fused");
    let before = files(&path);
    let cases: [(&str, &[&str]); 7] = [
        (
            "training.learning_rate=0.5",
            &["training.learning_rate", "0.01", "0.5"],
        ),
        // The checkpoint does not match these, and is not called damaged.
        ("model.d_model=4", &["model.d_model", "8", "4"]),
        ("training.batch_size=8", &["training.batch_size", "16", "8"]),
        ("model.n_heads=2", &["model.n_heads", "1", "2"]),
        ("dump.samples=[1]", &["dump.samples", "[0]", "[1]"]),
        ("seed=3", &["seed", "0", "3"]),
        (
            "compute.engine=burn",
            &["compute.engine", "\"fused\"", "\"burn\""],
        ),
    ];
    for (set, parts) in cases {
        refused(&resumed_with(&path, &[set]), parts);
    }
    let notebook = ["train", "notebook", "--resume", "--run", text(&path)];
    refused(&run(&notebook), &["data.samples", "1600", "8000"]);
    assert_same(&path, &before, "refused");
    // Fewer epochs than have been trained.
    finish(&path, "fused", &[]);
    let fewer = ["training.epochs=1", "checkpoint.every_steps=7"];
    let parts = ["200", "100", "training.epochs = 1"];
    refused(&resumed_with(&path, &fewer), &parts);
}

#[test]
fn other_samples_are_refused() {
    let folder = folder("other-samples");
    let (data, path) = (folder.join("data.csv"), folder.join("run"));
    run(&["data", "configs/quick.toml", "--out", text(&data)]).done();
    let config = folder.join("file.toml");
    let toml = format!(
        "[data]\nfile = '{}'\nvocab_size = 51\nseq_len = 6\n\
         [model]\nd_model = 8\n[training]\nepochs = 1\n",
        text(&data)
    );
    fs::write(&config, toml).unwrap();
    let train = |more: &[&str]| {
        let arguments = ["train", text(&config), "--resume", "--run", text(&path)];
        run(&[&arguments, more].concat())
    };
    train(&[]).done();
    // A file may have moved.
    let moved = folder.join("moved.csv");
    fs::copy(&data, &moved).unwrap();
    let file = format!("data.file='{}'", text(&moved));
    train(&["--set", "training.epochs=2", "--set", &file]).done();
    let lines = fs::read_to_string(&data).unwrap();
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.swap(5, 6);
    fs::write(&data, lines.join("\n") + "\n").unwrap();
    let finished = train(&["--set", "training.epochs=3"]);
    refused(&finished, &[text(&path), "[data]"]);
    lines.truncate(100);
    fs::write(&data, lines.join("\n") + "\n").unwrap();
    let finished = train(&["--set", "training.epochs=3"]);
    refused(&finished, &[text(&path), "[data]"]);
}

#[test]
fn one_process_writes_a_run() {
    let folder = folder("one-process");
    let path = folder.join("run");
    let mut first = command(&path, "burn", &["--set", "training.epochs=10000"])
        .spawn()
        .unwrap();
    while !path.join("metrics.jsonl").exists() {
        sleep(Duration::from_millis(1));
    }
    let second = attempt(&path, "burn", &[]);
    send(&first, "INT");
    assert_eq!(first.wait().unwrap().code(), Some(130));
    refused(&second, &[text(&path)]);
}

/// Processes of different seeds that begin at once: one trains the run, and the others refuse it.
#[test]
fn processes_that_start_together_write_one_run() {
    let folder = folder("together");
    let seeds = ["1", "2", "3"];
    let command = |path: &Path, seed: &str, resume: bool| {
        let mut command = headlight();
        command.args(["train", "configs/quick.toml", "--engine", "fused"]);
        command.args(SHORT).args(["--set", &format!("seed={seed}")]);
        command.args(["--run", text(path)]);
        command.args(resume.then_some("--resume"));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let undisturbed = seeds.map(|seed| {
        let path = folder.join(seed);
        Finished::from(command(&path, seed, false).output().unwrap()).done();
        files(&path)
    });
    for attempt in 0..30 {
        let path = folder.join(format!("run-{attempt}"));
        let resumes = [false, true, attempt % 2 == 0];
        let starts = seeds.iter().zip(resumes);
        let children: Vec<Child> = starts
            .map(|(seed, resume)| command(&path, seed, resume).spawn().unwrap())
            .collect();
        let ends = children.into_iter().map(|child| {
            let finished = Finished::from(child.wait_with_output().unwrap());
            // A process that has created the directory may find that another one has locked it.
            match finished.code {
                Some(0) => {}
                Some(1) => ended(&finished, 1, &[".lock"]),
                _ => refused(&finished, &[text(&path)]),
            }
            finished.code == Some(0)
        });
        let ends: Vec<bool> = ends.collect();
        let winner = ends.iter().position(|&done| done).unwrap();
        assert_eq!(ends.iter().filter(|&&done| done).count(), 1, "{attempt}");
        assert_same(&path, &undisturbed[winner], seeds[winner]);
        run(&["verify", text(&path)]).done();
    }
}

#[test]
fn a_folder_that_is_not_a_run_is_left_alone() {
    let folder = folder("no-run");
    fs::write(folder.join("thesis.txt"), "mine").unwrap();
    let train = ["train", "configs/quick.toml", "--resume", "--run"];
    let train = [&train[..], &[text(&folder)]].concat();
    refuses(&folder, &train, &[text(&folder)]);
}

/// The settings of the steps so far count, not later edits of config.toml.
#[test]
fn an_edited_config_is_noticed() {
    let path = half(&folder("edited"), "fused");
    let config = path.join("config.toml");
    let text_before = fs::read_to_string(&config).unwrap();
    let edited = text_before.replace("learning_rate = 0.01", "learning_rate = 0.001");
    assert_ne!(edited, text_before);
    fs::write(&config, edited).unwrap();
    refused(
        &resumed_with(&path, &["training.epochs=2"]),
        &["training.learning_rate", "0.01", "0.001"],
    );
}

#[test]
fn resume_without_a_config_starts_no_run() {
    let folder = folder("typo");
    let path = folder.join("rnu");
    let train = ["train", "--resume", "--run", text(&path)];
    refuses(&folder, &train, &[text(&path)]);
}

/// Pipes in a run directory are refused, not waited for.
#[cfg(unix)]
#[test]
fn pipes_in_a_run_are_not_waited_for() {
    let folder = folder("pipes");
    let whole = half(&folder, "fused");
    for (name, code) in [("metrics.jsonl", 2), (".lock", 2)] {
        let path = folder.join(name.trim_start_matches('.'));
        copy(&whole, &path);
        fs::remove_file(path.join(name)).unwrap();
        let made = Command::new("mkfifo").arg(path.join(name)).status();
        assert!(made.unwrap().success());
        let mut child = command(&path, "fused", &[]).spawn().unwrap();
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < Duration::from_secs(20), "{name} hangs");
            sleep(Duration::from_millis(10));
        }
        let finished = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(finished.code, Some(code), "{name}: {}", finished.stderr);
    }
}

/// A log that became a link leads to a file that is not the run's.
#[test]
#[cfg(unix)]
fn links_in_a_run_are_not_written_through() {
    let folder = folder("links");
    let path = folder.join("begun");
    copy(&half(&folder, "fused"), &path);
    // Without a checkpoint, a resumed run starts again, with an empty log.
    fs::remove_dir_all(path.join("checkpoint")).unwrap();
    fs::remove_file(path.join("model.safetensors")).unwrap();
    fs::remove_file(path.join("metrics.jsonl")).unwrap();
    let own = folder.join("own.csv");
    fs::write(&own, "mine").unwrap();
    std::os::unix::fs::symlink(&own, path.join("metrics.jsonl")).unwrap();
    let resumed = command(&path, "fused", &[]).output().unwrap();
    refused(&resumed.into(), &["metrics.jsonl"]);
    assert_eq!(fs::read_to_string(own).unwrap(), "mine");
}

/// The config that a run was begun with names its files; so do its dumps and checkpoints, from wherever it is resumed.
#[test]
fn a_run_is_resumed_from_any_folder() {
    let at = folder("resume_folder");
    let (here, elsewhere) = (at.join("here"), at.join("elsewhere"));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let data = [
        "data",
        "quick",
        "--out",
        "x.csv",
        "--set",
        "data.samples=320",
    ];
    run_in(&here, &data).done();
    let train = ["train", "x.csv", "--engine", "fused", "--run", "run"];
    let sets = ["--set", "training.epochs=2", "--set", "dump.every_steps=4"];
    run_in(&here, &[&train[..], &sets].concat()).done();
    let path = here.join("run");
    let undisturbed = files(&path);
    let resume = ["train", "--resume", "--run", "../here/run", "--quiet"];
    // Before its end, and before its first checkpoint.
    for lost in [
        &["report.md"][..],
        &[
            "report.md",
            "model.safetensors",
            "checkpoint/state.safetensors",
        ],
    ] {
        for name in lost {
            fs::remove_file(path.join(name)).unwrap();
        }
        ended(&run_in(&elsewhere, &resume), 0, &[]);
        assert_same(&path, &undisturbed, "resumed from elsewhere");
    }
}

/// More epochs do not train a run whose patience has run out, but its files say that it may have had them.
#[test]
fn a_run_out_of_patience_is_extended() {
    let folder = folder("resume_patience");
    let sets = [
        "data.samples=320",
        "training.patience=2",
        "training.learning_rate=0.2",
        "training.evaluate_every=5",
    ];
    let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
    let with = |epochs: &'static str| [&sets[..], &["--set", epochs]].concat();
    let (path, longer) = (folder.join("run"), folder.join("longer"));
    finish(&path, "fused", &with("training.epochs=4"));
    finish(&longer, "fused", &with("training.epochs=5"));
    let longer = files(&longer);
    finish(&path, "fused", &with("training.epochs=5"));
    let found = files(&path);
    assert!(found.keys().eq(longer.keys()));
    for (name, bytes) in &longer {
        // Earlier dumps name the epochs of their time.
        let is_dump = name.starts_with("attention");
        assert!(is_dump || found[name] == *bytes, "{}", name.display());
    }
    run(&["verify", text(&path)]).done();
}
