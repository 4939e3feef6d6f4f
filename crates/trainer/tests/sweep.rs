//! Sweeps: what a row says, that bytes depend on the plan alone, and what is refused.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Finished, folder, headlight, metrics, run, text};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A sweep of the notebook's experiment, one epoch of it.
fn sweep(out: &Path, seeds: &str, more: &[&str]) -> Finished {
    let arguments = [
        "sweep",
        "--seeds",
        seeds,
        "--out",
        text(out),
        "--set",
        "training.epochs=1",
    ];
    run(&[&arguments, more].concat())
}

fn rows(path: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(path).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[test]
fn a_row_says_what_a_run_of_its_seed_says() {
    let folder = folder("sweep_row");
    for (engine, seeds) in [("fused", "5..8"), ("burn", "6..7")] {
        let out = folder.join(format!("{engine}.jsonl"));
        run(&[
            "sweep",
            "--seeds",
            seeds,
            "--engine",
            engine,
            "--out",
            text(&out),
        ])
        .done();
        for row in rows(&out) {
            let seed = format!("seed={}", row["seed"]);
            let path = folder.join(format!("{engine}-{seed}"));
            run(&[
                "train",
                "--engine",
                engine,
                "--set",
                &seed,
                "--run",
                text(&path),
            ])
            .done();
            assert_eq!(
                row["weights_sha256"],
                hex(&fs::read(path.join("model.safetensors")).unwrap())
            );
            let lines = metrics(&path);
            let last = lines.last().unwrap();
            for (ours, theirs) in [
                ("final_loss", "loss"),
                ("accuracy", "accuracy"),
                ("precision", "precision"),
                ("recall", "recall"),
                ("f1", "f1"),
                ("held_out_final_loss", "held_out_loss"),
                ("held_out_accuracy", "held_out_accuracy"),
                ("held_out_precision", "held_out_precision"),
                ("held_out_recall", "held_out_recall"),
                ("held_out_f1", "held_out_f1"),
                ("min_positive", "min_positive"),
                ("max_negative", "max_negative"),
            ] {
                assert_eq!(row[ours], last[theirs], "{ours}");
            }
            let losses: Vec<&Value> = lines[1..].iter().map(|line| &line["train_loss"]).collect();
            assert_eq!(
                row["epoch_loss"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .collect::<Vec<_>>(),
                losses
            );
            for class in ["attention_positive", "attention_negative"] {
                assert_eq!(row[class].as_array().unwrap().len(), 7);
                assert_eq!(row[class][3], last[class], "{class}");
            }
        }
    }
}

#[test]
fn the_step_of_learning_is_the_first_with_enough_held_out_f1() {
    let folder = folder("sweep_learned");
    let out = folder.join("rows.jsonl");
    run(&["sweep", "--seeds", "3..5", "--out", text(&out)]).done();
    for row in rows(&out) {
        let path = folder.join(row["seed"].to_string());
        let seed = format!("seed={}", row["seed"]);
        let each = [
            "--set",
            "training.evaluate_every=1",
            "--set",
            "dump.formats=[\"npz\"]",
        ];
        run(&[&["train", "--set", &seed, "--run", text(&path)][..], &each].concat()).done();
        let learned = metrics(&path)
            .into_iter()
            .find(|line| line["held_out_f1"].as_f64() >= Some(0.99));
        assert_eq!(row["learned_at_step"], learned.unwrap()["step"]);
    }
}

#[test]
fn bytes_depend_on_the_plan_alone() {
    let folder = folder("sweep_bytes");
    let of = |name: &str, more: &[&str]| {
        let out = folder.join(name);
        sweep(&out, "0..60", more).done();
        fs::read(out).unwrap()
    };
    let one = of("1.jsonl", &["--threads", "1"]);
    assert_eq!(one, of("2.jsonl", &["--threads", "2"]));
    assert_eq!(one, of("7.jsonl", &["--threads", "7"]));
    // More seeds later, in the same file, or in one go.
    let later = folder.join("1.jsonl");
    let stderr = sweep(&later, "0..80", &[]).done().stderr;
    assert!(stderr.contains("60 of 80 runs are in"), "{stderr}");
    let once = folder.join("once.jsonl");
    sweep(&once, "0..80", &[]).done();
    assert_eq!(fs::read(&later).unwrap(), fs::read(&once).unwrap());
    assert!(fs::read(&once).unwrap().starts_with(&one));
    // Nothing left to do is no failure, and changes nothing.
    let before = fs::read(&once).unwrap();
    sweep(&once, "0..80", &[]).done();
    assert_eq!(before, fs::read(&once).unwrap());
}

/// Starts a sweep and kills it as soon as its file has so many bytes.
fn killed(out: &Path, arguments: &[&str], bytes: u64) -> bool {
    let mut child = headlight()
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    loop {
        if fs::metadata(out).is_ok_and(|file| file.len() >= bytes) {
            child.kill().unwrap(); // SIGKILL
            return !child.wait().unwrap().success();
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// 200 seeds in 7 shards, two of which are killed on the way and started again, merged in any order,
/// are the bytes of the single run.
#[test]
fn shards_killed_and_merged_are_the_single_run() {
    let folder = folder("sweep_shards");
    let whole = folder.join("whole.jsonl");
    sweep(&whole, "0..200", &[]).done();
    let mut parts: Vec<PathBuf> = Vec::new();
    let mut kills = 0;
    for shard in 1..=7 {
        let out = folder.join(format!("{shard}.jsonl"));
        let name = format!("{shard}/7");
        let arguments = [
            "sweep",
            "--seeds",
            "0..200",
            "--out",
            text(&out),
            "--set",
            "training.epochs=1",
            "--shard",
            &name,
            "--threads",
            "1",
        ];
        if shard == 2 || shard == 5 {
            kills += u32::from(killed(&out, &arguments, 5000));
            assert!(
                fs::read_to_string(&out).unwrap().lines().count() < 29,
                "it was killed on the way"
            );
        }
        run(&arguments).done();
        parts.push(out);
    }
    assert_eq!(kills, 2);
    parts.rotate_left(3);
    let merged = folder.join("merged.jsonl");
    let mut arguments = vec!["merge", "--out", text(&merged)];
    arguments.extend(parts.iter().map(|part| text(part)));
    let stdout = run(&arguments).done().stdout;
    assert!(stdout.ends_with("merged.jsonl: 200 runs\n"), "{stdout}");
    assert_eq!(fs::read(&merged).unwrap(), fs::read(&whole).unwrap());
    // A merge of merges, with rows that come twice, is the same too.
    let again = folder.join("again.jsonl");
    let stdout = run(&[
        "merge",
        text(&parts[0]),
        text(&merged),
        "--out",
        text(&again),
    ])
    .done()
    .stdout;
    assert!(
        stdout.contains("29 of them found twice") || stdout.contains("28 of them found twice"),
        "{stdout}"
    );
    assert_eq!(fs::read(&again).unwrap(), fs::read(&whole).unwrap());
}

#[test]
fn a_line_that_was_cut_short_is_computed_again() {
    let folder = folder("sweep_torn");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..9", &[]).done();
    let whole = fs::read(&out).unwrap();
    for cut in [1, 2, 300, whole.len() / 2, whole.len() - 1] {
        fs::write(&out, &whole[..whole.len() - cut]).unwrap();
        let stderr = sweep(&out, "0..9", &[]).done().stderr;
        assert!(stderr.contains("cut short"), "{stderr}");
        assert_eq!(fs::read(&out).unwrap(), whole, "{cut} bytes less");
    }
}

#[test]
fn a_signal_leaves_whole_rows_and_the_same_command_goes_on() {
    let folder = folder("sweep_signal");
    let out = folder.join("rows.jsonl");
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let before = fs::metadata(&out).map_or(0, |file| file.len());
        let child = headlight()
            .args([
                "sweep",
                "--seeds",
                "0..5000",
                "--threads",
                "2",
                "--out",
                text(&out),
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while fs::metadata(&out).map_or(0, |file| file.len()) < before + 3000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let kill = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let finished = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(finished.code, Some(code), "{}", finished.stderr);
        assert!(
            finished
                .stderr
                .contains("the same command goes on from there"),
            "{}",
            finished.stderr
        );
        let seeds: Vec<u64> = rows(&out)
            .iter()
            .map(|row| row["seed"].as_u64().unwrap())
            .collect();
        assert_eq!(seeds, (0..seeds.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn a_grid_varies_keys_and_a_failing_run_does_not_stop_the_rest() {
    let folder = folder("sweep_grid");
    let out = folder.join("rows.jsonl");
    let grid = [
        "--grid",
        "training.learning_rate=1e-3,1e37",
        "--grid",
        "model.n_layers=1,2",
        "--set",
        "data.samples=320",
    ];
    let finished = sweep(&out, "0..2", &grid);
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    let rows = rows(&out);
    let places: Vec<(u64, u64)> = rows
        .iter()
        .map(|row| {
            (
                row["seed"].as_u64().unwrap(),
                row["point"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        places,
        [
            (0, 0),
            (0, 1),
            (0, 2),
            (0, 3),
            (1, 0),
            (1, 1),
            (1, 2),
            (1, 3)
        ]
    );
    for row in &rows {
        let hopeless = row["training.learning_rate"] == 1e37;
        assert_eq!(row.get("error").is_some(), hopeless, "{row}");
        assert_eq!(row.get("weights_sha256").is_some(), !hopeless);
        assert_eq!(
            row["model.n_layers"],
            if row["point"].as_u64().unwrap() % 2 == 0 {
                1
            } else {
                2
            }
        );
    }
    assert!(
        finished.stderr.contains("training.learning_rate=1e+37"),
        "reported at once: {}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("4 of 8 runs failed"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stdout.contains("8 runs, 4 failed"),
        "{}",
        finished.stdout
    );
    // Failed runs are finished runs: they would fail again.
    let before = fs::read(&out).unwrap();
    assert_eq!(sweep(&out, "0..2", &grid).code, Some(3));
    assert_eq!(before, fs::read(&out).unwrap());

    let table = folder.join("rows.csv");
    run(&["merge", text(&out), "--out", text(&table)]).done();
    let mut reader = csv::Reader::from_path(&table).unwrap();
    let header = reader.headers().unwrap().clone();
    assert_eq!(
        &header.iter().take(5).collect::<Vec<_>>(),
        &[
            "seed",
            "point",
            "model.n_layers",
            "training.learning_rate",
            "epoch_loss_1"
        ]
    );
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    for (record, row) in reader.records().map(Result::unwrap).zip(&rows) {
        let cell = |name: &str| record[column(name)].parse::<f64>().ok();
        assert_eq!(cell("final_loss"), row["final_loss"].as_f64());
        assert_eq!(
            cell("attention_positive_3"),
            row["attention_positive"][3].as_f64()
        );
        assert_eq!(
            record[column("error")].is_empty(),
            row.get("error").is_none()
        );
    }
}

#[test]
fn pictures_and_numbers_end_a_sweep() {
    let folder = folder("sweep_summary");
    let out = folder.join("rows.jsonl");
    let stdout = run(&["sweep", "--seeds", "0..20", "--out", text(&out)])
        .done()
        .stdout;
    assert!(
        stdout.contains("20 runs; 20 learned: held-out F1 reached 0.99 (100.0%)"),
        "{stdout}"
    );
    let values: Vec<f64> = rows(&out)
        .iter()
        .map(|row| row["attention_positive"][3].as_f64().unwrap())
        .collect();
    let mean = values.iter().sum::<f64>() / 20.0;
    let line = stdout
        .lines()
        .find(|line| line.starts_with("| attention on position 3, positives"))
        .unwrap();
    assert_eq!(line.split('|').nth(2).unwrap().trim(), format!("{mean:.3}"));
    let bars: usize = stdout
        .split("learned at step\n")
        .last()
        .unwrap()
        .lines()
        .filter(|line| line.contains('–'))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
        .sum();
    assert_eq!(bars, 20, "each run is in one bar: {stdout}");
    let picture = fs::read_to_string(folder.join("rows.svg")).unwrap();
    assert_eq!(picture.matches("<circle").count(), 20);
}

#[test]
fn a_task_of_a_slurm_array_takes_its_share() {
    let folder = folder("sweep_slurm");
    let task = |id: &str, more: &[&str]| -> (PathBuf, Finished) {
        let out = folder.join(format!("{id}.jsonl"));
        let output = headlight()
            .args([
                "sweep",
                "--seeds",
                "0..10",
                "--out",
                text(&out),
                "--set",
                "training.epochs=1",
            ])
            .args(more)
            .envs([
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", "4"),
                ("SLURM_ARRAY_TASK_STEP", "2"),
                ("SLURM_ARRAY_TASK_COUNT", "3"),
            ])
            .output();
        (out, output.unwrap().into())
    };
    let mut seeds = Vec::new();
    for id in ["4", "6", "8"] {
        let (out, finished) = task(id, &[]);
        finished.done();
        seeds.extend(rows(&out).iter().map(|row| row["seed"].as_u64().unwrap()));
    }
    assert_eq!(seeds, (0..10).collect::<Vec<_>>());
    let (_, finished) = task("6", &["--shard", "1/3"]);
    assert_eq!(finished.code, Some(2));
    assert!(
        finished
            .stderr
            .contains("--shard 1/3 contradicts SLURM_ARRAY_TASK_ID"),
        "{}",
        finished.stderr
    );
    let (_, finished) = task("5", &[]);
    assert!(
        finished.stderr.contains("no task of an array"),
        "{}",
        finished.stderr
    );
}

fn refused(finished: &Finished, part: &str) {
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    assert!(
        finished.stderr.contains(part),
        "`{part}` is not in: {}",
        finished.stderr
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder("sweep_refused");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..3", &[]).done();
    let before = fs::read(&out).unwrap();
    refused(&sweep(&out, "3", &[]), "write A..B");
    refused(&sweep(&out, "3..3", &[]), "holds no seed");
    refused(&sweep(&out, "0..3", &["--shard", "0/4"]), "I from 1 to N");
    refused(
        &sweep(&out, "0..3", &["--grid", "model.d_modl=4,8"]),
        "did you mean `d_model`?",
    );
    refused(
        &sweep(&out, "0..3", &["--grid", "model.d_model=4,none"]),
        "model.d_model",
    );
    refused(
        &sweep(&out, "0..3", &["--grid", "seed=1,2"]),
        "what --seeds is for",
    );
    refused(
        &sweep(
            &out,
            "0..3",
            &["--grid", "model.d_model=4", "--grid", "model.d_model=8"],
        ),
        "twice",
    );
    refused(
        &sweep(
            &out,
            "0..3",
            &["--engine", "fused", "--set", "model.n_layers=2"],
        ),
        "cannot run this config",
    );
    refused(
        &sweep(&out, "0..3", &["--set", "training.batch_size=32"]),
        "line 1: the row is of another config",
    );
    refused(
        &sweep(&out, "1..4", &[]),
        "line 1: the row is of seed 0, where this sweep or shard has seed 1",
    );
    refused(&sweep(&out, "0..2", &[]), "holds more than the 2 runs");
    refused(
        &sweep(&folder.join("rows.parquet"), "0..2", &[]),
        "a sweep writes .jsonl",
    );
    refused(
        &sweep(&folder.join("nowhere/rows.jsonl"), "0..2", &[]),
        "nowhere does not exist",
    );
    let reference = [
        "sweep",
        "configs/keras_reference.toml",
        "--seeds",
        "0..2",
        "--out",
        text(&out),
    ];
    refused(&run(&reference), "nothing for seeds to vary");
    let words = folder.join("words.jsonl");
    fs::write(&words, "once upon a time\n").unwrap();
    refused(&sweep(&words, "0..2", &[]), "line 1: it is no JSON object");
    assert_eq!(fs::read_to_string(&words).unwrap(), "once upon a time\n");
    assert_eq!(fs::read(&out).unwrap(), before);
}

#[test]
fn rows_that_contradict_each_other_are_not_merged() {
    let folder = folder("merge_refused");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..3", &[]).done();
    let before = fs::read(&out).unwrap();
    let words = folder.join("words.jsonl");
    fs::write(&words, "once upon a time\n").unwrap();
    let merge = |parts: &[&Path], out: &str| {
        let out = folder.join(out);
        let mut arguments = vec!["merge", "--out", text(&out)];
        arguments.extend(parts.iter().map(|part| text(part)));
        run(&arguments)
    };
    refused(&merge(&[&out], "all.xlsx"), "use .jsonl or .csv");
    refused(
        &merge(&[&folder.join("none.jsonl")], "all.jsonl"),
        "none.jsonl",
    );
    refused(
        &merge(&[&words], "all.jsonl"),
        "line 1: it is no JSON object",
    );
    let other = folder.join("other.jsonl");
    sweep(&other, "3..5", &["--set", "training.batch_size=32"]).done();
    refused(
        &merge(&[&out, &other], "all.jsonl"),
        "other.jsonl, line 1: the row is of another config",
    );
    let forged = folder.join("forged.jsonl");
    fs::write(
        &forged,
        String::from_utf8(before)
            .unwrap()
            .replace("\"accuracy\":0", "\"accuracy\":1"),
    )
    .unwrap();
    refused(
        &merge(&[&out, &forged], "all.jsonl"),
        "seed 0 has two different rows",
    );
    assert!(!folder.join("all.jsonl").exists());
    let gap = folder.join("gap.jsonl");
    sweep(&gap, "5..7", &[]).done();
    let stderr = merge(&[&gap, &out], "all.jsonl").done().stderr;
    assert!(
        stderr.contains("2 runs are missing: seed 3, seed 4"),
        "{stderr}"
    );
}

#[test]
fn two_sweeps_do_not_write_one_file() {
    let folder = folder("sweep_lock");
    let out = folder.join("rows.jsonl");
    let mut first = headlight()
        .args(["sweep", "--seeds", "0..5000", "--out", text(&out)])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while fs::metadata(&out).map_or(0, |file| file.len()) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = run(&["sweep", "--seeds", "0..5000", "--out", text(&out)]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.code, Some(2));
    assert!(
        second.stderr.contains("another sweep is writing"),
        "{}",
        second.stderr
    );
}
