//! Runs that are stopped, by whatever, and gone on with: the end is that of the undisturbed run.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Finished, Moments, folder, headlight, metrics, run, send, text};

/// A config that writes a lot: dumps, evaluations and checkpoints that fall on different steps.
const SETTINGS: [&str; 6] = [
    "dump.every_steps=30",
    "dump.every_epochs=0",
    "training.evaluate_every=25",
    "training.keep_best=held_out_loss",
    "checkpoint.every_steps=7",
    "training.epochs=2",
];

/// The same command begins a run and goes on with it.
fn command(run: &Path, engine: &str, more: &[&str]) -> Command {
    let mut command = headlight();
    command
        .args([
            "train",
            "configs/quick.toml",
            "--resume",
            "--run",
            text(run),
        ])
        .args(["--engine", engine])
        .args(SETTINGS.iter().flat_map(|set| ["--set", set]))
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn finish(run: &Path, engine: &str, more: &[&str]) -> Finished {
    Finished::from(command(run, engine, more).output().unwrap()).done()
}

/// All that a run leaves, but for what says when it ran, and checkpoints before the last.
fn files(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in ["", "attention", "checkpoint"] {
        let entries = fs::read_dir(run.join(name)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
        paths.sort();
        if name == "checkpoint" {
            paths.drain(..paths.len() - 1);
        }
        for path in paths {
            let bytes = fs::read(&path).unwrap();
            found.insert(path.strip_prefix(run).unwrap().to_owned(), bytes);
        }
    }
    for dated in ["environment.json", "inspector.html"] {
        assert!(found.remove(Path::new(dated)).is_some(), "{dated}");
    }
    found
}

fn assert_same(run: &Path, undisturbed: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    let found = files(run);
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(undisturbed), "{what}");
    for (name, bytes) in undisturbed {
        assert!(&found[name] == bytes, "{what}: {} differs", name.display());
    }
}

/// How many kills each engine has to survive.
fn kills_wanted() -> u32 {
    let wanted = std::env::var("HEADLIGHT_KILLS").ok();
    wanted.map_or(12, |count| count.parse().unwrap())
}

/// Begins runs and goes on with them, sending `signal` at any moment, until there have been enough.
fn stopped_again_and_again(engine: &str, signal: &str, expected: Option<i32>) {
    let folder = folder(&format!("stopped-{engine}-{signal}"));
    let undisturbed = folder.join("undisturbed");
    let started = Instant::now();
    finish(&undisturbed, engine, &[]);
    let whole = started.elapsed().as_micros() as u64;
    let undisturbed = files(&undisturbed);
    assert!(undisturbed.contains_key(Path::new("best.safetensors")));

    let mut moments = Moments(7);
    let (mut stopped, mut runs) = (0, 0);
    while stopped < kills_wanted() {
        runs += 1;
        let run = folder.join(format!("run-{runs}"));
        loop {
            let child = command(&run, engine, &[]).spawn().unwrap();
            sleep(Duration::from_micros(moments.below(whole)));
            send(&child, signal);
            let output = child.wait_with_output().unwrap();
            if output.status.success() {
                break;
            }
            stopped += 1;
            let message = String::from_utf8(output.stderr).unwrap();
            // Before it listens to signals there is nothing to save, and it dies of them.
            let listened = message.contains("interrupted after step");
            assert_eq!(
                output.status.code(),
                expected.filter(|_| listened),
                "{message}"
            );
        }
        assert_same(&run, &undisturbed, &format!("run {runs}"));
    }
    println!("{engine}: {stopped} times {signal}, {runs} runs");
}

#[test]
fn killed_at_any_moment_fused() {
    stopped_again_and_again("fused", "KILL", None);
}

#[test]
fn killed_at_any_moment_burn() {
    stopped_again_and_again("burn", "KILL", None);
}

#[test]
fn interrupted_at_any_moment_fused() {
    stopped_again_and_again("fused", "INT", Some(130));
}

#[test]
fn interrupted_at_any_moment_burn() {
    stopped_again_and_again("burn", "TERM", Some(143));
}

/// What a scheduler sends before its limit.
#[test]
fn warned_at_any_moment() {
    stopped_again_and_again("fused", "USR1", Some(138));
}

/// The second signal does not wait for anything to be saved, and still nothing is half there.
#[test]
fn interrupted_twice_at_any_moment() {
    let folder = folder("interrupted-twice");
    let undisturbed = folder.join("undisturbed");
    finish(&undisturbed, "fused", &[]);
    let undisturbed = files(&undisturbed);
    let run = folder.join("run");
    let mut moments = Moments(5);
    loop {
        let child = command(&run, "fused", &[]).spawn().unwrap();
        sleep(Duration::from_micros(moments.below(60_000)));
        send(&child, "INT");
        sleep(Duration::from_micros(moments.below(5_000)));
        send(&child, "INT");
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            break;
        }
        assert!(matches!(output.status.code(), None | Some(130)));
    }
    assert_same(&run, &undisturbed, "twice");
}

