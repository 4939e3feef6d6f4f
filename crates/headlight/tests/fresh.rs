//! Runs and sweeps whose steps draw their own samples.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::common::runs::{assert_same, files};
use crate::common::sweeps::rows;
use crate::common::{
    Finished, ended, folder, headlight, json, metrics, read_dump, refused, refuses, run, send, text,
};

const CONFIG: &str = "\
[data]
generator = \"chacha\"
samples = \"fresh\"
held_out = 60
vocab_size = 8
seq_len = 3
rule = { kind = \"equal-positions\", first = 1, second = 3 }
positive_rate = 0.3

[model]
d_model = 4

[training]
steps = 200
batch_size = 8
learning_rate = 0.01
evaluate_every = 30
keep_best = \"held_out_loss\"

[dump]
every_steps = 50

[checkpoint]
every_steps = 7
";

fn config(folder: &Path) -> PathBuf {
    let path = folder.join("fresh.toml");
    fs::write(&path, CONFIG).unwrap();
    path
}

fn training(config: &Path, run: &Path, more: &[&str]) -> Command {
    let mut command = headlight();
    command
        .args(["train", text(config), "--resume", "--run", text(run)])
        .args(more.iter().flat_map(|set| ["--set", set]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn trained(config: &Path, run: &Path, more: &[&str]) -> Finished {
    let output = training(config, run, more).output().unwrap();
    Finished::from(output).done()
}

#[test]
fn a_killed_run_ends_as_if_it_had_never_stopped() {
    let folder = folder("fresh-killed");
    let config = config(&folder);
    let undisturbed = folder.join("undisturbed");
    let many = ["training.steps=4000"];
    trained(&config, &undisturbed, &many);
    let path = folder.join("run");
    let mut kills = 0;
    for wanted in [50, 400, 1500, 3000] {
        let mut child = training(&config, &path, &many).spawn().unwrap();
        let dump = path.join(format!("attention/step-{wanted:06}.npz"));
        while !dump.exists() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(100));
        }
        send(&child, "KILL");
        kills += i32::from(!child.wait().unwrap().success());
    }
    assert!(kills > 0);
    trained(&config, &path, &many);
    assert_same(&path, &files(&undisturbed), "killed");
}

#[test]
fn more_steps_are_the_longer_run() {
    let folder = folder("fresh-longer");
    let config = config(&folder);
    let (longer, whole) = (folder.join("longer"), folder.join("whole"));
    trained(&config, &longer, &["training.steps=90"]);
    trained(&config, &longer, &[]);
    trained(&config, &whole, &[]);
    for name in ["model.safetensors", "metrics.jsonl", "loss.npy"] {
        assert!(
            fs::read(longer.join(name)).unwrap() == fs::read(whole.join(name)).unwrap(),
            "{name}"
        );
    }
    let less = ["train", text(&config), "--resume", "--run", text(&longer)];
    let finished = run(&[&less[..], &["--set", "training.steps=60"]].concat());
    refused(&finished, &["200", "60", "training.steps"]);
}

#[test]
fn a_run_shows_held_out_samples() {
    let folder = folder("fresh-shown");
    let config = config(&folder);
    let path = folder.join("run");
    trained(&config, &path, &["data.seed=5"]);
    let rows = metrics(&path);
    let steps: Vec<u64> = rows
        .iter()
        .map(|row| row["step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, [0, 30, 60, 90, 120, 150, 180, 200]);
    assert!(rows.iter().all(|row| row["epoch"] == 0));
    // The row of the held-out set, to which dumps number their samples.
    let dump = read_dump(path.join("attention/step-000200.npz"));
    assert_eq!((dump.meta.epoch, dump.meta.step), (None, Some(200)));
    let numbers: Vec<usize> = dump.meta.samples.iter().map(|one| one.unwrap()).collect();
    assert!(numbers.contains(&0) && numbers.iter().all(|&number| number < 60));
    let splits = {
        let text = fs::read_to_string(path.join("config.toml")).unwrap();
        let config: toml::Table = text.parse().unwrap();
        let data = config["data"]
            .clone()
            .try_into::<headlight_data::DatasetConfig>();
        data.unwrap().generate().unwrap()
    };
    for (row, number) in numbers.into_iter().enumerate() {
        let tokens = splits.held_out.tokens(number).iter();
        assert!(
            tokens
                .map(|&token| i64::from(token))
                .eq(dump.tokens(row).iter().copied())
        );
    }
    let distinct: HashSet<&[u32]> = (0..60)
        .map(|sample| splits.held_out.tokens(sample))
        .collect();
    assert!(distinct.len() > 30);

    let report = fs::read_to_string(path.join("report.md")).unwrap();
    let screen = run(&["train", text(&config), "--run", text(&folder.join("other"))]).done();
    let third = folder.join("third");
    let verbose = ["train", text(&config), "-v", "--run", text(&third)];
    let verbose = run(&verbose).done();
    let compared = run(&["compare", text(&path), text(&folder.join("other"))]).done();
    for shown in [&report, &screen.stdout, &screen.stderr, &compared.stdout] {
        for misleading in ["training sample", "epoch"] {
            assert!(!shown.contains(misleading), "{shown}");
        }
    }
    assert!(
        !verbose.stderr.contains("training sample"),
        "{}",
        verbose.stderr
    );
    assert!(
        report.contains("60 held-out samples, 18 of them positive"),
        "{report}"
    );
    ended(&run(&["verify", text(&path)]), 0, &[]);
    let evaluated = run(&["evaluate", text(&path), "--json"]).done();
    let evaluated = json(&evaluated.stdout);
    assert_eq!(
        (&evaluated["split"], &evaluated["samples"]),
        (&"held-out".into(), &60.into())
    );
    ended(&run(&["predict", text(&path), "--tokens", "1,2,1"]), 0, &[]);
}

#[test]
fn a_row_of_a_sweep_is_the_run() {
    let folder = folder("fresh-sweep");
    let config = config(&folder);
    let swept = |name: &str, seeds: &str, threads: &str| {
        let out = folder.join(name);
        let sweep = [
            "sweep",
            text(&config),
            "--seeds",
            seeds,
            "--threads",
            threads,
        ];
        run(&[&sweep[..], &["--out", text(&out)]].concat()).done();
        out
    };
    let (one, four) = (
        swept("one.jsonl", "0..6", "1"),
        swept("four.jsonl", "0..6", "4"),
    );
    assert_eq!(fs::read(&one).unwrap(), fs::read(&four).unwrap());
    let rows = rows(&one);
    let hashes: HashSet<_> = rows
        .iter()
        .map(|row| row["weights_sha256"].to_string())
        .collect();
    assert_eq!(hashes.len(), 6);
    for seed in [0, 5] {
        let path = folder.join(format!("run-{seed}"));
        trained(&config, &path, &[&format!("seed={seed}")]);
        let row = &rows[seed];
        let weights = fs::read(path.join("model.safetensors")).unwrap();
        assert_eq!(
            row["weights_sha256"],
            format!("{:x}", Sha256::digest(weights))
        );
        assert_eq!(row["epoch_loss"], serde_json::json!([]));
        let last = metrics(&path).pop().unwrap();
        for (of_row, of_run) in [
            ("final_loss", "loss"),
            ("f1", "f1"),
            ("held_out_final_loss", "held_out_loss"),
            ("held_out_accuracy", "held_out_accuracy"),
        ] {
            assert_eq!(row[of_row], last[of_run], "{of_row}");
        }
        // [CLS] looks at positions 1 and 3.
        let on = |position: usize| row["attention_positive"][position].as_f64().unwrap();
        let expected = last["held_out_attention_positive"].as_f64().unwrap();
        assert!((on(1) + on(3) - expected).abs() < 1e-9);
    }
    let report = run(&["report", text(&one)]).done();
    for misleading in ["training samples", "epoch"] {
        assert!(!report.stdout.contains(misleading), "{}", report.stdout);
    }
    let csv = folder.join("rows.csv");
    run(&["merge", text(&one), "--out", text(&csv)]).done();
}

/// Burn computes the same up to rounding, from the same batches.
#[test]
fn burn_draws_the_same_samples() {
    let folder = folder("fresh-burn");
    let config = config(&folder);
    let losses = ["fused", "burn"].map(|engine| {
        let path = folder.join(engine);
        trained(
            &config,
            &path,
            &[&format!("compute.engine={engine}"), "training.steps=60"],
        );
        metrics(&path).pop().unwrap()["loss"].as_f64().unwrap()
    });
    assert!((losses[0] - losses[1]).abs() < 1e-4, "{losses:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = folder("fresh-refused");
    let config = config(&folder);
    let (path, rows) = (folder.join("run"), folder.join("rows.csv"));
    fs::write(&rows, "token_0,token_1,token_2,label\n1,2,1,1\n1,2,3,0\n").unwrap();
    let file = format!("data.file={}", text(&rows));
    let cases: [(&[&str], &[&str]); 11] = [
        (&["data.generator=numpy"], &["generator", "numpy"]),
        (
            &["training.epochs=3"],
            &["training.epochs", "training.steps"],
        ),
        (&["data.held_out=0"], &["held_out"]),
        (&["data.held_out=172"], &["held_out", "172", "343"]),
        (&["data.held_out=0.2"], &["held_out", "0.2"]),
        (&[&file], &["`file`", "`samples`"]),
        (&["data.fold=1/5"], &["fold"]),
        (
            &["dump.every_epochs=2"],
            &["dump.every_epochs", "dump.every_steps"],
        ),
        (&["dump.samples=[60]"], &["dump.samples", "60", "59"]),
        (
            &["data.samples=20", "data.exclude_held_out=false"],
            &["exclude_held_out"],
        ),
        (&["data.samples=stale"], &["data.samples", "stale", "fresh"]),
    ];
    for (sets, parts) in cases {
        let sets = sets.iter().flat_map(|&set| ["--set", set]);
        let train = ["train", text(&config), "--run", text(&path)];
        refuses(
            &folder,
            &train.into_iter().chain(sets).collect::<Vec<_>>(),
            parts,
        );
    }
    let without = folder.join("without.toml");
    fs::write(&without, CONFIG.replace("steps = 200\n", "")).unwrap();
    refuses(
        &folder,
        &["train", text(&without), "--run", text(&path)],
        &["training.steps"],
    );
    let out = folder.join("out.csv");
    refuses(
        &folder,
        &["data", text(&config), "--out", text(&out)],
        &["data.samples"],
    );
    trained(&config, &path, &[]);
    let evaluate = ["evaluate", text(&path), "--split", "train"];
    refuses(&folder, &evaluate, &["--split", "held-out"]);
}

/// Zhong et al. 2023 train on floor(0.8 * 3,481) pairs.
#[test]
fn a_share_of_all_samples_is_held_out() {
    let folder = folder("share");
    let path = folder.join("pairs.toml");
    let pairs = "\
[data]
generator = \"all\"
held_out = 0.2
vocab_size = 59
seq_len = 2
cls = \"none\"
rule = { kind = \"sum-mod\", modulus = 59 }

[model]
d_model = 4

[training]
steps = 1
";
    fs::write(&path, pairs).unwrap();
    let out = folder.join("pairs.csv");
    run(&["data", text(&path), "--out", text(&out)]).done();
    let written = fs::read_to_string(&out).unwrap();
    let held_out = written.lines().filter(|line| line.contains("held_out"));
    assert_eq!((held_out.count(), written.lines().count()), (697, 3482));
    let at = folder.join("run");
    let train = ["train", text(&path), "--run", text(&at)];
    run(&train).done();
    let resolved = fs::read_to_string(at.join("config.toml")).unwrap();
    for line in ["samples = 2784\n", "held_out = 697\n"] {
        assert!(resolved.contains(line), "{resolved}");
    }
    for (set, parts) in [
        ("data.samples=2785", &["samples", "held_out", "2784"][..]),
        ("data.held_out=1.5", &["held_out", "1.5"]),
        ("data.held_out=3481", &["held_out", "3481"]),
    ] {
        refuses(
            &folder,
            &[&train[..3], &[text(&folder.join("no")), "--set", set]].concat(),
            parts,
        );
    }
}
