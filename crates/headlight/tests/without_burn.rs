//! The binary without Burn: it trains, sweeps, reports and inspects with the fused engine, and refuses what
//! needs Burn.
//!
//! ```text
//! cargo test --release -p headlight --no-default-features --test without_burn
//! ```
#![cfg(not(feature = "burn"))]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;

use common::sweeps::rows;
use common::{ended, folder, mentions, metrics, quick_run, refused, run, text};
use sha2::{Digest, Sha256};

/// A seed has the same weights in a run, in a sweep, and in the default build.
#[test]
fn trains_sweeps_and_reports() {
    let folder = folder("without_burn");
    let [path, out, page] = ["run", "rows.jsonl", "report.html"].map(|name| folder.join(name));
    run(&["train", "--run", text(&path)]).done();
    let weights = Sha256::digest(fs::read(path.join("model.safetensors")).unwrap());
    assert_eq!(metrics(&path).last().unwrap()["held_out_f1"], 1.0);
    assert!(path.join("report.md").is_file());

    run(&["sweep", "--seeds", "0..3", "--out", text(&out)]).done();
    let rows = rows(&out);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["weights_sha256"], format!("{weights:x}"));
    assert_eq!(
        rows[0]["weights_sha256"],
        "d6b36476939e1fde5e4329391fd7c132165c76c99c79c039984da505e916fe1d"
    );
    let report = ["report", text(&out), "--html", text(&page)];
    assert!(mentions(&run(&report).done().stdout, "3"));
    assert!(fs::read_to_string(&page).unwrap().contains("<svg "));
}

#[test]
fn resumes() {
    let path = folder("without_burn_resume").join("run");
    quick_run(&path, &["--set", "training.epochs=1"]);
    let longer = ["--resume", "--set", "training.epochs=2"];
    ended(&quick_run(&path, &longer), 0, &["100", "200"]);
    assert_eq!(metrics(&path).last().unwrap()["step"], 200);
}

#[test]
fn dumps_predicts_and_inspects() {
    let folder = folder("without_burn_dump");
    let [path, tokens, out, page] =
        ["run", "tokens.txt", "dump.npz", "page.html"].map(|name| folder.join(name));
    quick_run(
        &path,
        &[
            "--set",
            "model.n_layers=2",
            "--set",
            "model.attention.mask=causal",
        ],
    );
    assert!(path.join("inspector.html").is_file());
    let drawn = run(&["inspect", text(&path)]).done().stdout;
    for part in ["step 300", "[CLS]", "layer 1"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    let predict = ["predict", text(&path), "--tokens", "0 45 48 1 4 4 40"];
    assert!(mentions(&run(&predict).done().stdout, "40"));
    fs::write(&tokens, "0 45 48 1 4 4 40\n").unwrap();
    let (config, weights) = (path.join("config.toml"), path.join("model.safetensors"));
    let dump = ["dump", text(&config), "--weights", text(&weights)];
    let files = ["--samples", text(&tokens), "--out", text(&out)];
    run(&[&dump[..], &files].concat()).done();
    run(&["inspect", text(&out), "--html", text(&page)]).done();
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .starts_with("<!doctype html>")
    );
}

#[test]
fn refuses_what_needs_burn() {
    assert!(!run(&["train", "--help"]).done().stdout.contains("burn,"));
    let train = ["train", "configs/quick.toml", "--engine", "burn"];
    refused(&run(&train), &["Burn"]);
}
