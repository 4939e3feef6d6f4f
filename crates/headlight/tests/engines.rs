//! The engines through the binary: the same files from both, the bytes of the notebook's weights, and `auto`.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::{ended, folder, run, text};

/// The fused engine gives the same bytes on every machine. These of the notebook's seed 0 come from the first
/// `headlight sweep`; any change to initial weights, batch order or arithmetic changes them.
#[test]
fn the_notebooks_weights_keep_their_bytes() {
    let rows = folder("golden").join("rows.jsonl");
    let range = ["--seeds", "0..1", "--out", text(&rows)];
    run(&[&["sweep", "--engine", "fused"][..], &range].concat()).done();
    let row: serde_json::Value = serde_json::from_str(&fs::read_to_string(&rows).unwrap()).unwrap();
    assert_eq!(
        row["weights_sha256"],
        "d6b36476939e1fde5e4329391fd7c132165c76c99c79c039984da505e916fe1d"
    );
}

/// Both engines write the same files, which differ by rounding only; `auto` chooses the fused engine.
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

/// Settings that Headlight's own pass was not made for at first: layers, feed-forward layers, masks, padding,
/// shared projections, [CLS] last.
#[test]
fn every_config_runs_on_the_fused_engine() {
    let folder = folder("beyond");
    let path = folder.join("run");
    let train = ["train", "configs/quick.toml", "--run", text(&path)];
    let sets = [
        "model.n_layers=2",
        "model.d_ff=6",
        "model.n_heads=2",
        "model.positions=false",
        "model.attention.projections=shared",
        "model.attention.mask=causal",
        "model.attention.padding_token=1",
        "data.cls=last",
        "data.rule={ kind = \"token-anywhere\", token = 42 }",
        "data.samples=160",
        "training.epochs=1",
    ];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = train.into_iter().chain(sets).collect();
    let finished = run(&arguments).done();
    assert!(!finished.stderr.contains("burn"), "{}", finished.stderr);
    let environment = fs::read_to_string(path.join("environment.json")).unwrap();
    let environment: serde_json::Value = serde_json::from_str(&environment).unwrap();
    assert_eq!(environment["engine"], "fused");
    assert!(
        run(&["inspect", text(&path)])
            .done()
            .stdout
            .contains("[CLS]")
    );
}

/// Threads share the steps of a run and change no byte of it; more than the machine has are no reason to stop.
#[test]
fn threads_change_no_byte() {
    let folder = folder("threads");
    let train = |threads: &str| {
        let path = folder.join(threads);
        let given = [
            "train",
            "configs/equal_positions.toml",
            "--threads",
            threads,
        ];
        let sets = [
            "--set",
            "training.epochs=1",
            "--set",
            "training.batch_size=64",
        ];
        let place = ["--run", text(&path)];
        let finished = run(&[&given[..], &sets, &place].concat()).done();
        let files = ["model.safetensors", "metrics.jsonl", "report.md"];
        (
            files.map(|file| fs::read(path.join(file)).unwrap()),
            finished.stderr,
        )
    };
    let (alone, _) = train("1");
    assert_eq!(train("2").0, alone);
    let (many, stderr) = train("999");
    assert_eq!(many, alone);
    assert!(stderr.contains("--threads 999"), "{stderr}");
    let path = folder.join("none");
    let none = ["train", "quick", "--threads", "0", "--run", text(&path)];
    ended(&run(&none), 2, &["--threads"]);
    assert!(!path.exists());
}
