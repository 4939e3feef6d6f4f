//! What Headlight writes, it reads: the largest output of each writer, against the limit of its reader.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::common::{ended, folder, limited, refused, run_in};
use headlight_npz::NpzReader;
use headlight_trainer::sessions::dump_volume;
use headlight_trainer::sessions::limits::{PAIRS, check};
use headlight_trainer::sessions::session::Session;
use headlight_trainer::storage::config;

/// The sizes of what a run wrote, in the order of the table.
fn written(run: &Path) -> [u64; 8] {
    let files = |folder: &Path, ending: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|own| own == ending))
            .collect()
    };
    let size = |path: &PathBuf| fs::metadata(path).unwrap().len();
    let checkpoints = files(&run.join("checkpoint"), "checkpoint");
    let header = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        let start = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        u64::from_le_bytes(bytes[start..start + 8].try_into().unwrap())
    };
    let dumps = files(&run.join("attention"), "npz");
    let meta = |path: &PathBuf| {
        let mut npz = NpzReader::new(File::open(path).unwrap()).unwrap();
        npz.string("meta").unwrap().chars().count() as u64
    };
    let meta = dumps.iter().map(meta).max().unwrap();
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    [
        size(&run.join("config.toml")),
        checkpoints.iter().map(header).max().unwrap(),
        checkpoints.iter().map(size).max().unwrap(),
        size(&run.join("model.safetensors")),
        metrics.lines().map(str::len).max().unwrap() as u64,
        size(&run.join("manifest.sha256")),
        dumps.iter().map(size).max().unwrap(),
        meta,
    ]
}

/// A table of texts with that many different words of that kind.
fn texts(path: &Path, count: usize, word: impl Fn(usize) -> String) {
    let words: Vec<String> = (0..count).map(word).collect();
    let lines = words.chunks(500).enumerate();
    let lines = lines.map(|(line, words)| format!("{}\t{}\n", words.join(" "), line % 2));
    fs::write(
        path,
        "text\tlabel\n".to_owned() + &lines.collect::<String>(),
    )
    .unwrap();
}

#[test]
fn every_file_of_a_run_is_within_the_limit_of_its_reader() {
    let folder = folder("limits_walk");
    // Words that two kinds of JSON escape, and words of one letter, which have the most quotes.
    texts(&folder.join("signs.tsv"), 3000, |index| {
        let mark = |index: usize| char::from_u32(0x300 + index as u32 % 64).unwrap();
        format!("\u{5c}{}{}", mark(index), mark(index / 64))
    });
    texts(&folder.join("letters.tsv"), 120_000, |index| {
        char::from_u32(0x2_0000 + index as u32 % 40_000)
            .unwrap()
            .to_string()
            + &"x".repeat(index / 40_000)
    });
    let list: Vec<String> = (0..180_000).map(|_| "1".to_owned()).collect();
    let config = format!(
        "{}samples = [{}]\n",
        include_str!("../../../configs/quick.toml"),
        list.join(",")
    );
    fs::write(folder.join("list.toml"), config).unwrap();
    let all_words = [
        "data.words.max_words=1000000",
        "data.seq_len=4",
        "model.d_model=2",
    ];
    let short = ["data.samples=40", "data.held_out=10", "training.epochs=1"];
    let classes = "data.rule={kind=\"count\",token=1}";
    let many = [
        "dump.every_steps=1",
        "training.epochs=100000000",
        "data.samples=40",
    ];
    let mut refusals = 0;
    for (number, (name, set)) in [
        ("quick", &short[..]),
        (
            "quick",
            &[&short[..], &["model.n_layers=40", "model.n_heads=4"]].concat(),
        ),
        (
            "quick",
            &[
                &short[..],
                &[classes, "data.n_classes=7", "training.keep_best=\"loss\""],
            ]
            .concat(),
        ),
        ("quick", &many),
        ("signs.tsv", &all_words),
        ("letters.tsv", &all_words),
        ("list.toml", &[]),
    ]
    .into_iter()
    .enumerate()
    {
        let path = match folder.join(name) {
            file if file.exists() => file,
            _ => name.into(),
        };
        let set = set.iter().chain(&["compute.engine=\"fused\""]);
        let set: Vec<String> = set.map(|&one| one.to_owned()).collect();
        let run = format!("run-{number}");
        let mut arguments = vec!["train", path.to_str().unwrap(), "--run", &run, "--force"];
        for one in &set {
            arguments.extend(["--set", one.as_str()]);
        }
        let trained = run_in(&folder, &arguments);
        let Ok(mut session) = config::load(&path, &set).and_then(Session::open) else {
            refused(&trained, &[]);
            continue;
        };
        dump_volume::adapt(&mut session.experiment, None).unwrap();
        if check(&session.experiment).is_err() {
            refused(&trained, &[]);
            assert!(!folder.join(run).exists(), "{name}");
            refusals += 1;
            continue;
        }
        trained.done();
        for (pair, found) in PAIRS.iter().zip(written(&folder.join(&run))) {
            let largest = (pair.largest)(&session.experiment).unwrap();
            let limit = (pair.limit)(&session.experiment);
            assert!(
                found <= largest && largest <= limit,
                "{name}, {}: {found} {largest} {limit}",
                pair.what
            );
        }
        run_in(&folder, &["verify", &run]).done();
    }
    assert!(refusals >= 2, "{refusals}");
}

