//! The dumps that a run writes by default stay below 20 MB, and what a config asks for is written.
#![allow(clippy::format_push_string, missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{folder, mentions, run, text};
use headlight_dump::AttentionDump;

/// Trains a config with changes; returns what it told.
fn train(path: &Path, config: &Path, sets: &[&str]) -> String {
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let start = ["train", text(config), "--run", text(path)];
    let arguments: Vec<&str> = start.into_iter().chain(sets).collect();
    run(&arguments).done().stderr
}

/// The bytes of a run's dumps, how many there are, and the samples of the last.
fn dumps(path: &Path) -> (u64, usize, Vec<usize>) {
    let files = fs::read_dir(path.join("attention")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let bytes = files
        .iter()
        .map(|path| path.metadata().unwrap().len())
        .sum();
    let last = fs::File::open(files.last().unwrap()).unwrap();
    let last = AttentionDump::read_npz(std::io::BufReader::new(last)).unwrap();
    let samples = last.meta.samples.iter().map(|sample| sample.unwrap());
    (bytes, files.len(), samples.collect())
}

/// Samples of `length` tokens and `classes` classes.
fn samples(folder: &Path, classes: usize, length: usize) -> std::path::PathBuf {
    let mut csv = "label".to_owned();
    for position in 0..length {
        csv.push_str(&format!(",token_{position}"));
    }
    for sample in 0..classes * 10 {
        csv.push_str(&format!("\n{}", sample % classes));
        for position in 0..length {
            csv.push_str(&format!(",{}", 1 + (sample * 31 + position * 17) % 90));
        }
    }
    fs::write(folder.join("samples.csv"), csv + "\n").unwrap();
    let config = folder.join("config.toml");
    let data = format!("[data]\nfile = {:?}\n", text(&folder.join("samples.csv")));
    fs::write(
        &config,
        format!(
            "{data}[training]\nepochs = 3\nbatch_size = 64\n[model]\nd_model = 16\nn_heads = 2\n"
        ),
    )
    .unwrap();
    config
}

#[test]
fn default_dumps_stay_below_20_mb() {
    for (name, classes, length, epochs) in [
        ("epochs", 2, 150, 30),
        ("samples", 59, 24, 4),
        ("both", 59, 60, 4),
    ] {
        let folder = folder(&format!("dumps-{name}"));
        let config = samples(&folder, classes, length);
        let path = folder.join("run");
        let told = train(&path, &config, &[&format!("training.epochs={epochs}")]);
        assert!(mentions(&told, "[dump]"), "{told}");
        let (bytes, count, samples) = dumps(&path);
        assert!((1_000_000..20_000_000).contains(&bytes), "{name}: {bytes}");
        assert_eq!(count, 2, "{name}");
        if name == "epochs" {
            assert_eq!(samples.len(), 16);
        }
    }
}

/// Resumed with its own config, or with the one that leaves them out, a run keeps its selection.
#[test]
fn a_resumed_run_keeps_its_samples() {
    let folder = folder("dumps-resumed");
    let config = samples(&folder, 2, 200);
    let path = folder.join("run");
    train(&path, &config, &["training.epochs=2"]);
    let before = dumps(&path).2;
    let resume = ["train", "--resume", "--run", text(&path), "--set"];
    run(&[&resume[..], &["training.epochs=3"]].concat()).done();
    assert_eq!(dumps(&path).2, before);
    run(&[&resume[..], &["training.epochs=4", text(&config)]].concat()).done();
    assert_eq!(dumps(&path).2, before);
}

#[test]
fn what_a_config_sets_is_obeyed() {
    let folder = folder("dumps-set");
    let config = samples(&folder, 2, 200);
    let path = folder.join("run");
    let told = train(&path, &config, &["dump.every_epochs=1"]);
    assert!(!mentions(&told, "[dump]"), "{told}");
    let (bytes, count, samples) = dumps(&path);
    assert!(bytes > 20_000_000);
    assert_eq!((count, samples.len()), (4, 16));
}