/// A run that was interrupted half-way.
fn half(folder: &Path, engine: &str) -> PathBuf {
    let path = folder.join("half");
    let more = ["--set", "training.epochs=1"];
    finish(&path, engine, &more);
    path
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The newest checkpoint of a run.
fn newest(run: &Path) -> PathBuf {
    let entries = fs::read_dir(run.join("checkpoint")).unwrap();
    entries.map(|entry| entry.unwrap().path()).max().unwrap()
}

/// Dumps name the config that they were made with, so those from before a longer training differ
/// from those of a run that was as long from its beginning; nothing else does.
#[test]
fn longer_training_is_the_longer_run() {
    let folder = folder("longer");
    for engine in ["fused", "burn"] {
        let at = folder.join(engine);
        fs::create_dir(&at).unwrap();
        let run = half(&at, engine);
        let finished = finish(&run, engine, &[]);
        let text = finished.stderr;
        assert!(text.contains("going on from step 100 of 200"), "{text}");
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

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let folder = folder("damaged");
    let undisturbed = folder.join("undisturbed");
    finish(&undisturbed, "fused", &[]);
    let undisturbed = files(&undisturbed);
    let run = folder.join("run");
    // Killed on the way, so that there is something left to compute.
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

    let mut moments = Moments(11);
    let damaged = folder.join("copy");
    for attempt in 0..100 {
        copy(&run, &damaged);
        let mut bytes = whole.clone();
        let offset = moments.below(bytes.len() as u64) as usize;
        if attempt % 4 == 0 {
            bytes.truncate(offset);
        } else {
            bytes[offset] ^= 1 << moments.below(8);
        }
        fs::write(damaged.join(&name), bytes).unwrap();
        let finished = finish(&damaged, "fused", &[]);
        let message = finished.stderr;
        assert!(message.contains("cannot be used: it "), "{message}");
        assert!(message.contains("going back to "), "{message}");
        assert_same(&damaged, &undisturbed, &format!("offset {offset}"));
        fs::remove_dir_all(&damaged).unwrap();
    }

    // With every checkpoint damaged nothing is guessed, and nothing lost.
    copy(&run, &damaged);
    for entry in fs::read_dir(damaged.join("checkpoint")).unwrap() {
        fs::write(entry.unwrap().path(), "headlight").unwrap();
    }
    let before = fs::read(damaged.join("metrics.jsonl")).unwrap();
    let finished = Finished::from(command(&damaged, "fused", &[]).output().unwrap());
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("can be used; train anew with another --run"),
        "{}",
        finished.stderr
    );
    assert_eq!(fs::read(damaged.join("metrics.jsonl")).unwrap(), before);
}

/// Metrics that were changed by hand take the run back to where they were still as written.
#[test]
fn changed_metrics_are_noticed() {
    let folder = folder("changed-metrics");
    let run = half(&folder, "fused");
    let path = run.join("metrics.jsonl");
    let lines = fs::read_to_string(&path).unwrap();
    fs::write(&path, lines.replacen("\"step\":25", "\"step\":26", 1)).unwrap();
    let finished = Finished::from(command(&run, "fused", &[]).output().unwrap());
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("is no longer what was written until then"),
        "{}",
        finished.stderr
    );
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
    assert!(
        again.stderr.contains("has ended already, at step 200"),
        "{}",
        again.stderr
    );
    assert_same(&path, &before, "again");
    // With the run's own config, too.
    run(&["train", "--resume", "--run", text(&path)]).done();
    assert_same(&path, &before, "from its own config");
    assert_eq!(fs::read(&environment).unwrap(), began);
    // It is not taken to pieces where it could not be put together again.
    fs::remove_dir_all(path.join("attention")).unwrap();
    finish(&path, "fused", &[]);
    assert!(path.join("report.md").is_file());
    // With more to do it goes on, dumps or no dumps.
    finish(&path, "fused", &["--set", "training.epochs=3"]);
    let now = fs::read_to_string(&environment).unwrap();
    let now: serde_json::Value = serde_json::from_str(&now).unwrap();
    assert_eq!(now["resumed"][0]["step"], 200);
    let page = fs::read_to_string(path.join("inspector.html")).unwrap();
    assert!(page.contains("Gone on with from step 200"));
}

