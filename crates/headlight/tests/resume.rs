//! Resuming runs: which runs can be resumed, with which settings, and from which checkpoint.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use headlight_trainer::storage::checkpoint::Checkpoint;

use crate::common::runs::{assert_same, attempt, command, copy, files, finish, half, newest};
use crate::common::{
    Delays, Finished, SHORT, ended, folder, headlight, refused, refuses, run, send, text,
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

#[test]
fn a_damaged_checkpoint_is_skipped() {
    let folder = folder("damaged");
    let undisturbed = folder.join("undisturbed");
    finish(&undisturbed, "fused", &[]);
    let undisturbed = files(&undisturbed);
    let run = folder.join("run");
    // Killed on the way, so that something is left to compute.
    loop {
        let mut child = command(&run, "fused", &[]).spawn().unwrap();
        while !run.join("attention/step-000060.npz").exists() {
            sleep(Duration::from_micros(100));
        }
        send(&child, "KILL");
        if !child.wait().unwrap().success() {
            break;
        }
        fs::remove_dir_all(&run).unwrap();
    }
    let name = newest(&run).strip_prefix(&run).unwrap().to_owned();
    let whole = fs::read(run.join(&name)).unwrap();

    let mut delays = Delays(11);
    let damaged = folder.join("copy");
    for attempt in 0..100 {
        copy(&run, &damaged);
        let mut bytes = whole.clone();
        let offset = delays.below(bytes.len() as u64) as usize;
        if attempt % 4 == 0 {
            bytes.truncate(offset);
        } else {
            bytes[offset] ^= 1 << delays.below(8);
        }
        fs::write(damaged.join(&name), bytes).unwrap();
        let file = text(&damaged.join(&name)).to_owned();
        ended(&finish(&damaged, "fused", &[]), 0, &[&file]);
        assert_same(&damaged, &undisturbed, &format!("offset {offset}"));
        fs::remove_dir_all(&damaged).unwrap();
    }

    // With every checkpoint damaged nothing is guessed, and nothing lost.
    copy(&run, &damaged);
    for entry in fs::read_dir(damaged.join("checkpoint")).unwrap() {
        fs::write(entry.unwrap().path(), "headlight").unwrap();
    }
    let before = fs::read(damaged.join("metrics.jsonl")).unwrap();
    refused(&attempt(&damaged, "fused", &[]), &["--run"]);
    assert_eq!(fs::read(damaged.join("metrics.jsonl")).unwrap(), before);
}

/// A checkpoint of an older Headlight has no value for a key that was added since; the key's default holds then.
#[test]
fn a_key_that_a_checkpoint_lacks_has_its_default() {
    let folder = folder("older");
    let run = half(&folder, "fused");
    let path = newest(&run);
    let bytes = fs::read(&path).unwrap();
    let mut checkpoint = Checkpoint::decode(&bytes).unwrap();
    let training = checkpoint.config["training"].as_object_mut().unwrap();
    assert!(training.remove("beta_1").is_some());
    fs::write(&path, checkpoint.encode().unwrap()).unwrap();
    let other = ["training.epochs=4", "training.beta_1=0.8"];
    let other = resumed_with(&run, &other);
    refused(&other, &["training.beta_1", "0.9", "0.8"]);
    ended(&finish(&run, "fused", &[]), 0, &["100", "200"]);
}

/// A run whose metrics were edited cannot be resumed from a checkpoint after the edit.
#[test]
fn edited_metrics_are_noticed() {
    let folder = folder("changed-metrics");
    let run = half(&folder, "fused");
    let path = run.join("metrics.jsonl");
    let lines = fs::read_to_string(&path).unwrap();
    fs::write(&path, lines.replacen("\"step\":25", "\"step\":26", 1)).unwrap();
    refused(&attempt(&run, "fused", &[]), &[text(&path)]);
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
    // Missing dumps do not make it train again: it writes that of its last step, and names the others.
    fs::remove_dir_all(path.join("attention")).unwrap();
    let first = "attention/step-000000.npz";
    ended(&attempt(&path, "fused", &[]), 2, &[first]);
    assert!(path.join("report.md").is_file());
    assert!(path.join("attention/step-000200.npz").is_file());
    // With more epochs it trains on, dumps or no dumps.
    let more = ["--set", "training.epochs=3"];
    ended(&attempt(&path, "fused", &more), 2, &[first]);
    let now = fs::read_to_string(&environment).unwrap();
    let now: serde_json::Value = serde_json::from_str(&now).unwrap();
    assert_eq!(now["resumed"][0]["step"], 200);
}

/// What a killed process left unfinished goes, also if the run has ended and there is nothing else to do.
#[test]
fn an_ended_run_keeps_no_unfinished_file() {
    let path = folder("resume_unfinished").join("run");
    finish(&path, "fused", &[]);
    let left = path.join(".unfinished-x");
    fs::write(&left, "").unwrap();
    run(&["train", "--resume", "--run", text(&path)]).done();
    assert!(!left.exists());
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

#[test]
fn a_run_without_checkpoints_is_left_alone() {
    let path = folder("no-checkpoints").join("run");
    finish(&path, "fused", &[]);
    fs::remove_dir_all(path.join("checkpoint")).unwrap();
    refused(&attempt(&path, "fused", &[]), &[text(&path), "--run"]);
    assert!(path.join("report.md").is_file());
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

/// Pipes in a run directory are replaced or refused, not waited for.
#[cfg(unix)]
#[test]
fn pipes_in_a_run_are_not_waited_for() {
    let folder = folder("pipes");
    let whole = half(&folder, "fused");
    for (name, code) in [("environment.json", 0), ("metrics.jsonl", 2), (".lock", 2)] {
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

/// More samples in the file of a run are reported as such; its checkpoints are whole.
#[test]
fn a_dataset_that_grew_is_named() {
    let folder = folder("resume_grown");
    let file = folder.join("mine.csv");
    let samples = |rows: usize| {
        let rows = (0..rows).map(|row| format!("{},{},{}\n", row % 2, row % 7 + 1, row % 2 + 1));
        fs::write(
            &file,
            "label,token_0,token_1\n".to_owned() + &rows.collect::<String>(),
        )
        .unwrap();
    };
    samples(40);
    let config = format!(
        "data.file = {:?}\nmodel.d_model = 4\ntraining.epochs = 2\n",
        text(&file)
    );
    fs::write(folder.join("mine.toml"), config).unwrap();
    let run_dir = folder.join("run");
    run(&[
        "train",
        text(&folder.join("mine.toml")),
        "--run",
        text(&run_dir),
    ])
    .done();
    for rows in [41, 400] {
        samples(rows);
        let resume = [
            "train",
            "--resume",
            "--run",
            text(&run_dir),
            "--set",
            "training.epochs=3",
        ];
        let refused = refuses(&folder, &resume, &["[data]"]);
        assert!(!refused.stderr.contains("checkpoint"), "{}", refused.stderr);
    }
    samples(40);
    resumed_with(&run_dir, &["training.epochs=3"]).done();
}
