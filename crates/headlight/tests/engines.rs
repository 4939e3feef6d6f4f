//! The engines as the command line shows them: the same files, the same bytes as ever, and what the fused
//! engine does not support.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;

use common::{folder, run, text};

/// The fused engine gives the same bytes on every machine, so those of the notebook's seed 0 can be
/// written down: they are what `headlight sweep` gave when the engine was new. Any change to initial
/// weights, batch order or arithmetic shows here.
#[test]
fn the_notebooks_weights_are_what_they_always_were() {
    let rows = folder("golden").join("rows.jsonl");
    let range = ["--seeds", "0..1", "--out", text(&rows)];
    run(&[&["sweep", "--engine", "fused"][..], &range].concat()).done();
    let row: serde_json::Value = serde_json::from_str(&fs::read_to_string(&rows).unwrap()).unwrap();
    assert_eq!(
        row["weights_sha256"],
        "d6b36476939e1fde5e4329391fd7c132165c76c99c79c039984da505e916fe1d"
    );
}

/// The same files from both, whose contents differ by rounding alone; `auto` takes the fused one.
#[test]
fn run_directories_are_alike() {
    let folder = folder("engines");
    let train = |engine: &str| {
        let path = folder.join(engine);
        run(&[
            "train",
            "configs/quick.toml",
            "--run",
            text(&path),
            "--engine",
            engine,
        ])
        .done();
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        let mut files: Vec<String> = fs::read_dir(&path)
            .unwrap()
            .chain(fs::read_dir(path.join("attention")).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let environment: serde_json::Value =
            serde_json::from_str(&read("environment.json")).unwrap();
        (
            files,
            environment["engine"].clone(),
            fs::read(path.join("model.safetensors")).unwrap(),
            read("config.toml"),
        )
    };
    let [burn, fused, auto] = ["burn", "fused", "auto"].map(train);
    assert_eq!(burn.0, fused.0);
    assert_eq!(
        (&burn.1, &fused.1, &auto.1),
        (&"burn".into(), &"fused".into(), &"fused".into())
    );
    assert_eq!(fused.2, auto.2);
    assert_eq!(burn.2.len(), fused.2.len());
    assert!(
        auto.3.contains("engine = \"fused\""),
        "the resolved config names the engine: {}",
        auto.3
    );
}

#[test]
fn a_config_beyond_the_fused_engine_says_why() {
    let folder = folder("beyond");
    let path = folder.join("refused");
    let two_blocks = [
        "train",
        "configs/quick.toml",
        "--run",
        text(&path),
        "--set",
        "model.n_layers=2",
    ];
    let refused = run(&[&two_blocks[..], &["--engine", "fused"]].concat());
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("model.n_layers = 2"),
        "{}",
        refused.stderr
    );
    assert!(!path.exists());
    let path = folder.join("auto");
    let short = ["--set", "data.samples=160", "--set", "training.epochs=1"];
    let taken = run(&[&two_blocks[..3], &[text(&path)], &two_blocks[4..], &short].concat()).done();
    assert!(
        taken.stderr.contains("model.n_layers = 2"),
        "{}",
        taken.stderr
    );
}