#[test]
fn other_settings_are_refused_with_the_difference() {
    let folder = folder("other-settings");
    let path = half(&folder, "fused");
    let before = files(&path);
    for (set, said) in [
        (
            "training.learning_rate=0.5",
            "training.learning_rate was 0.01 and would be 0.5",
        ),
        ("model.n_heads=2", "model.n_heads was 1 and would be 2"),
        ("dump.samples=[1]", "dump.samples was [0] and would be [1]"),
        ("seed=3", "seed was 0 and would be 3"),
        (
            "compute.engine=burn",
            "compute.engine was \"fused\" and would be \"burn\"",
        ),
    ] {
        let finished = run(&["train", "--resume", "--run", text(&path), "--set", set]);
        assert_eq!(finished.code, Some(2), "{set}");
        assert!(finished.stderr.contains(said), "{}", finished.stderr);
    }
    // Less training than there has been.
    let set = [
        "--set",
        "training.epochs=1",
        "--set",
        "checkpoint.every_steps=7",
    ];
    finish(&path, "fused", &[]);
    let finished = run(&[&["train", "--resume", "--run", text(&path)][..], &set].concat());
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("is at step 200 already, beyond the 100 of training.epochs = 1"),
        "{}",
        finished.stderr
    );
    assert_ne!(files(&path), before);
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
    // A file that was moved is the same.
    let moved = folder.join("moved.csv");
    fs::copy(&data, &moved).unwrap();
    let file = format!("data.file='{}'", text(&moved));
    train(&["--set", "training.epochs=2", "--set", &file]).done();
    let lines = fs::read_to_string(&data).unwrap();
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.swap(5, 6);
    fs::write(&data, lines.join("\n") + "\n").unwrap();
    let finished = train(&["--set", "training.epochs=3"]);
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("are no longer those that it began with"),
        "{}",
        finished.stderr
    );
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
    let second = Finished::from(command(&path, "burn", &[]).output().unwrap());
    assert_eq!(second.code, Some(2));
    assert!(
        second
            .stderr
            .contains("another process is writing the run in"),
        "{}",
        second.stderr
    );
    send(&first, "INT");
    assert_eq!(first.wait().unwrap().code(), Some(130));
}

