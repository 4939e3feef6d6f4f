//! The engines through the binary: the same files from both, the bytes of the notebook's weights, and `auto`.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::sweeps::rows;
use crate::common::{folder, json, printed, refuses_typed, set, typed, weights};

/// The fused engine gives the same bytes on every machine. These of the notebook's seed 0 come from the first
/// `headlight sweep`; any change to initial weights, batch order or arithmetic changes them.
#[test]
fn the_notebooks_weights_keep_their_bytes() {
    let folder = folder("golden");
    let sweep = "sweep --engine fused --seeds 0..1 --out rows.jsonl";
    typed(&folder, sweep).done();
    assert_eq!(
        rows(&folder.join("rows.jsonl"))[0]["weights_sha256"],
        "d6b36476939e1fde5e4329391fd7c132165c76c99c79c039984da505e916fe1d"
    );
}

/// Both engines write the same files, which differ by rounding only; `auto` chooses the fused engine.
#[test]
fn run_directories_are_alike() {
    let folder = folder("engines");
    let train = |engine: &str| {
        let path = folder.join(engine);
        let train = format!("train quick --run {engine} --engine {engine}");
        typed(&folder, &train).done();
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        let mut files: Vec<String> = fs::read_dir(&path)
            .unwrap()
            .chain(fs::read_dir(path.join("attention")).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let own = json(&read("environment.json"))["engine"].clone();
        (files, own, weights(&folder, engine), read("config.toml"))
    };
    let [burn, fused, auto] = ["burn", "fused", "auto"].map(train);
    assert_eq!(burn.0, fused.0);
    assert_eq!([burn.1, fused.1, auto.1], ["burn", "fused", "fused"]);
    assert_eq!(fused.2, auto.2);
    assert_eq!(burn.2.len(), fused.2.len());
    // The resolved config names the engine.
    assert!(auto.3.contains("engine = \"fused\""), "{}", auto.3);
}

/// Settings that Headlight's own pass was not made for at first: layers, feed-forward layers, masks, padding,
/// shared projections, [CLS] last.
#[test]
fn every_config_runs_on_the_fused_engine() {
    let folder = folder("beyond");
    let sets = set(
        "model.n_layers=2 model.d_ff=6 model.n_heads=2 model.positions=false \
        model.attention.projections=shared model.attention.mask=causal model.attention.padding_token=1 \
        data.cls=last data.rule={kind=\"token-anywhere\",token=42} data.samples=160 training.epochs=1",
    );
    let finished = typed(&folder, &format!("train quick --run run {sets}")).done();
    assert!(!finished.stderr.contains("burn"), "{}", finished.stderr);
    let environment = fs::read_to_string(folder.join("run/environment.json")).unwrap();
    assert_eq!(json(&environment)["engine"], "fused");
    assert!(printed(&folder, "inspect run").contains("[CLS]"));
}

/// Threads share the steps of a run and change no byte of it; more than the machine has are no reason to stop.
#[test]
fn threads_change_no_byte() {
    let folder = folder("threads");
    let train = |threads: &str| {
        let sets = "--set training.epochs=1 --set training.batch_size=64";
        let train = format!("train equal_positions --threads {threads} --run {threads} {sets}");
        let stderr = typed(&folder, &train).done().stderr;
        let files = ["model.safetensors", "metrics.jsonl", "report.md"];
        let files = files.map(|file| fs::read(folder.join(threads).join(file)).unwrap());
        (files, stderr)
    };
    let (alone, _) = train("1");
    assert_eq!(train("2").0, alone);
    let (many, stderr) = train("999");
    assert_eq!(many, alone);
    assert!(stderr.contains("--threads 999"), "{stderr}");
    refuses_typed(
        &folder,
        "train quick --threads 0 --run none",
        &["--threads"],
    );
}