/// 1.4 GiB: `HEADLIGHT_LARGE=1` and 6 GB of memory.
#[test]
fn the_largest_checkpoint_is_read_back() {
    if std::env::var_os("HEADLIGHT_LARGE").is_none() {
        return;
    }
    let folder = folder("limits_large");
    let mut arguments = vec!["train", "quick", "--run", "run"];
    for set in [
        "data.vocab_size=11200000",
        "data.samples=16",
        "data.held_out=0",
        "training.epochs=1",
    ] {
        arguments.extend(["--set", set]);
    }
    let more = [
        "--set",
        "training.batch_size=16",
        "--set",
        "training.evaluate_every=0",
    ];
    run_in(&folder, &[&arguments[..], &more].concat()).done();
    let size = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().metadata().unwrap().len();
    let largest = fs::read_dir(folder.join("run/checkpoint"))
        .unwrap()
        .map(size)
        .max();
    assert!(largest > Some(1 << 30), "{largest:?}");
    run_in(&folder, &["verify", "run"]).done();
    let longer = [
        "train",
        "--resume",
        "--run",
        "run",
        "--set",
        "training.epochs=2",
    ];
    run_in(&folder, &longer).done();
    // A dataset of 1.3 GB is not written.
    let many = [
        "data",
        "quick",
        "--set",
        "data.samples=50000000",
        "--out",
        "many.csv",
    ];
    refused(&run_in(&folder, &many), &["data.samples"]);
    assert!(!folder.join("many.csv").exists());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_sweep_whose_rows_could_not_be_read_does_not_begin() {
    let folder = folder("limits_sweep");
    let sweep = ["sweep", "quick", "--seeds", "0..1", "--out", "rows.jsonl"];
    let long = ["--set", "training.epochs=200000"];
    refused(
        &run_in(&folder, &[&sweep[..], &long].concat()),
        &["training.epochs"],
    );
    assert!(!folder.join("rows.jsonl").exists());
}

/// A vocabulary of 2^24 needs 7 GiB for training and, before, ended the process in the middle of it.
#[test]
#[cfg(target_os = "linux")]
fn too_little_memory_is_a_sentence_beforehand() {
    let folder = folder("limits_memory");
    let train = [
        "train",
        "quick",
        "--run",
        "run",
        "--set",
        "data.vocab_size=16777216",
    ];
    for limit in ["-v 100000", "-v 400000", "-v 2000000", "-v 4000000"] {
        let finished = limited(&folder, limit, &train);
        ended(&finished, 1, &["7 GiB", "ulimit -v"]);
        assert!(!folder.join("run").exists());
    }
    // Few parameters, and long samples, whose attention takes the memory; on two threads, more.
    let long = [
        "train",
        "quick",
        "--run",
        "run",
        "--set",
        "data.seq_len=600",
        "--set",
        "data.samples=16",
        "--set",
        "data.held_out=0",
        "--set",
        "model.n_layers=2",
        "--set",
        "model.n_heads=4",
        "--threads",
        "2",
    ];
    for limit in ["-v 200000", "-v 400000"] {
        let finished = limited(&folder, limit, &long);
        ended(&finished, 1, &["MiB", "ulimit -v"]);
        assert!(!folder.join("run").exists());
    }
}