#[test]
fn what_is_no_run_is_left_alone() {
    let folder = folder("no-run");
    fs::write(folder.join("thesis.txt"), "mine").unwrap();
    let finished = Finished::from(command(&folder, "fused", &[]).output().unwrap());
    assert_eq!(finished.code, Some(2));
    assert!(
        finished.stderr.contains("it is no run directory"),
        "{}",
        finished.stderr
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_run_without_checkpoints_is_not_taken_to_pieces() {
    let path = folder("no-checkpoints").join("run");
    finish(&path, "fused", &[]);
    fs::remove_dir_all(path.join("checkpoint")).unwrap();
    let finished = Finished::from(command(&path, "fused", &[]).output().unwrap());
    assert_eq!(finished.code, Some(2));
    assert!(
        finished.stderr.contains("no checkpoint to go on from"),
        "{}",
        finished.stderr
    );
    assert!(path.join("report.md").is_file());
}

/// Stops when it should, at the same moment whether or not it was stopped on the way, and keeps the
/// best model rather than the last.
#[test]
fn patience_and_the_best_model_survive() {
    let folder = folder("patience");
    let more: Vec<&str> = [
        "training.patience=3",
        "training.epochs=40",
        "training.learning_rate=0.05",
        "training.evaluate_every=10",
        "training.keep_best=held_out_accuracy",
        "data.samples=160",
        "data.held_out=100",
    ]
    .into_iter()
    .flat_map(|set| ["--set", set])
    .collect();
    let whole = folder.join("whole");
    finish(&whole, "fused", &more);
    let report = fs::read_to_string(whole.join("report.md")).unwrap();
    let lines = metrics(&whole);
    let accuracies = lines.iter().map(|line| line["held_out_accuracy"].as_f64());
    let accuracies: Vec<f64> = accuracies.map(Option::unwrap).collect();
    let best = accuracies.iter().copied().fold(0.0, f64::max);
    let at = accuracies.iter().position(|&value| value >= best).unwrap();
    assert_eq!(accuracies.len(), at + 4, "{accuracies:?}");
    assert!(lines.len() < 41, "it stopped early");
    let step = &lines[at]["step"];
    let said = format!("Best held_out_accuracy: {best:.6} at step {step}");
    assert!(report.contains(&said), "{said}: {report}");
    assert!(
        report.contains("has not been better since, in 3 evaluations"),
        "{report}"
    );

    let stopped = folder.join("stopped");
    let mut moments = Moments(3);
    loop {
        let mut child = command(&stopped, "fused", &more).spawn().unwrap();
        sleep(Duration::from_millis(moments.below(60)));
        send(&child, "KILL");
        if child.wait().unwrap().success() {
            break;
        }
    }
    assert_same(&stopped, &files(&whole), "patience");
}

#[test]
fn patience_needs_something_to_watch() {
    let finished = run(&[
        "train",
        "configs/quick.toml",
        "--set",
        "training.patience=3",
    ]);
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("name a measurement with training.keep_best"),
        "{}",
        finished.stderr
    );
    let set = [
        "--set",
        "training.keep_best=held_out_f1",
        "--set",
        "data.held_out=0",
    ];
    let finished = run(&[&["train", "configs/quick.toml"][..], &set].concat());
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("no held-out samples to measure held_out_f1 on"),
        "{}",
        finished.stderr
    );
}

#[test]
fn divergence_keeps_the_last_good_checkpoint() {
    let folder = folder("diverged");
    for engine in ["fused", "burn"] {
        // With a dump on the step that diverges, and without.
        for dump_every in ["1", "30"] {
            let path = folder.join(format!("{engine}-{dump_every}"));
            let every = format!("dump.every_steps={dump_every}");
            let sets = ["training.learning_rate=1e18", "checkpoint.every_steps=1"];
            let sets = sets.into_iter().chain([every.as_str()]);
            let more: Vec<&str> = sets.flat_map(|set| ["--set", set]).collect();
            let finished = Finished::from(command(&path, engine, &more).output().unwrap());
            assert_eq!(finished.code, Some(3), "{}", finished.stderr);
            for part in [
                "training diverged: ",
                " at step ",
                "the largest gradient of the step before was ",
                ", of `",
                "try a training.learning_rate below 1e18",
                "metrics so far are in ",
            ] {
                assert!(
                    finished.stderr.contains(part),
                    "{part}: {}",
                    finished.stderr
                );
            }
            assert!(!path.join("report.md").exists());
            if dump_every == "1" {
                // The dump after the first step comes before any checkpoint.
                continue;
            }
            let message = finished.stderr;
            for part in [
                "last good checkpoint, of step 1,",
                "best.safetensors, of step 0,",
            ] {
                assert!(message.contains(part), "{part}: {message}");
            }
            assert!(newest(&path).ends_with("step-000000001.checkpoint"));
            assert!(path.join("best.safetensors").is_file());
        }
    }
}

