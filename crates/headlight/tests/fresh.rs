//! Runs and sweeps whose steps draw their own samples.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::common::runs::{assert_same, files};
use crate::common::sweeps::rows;
use crate::common::{
    Finished, asked, folder, headlight, metrics, printed, read_dump, refuses_each, refuses_typed,
    send, typed,
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

/// A folder with the config.
fn with_config(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("fresh.toml"), CONFIG).unwrap();
    folder
}

fn trained(folder: &Path, run: &str, more: &str) -> Finished {
    let train = format!("train fresh.toml --resume --run {run} {more}");
    typed(folder, &train).done()
}

#[test]
fn a_killed_run_ends_as_if_it_had_never_stopped() {
    let folder = with_config("fresh-killed");
    let many = "--set training.steps=4000";
    trained(&folder, "undisturbed", many);
    let path = folder.join("run");
    let mut kills = 0;
    for wanted in [50, 400, 1500, 3000] {
        let mut command = headlight();
        command.current_dir(&folder).stdout(Stdio::null());
        command.args(["train", "fresh.toml", "--resume", "--run", "run"]);
        command.args(many.split(' ')).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let dump = path.join(format!("attention/step-{wanted:06}.npz"));
        while !dump.exists() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(100));
        }
        send(&child, "KILL");
        kills += i32::from(!child.wait().unwrap().success());
    }
    assert!(kills > 0);
    trained(&folder, "run", many);
    assert_same(&path, &files(&folder.join("undisturbed")), "killed");
}

#[test]
fn more_steps_are_the_longer_run() {
    let folder = with_config("fresh-longer");
    trained(&folder, "longer", "--set training.steps=90");
    trained(&folder, "longer", "");
    trained(&folder, "whole", "");
    for name in ["model.safetensors", "metrics.jsonl", "loss.npy"] {
        let both = ["longer", "whole"].map(|run| fs::read(folder.join(run).join(name)).unwrap());
        assert!(both[0] == both[1], "{name}");
    }
    let less = "train fresh.toml --resume --run longer --set training.steps=60";
    refuses_typed(&folder, less, &["200", "60", "training.steps"]);
}

#[test]
fn a_run_shows_held_out_samples() {
    let folder = with_config("fresh-shown");
    let path = folder.join("run");
    trained(&folder, "run", "--set data.seed=5");
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
    let config = headlight_trainer::files::config::load(&path.join("config.toml"), &[]).unwrap();
    let splits = config.data.generate().unwrap();
    for (row, number) in numbers.into_iter().enumerate() {
        let tokens = splits.held_out.tokens(number).iter();
        let tokens: Vec<i64> = tokens.map(|&token| token.into()).collect();
        assert_eq!(tokens, dump.tokens(row));
    }
    let distinct: HashSet<&[u32]> = (0..60)
        .map(|sample| splits.held_out.tokens(sample))
        .collect();
    assert!(distinct.len() > 30);

    let report = fs::read_to_string(path.join("report.md")).unwrap();
    let screen = trained(&folder, "other", "");
    let verbose = trained(&folder, "third", "-v").stderr;
    let compared = printed(&folder, "compare run other");
    for shown in [&report, &screen.stdout, &screen.stderr, &compared] {
        for misleading in ["training sample", "epoch"] {
            assert!(!shown.contains(misleading), "{shown}");
        }
    }
    assert!(!verbose.contains("training sample"), "{verbose}");
    let held_out = "60 held-out samples, 18 of them positive";
    assert!(report.contains(held_out), "{report}");
    typed(&folder, "verify run").done();
    let evaluated = asked(&folder, "evaluate run");
    assert_eq!(evaluated["split"], "held-out");
    assert_eq!(evaluated["samples"], 60);
    typed(&folder, "predict run --tokens 1,2,1").done();
}

#[test]
fn a_row_of_a_sweep_is_the_run() {
    let folder = with_config("fresh-sweep");
    let [one, four] = [1, 4].map(|threads| {
        let sweep = format!("sweep fresh.toml --seeds 0..6 --threads {threads}");
        typed(&folder, &format!("{sweep} --out {threads}.jsonl")).done();
        fs::read(folder.join(format!("{threads}.jsonl"))).unwrap()
    });
    assert!(one == four);
    let rows = rows(&folder.join("1.jsonl"));
    let hashes: HashSet<_> = rows
        .iter()
        .map(|row| row["weights_sha256"].to_string())
        .collect();
    assert_eq!(hashes.len(), 6);
    for seed in [0, 5] {
        let path = folder.join(format!("run-{seed}"));
        trained(
            &folder,
            &format!("run-{seed}"),
            &format!("--set seed={seed}"),
        );
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
    let report = printed(&folder, "report 1.jsonl");
    for misleading in ["training samples", "epoch"] {
        assert!(!report.contains(misleading), "{report}");
    }
    typed(&folder, "merge 1.jsonl --out rows.csv").done();
}

/// Burn computes the same up to rounding, from the same batches.
#[test]
fn burn_draws_the_same_samples() {
    let folder = with_config("fresh-burn");
    let losses = ["fused", "burn"].map(|engine| {
        let more = format!("--engine {engine} --set training.steps=60");
        trained(&folder, engine, &more);
        let last = metrics(&folder.join(engine)).pop().unwrap();
        last["loss"].as_f64().unwrap()
    });
    assert!((losses[0] - losses[1]).abs() < 1e-4, "{losses:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = with_config("fresh-refused");
    let rows = "token_0,token_1,token_2,label\n1,2,1,1\n1,2,3,0\n";
    fs::write(folder.join("rows.csv"), rows).unwrap();
    let refused = "
data.generator=numpy    | generator | numpy
training.epochs=3       | training.epochs | training.steps
data.held_out=0         | held_out
data.held_out=172       | held_out | 172 | 343
data.held_out=0.2       | held_out | 0.2
data.file=rows.csv      | `file` | `samples`
data.fold=1/5           | fold
dump.every_epochs=2     | dump.every_epochs | dump.every_steps
dump.samples=[60]       | dump.samples | 60 | 59
data.samples=20 --set data.exclude_held_out=false | exclude_held_out
data.samples=stale      | data.samples | stale | fresh
";
    refuses_each(&folder, "train fresh.toml --run run --set", refused);
    let without = CONFIG.replace("steps = 200\n", "");
    fs::write(folder.join("without.toml"), without).unwrap();
    refuses_typed(&folder, "train without.toml --run run", &["training.steps"]);
    refuses_typed(&folder, "data fresh.toml --out out.csv", &["data.samples"]);
    trained(&folder, "run", "");
    let evaluate = "evaluate run --split train";
    refuses_typed(&folder, evaluate, &["--split", "held-out"]);
}

/// Zhong et al. 2023 train on floor(0.8 * 3,481) pairs.
#[test]
fn a_share_of_all_samples_is_held_out() {
    let folder = folder("share");
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
    fs::write(folder.join("pairs.toml"), pairs).unwrap();
    typed(&folder, "data pairs.toml --out pairs.csv").done();
    let written = fs::read_to_string(folder.join("pairs.csv")).unwrap();
    let held_out = written.lines().filter(|line| line.contains("held_out"));
    assert_eq!((held_out.count(), written.lines().count()), (697, 3482));
    typed(&folder, "train pairs.toml --run run").done();
    let resolved = fs::read_to_string(folder.join("run/config.toml")).unwrap();
    for line in ["samples = 2784\n", "held_out = 697\n"] {
        assert!(resolved.contains(line), "{resolved}");
    }
    let refused = "
data.samples=2785  | samples | held_out | 2784
data.held_out=1.5  | held_out | 1.5
data.held_out=3481 | held_out | 3481
";
    refuses_each(&folder, "train pairs.toml --run no --set", refused);
}