/// What the steps so far were taken with counts, not what has been made of config.toml since.
#[test]
fn an_edited_config_is_noticed() {
    let path = half(&folder("edited"), "fused");
    let config = path.join("config.toml");
    let text_before = fs::read_to_string(&config).unwrap();
    let edited = text_before.replace("learning_rate = 0.01", "learning_rate = 0.001");
    assert_ne!(edited, text_before);
    fs::write(&config, edited).unwrap();
    let set = ["--set", "training.epochs=2"];
    let finished = run(&[&["train", "--resume", "--run", text(&path)][..], &set].concat());
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("training.learning_rate was 0.01 and would be 0.001"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_name_that_is_no_run_begins_nothing() {
    let path = folder("typo").join("rnu");
    let finished = run(&["train", "--resume", "--run", text(&path)]);
    assert_eq!(finished.code, Some(2));
    assert!(
        finished.stderr.contains("there is no run in"),
        "{}",
        finished.stderr
    );
    assert!(!path.exists());
}

/// Pipes in a run's folder are refused, not waited for.
#[cfg(unix)]
#[test]
fn pipes_in_a_run_are_not_waited_for() {
    let folder = folder("pipes");
    let whole = half(&folder, "fused");
    for name in ["environment.json", "metrics.jsonl", ".lock"] {
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
        assert_eq!(finished.code, Some(2), "{name}: {}", finished.stderr);
    }
}

/// `headlight train | head -1` ends well, and so does the run.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let path = folder("closed-pipe").join("run");
    let mut child = command(&path, "fused", &[])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(path.join("report.md").is_file());
}

#[test]
fn a_vanished_folder_is_said() {
    let path = folder("vanished").join("run");
    let child = command(&path, "burn", &["--set", "training.epochs=10000"])
        .spawn()
        .unwrap();
    while !path.join("attention/step-000030.npz").exists() {
        sleep(Duration::from_millis(1));
    }
    // It may write a file between our listing and our removing.
    while fs::remove_dir_all(&path).is_err() && path.exists() {}
    let finished = Finished::from(child.wait_with_output().unwrap());
    assert!(matches!(finished.code, Some(1 | 2)), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("cannot write"),
        "{}",
        finished.stderr
    );
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

/// Runs on disks that are full sooner or later, each of which goes on elsewhere. The disks are small
/// tmpfs in a mount namespace of their own, which Linux gives to anybody where it is not switched
/// off; `HEADLIGHT_EXPECT` with `tmpfs` in it makes sure that it is not.
#[test]
fn a_full_disk_loses_nothing() {
    let folder = folder("full-disk");
    let can_mount = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "mount"])
        .args(["-t", "tmpfs", "tmpfs", text(&folder)])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !can_mount {
        let expected = std::env::var("HEADLIGHT_EXPECT").unwrap_or_default();
        assert!(!expected.contains("tmpfs"), "no tmpfs can be mounted");
        println!("not tried: no tmpfs can be mounted here");
        return;
    }
    let undisturbed = folder.join("undisturbed");
    finish(&undisturbed, "fused", &[]);
    let undisturbed = files(&undisturbed);
    let disk = folder.join("disk");
    fs::create_dir(&disk).unwrap();
    let mut full = 0;
    for kilobytes in (20..).step_by(24) {
        let saved = folder.join(format!("saved-{kilobytes}"));
        let run = disk.join("run");
        let train = command(&run, "fused", &[]);
        let script = format!(
            "mount -t tmpfs -o size={kilobytes}k tmpfs '{}' || exit 99\n\
             \"$@\"; code=$?; cp -r '{}' '{}'; exit $code",
            text(&disk),
            text(&run),
            text(&saved)
        );
        let output = Command::new("unshare")
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                &script,
                "sh",
            ])
            .arg(train.get_program())
            .args(train.get_args())
            .current_dir(train.get_current_dir().unwrap())
            .output();
        let finished = Finished::from(output.unwrap());
        let unfinished = fs::read_dir(&saved).unwrap().any(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.starts_with(".unfinished-")
        });
        assert!(!unfinished, "{kilobytes} KiB");
        if finished.code == Some(0) {
            // The page is no part of what must be there: it may be what did not fit.
            break;
        }
        full += 1;
        assert_eq!(finished.code, Some(1), "{}", finished.stderr);
        for part in [
            "No space left on device",
            "free some space",
            "--resume --run",
        ] {
            assert!(finished.stderr.contains(part), "{}", finished.stderr);
        }
        finish(&saved, "fused", &[]);
        assert_same(&saved, &undisturbed, &format!("{kilobytes} KiB"));
    }
    assert!(full > 5, "{full} disks were full");
}
