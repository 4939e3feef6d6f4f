//! The binary without Burn: it trains, sweeps, reports and inspects with the fused engine, and refuses what
//! needs Burn.
//!
//! ```text
//! cargo test --release -p headlight --no-default-features --test without_burn
//! ```
#![cfg(not(feature = "burn"))]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::sweeps::rows;
use common::{ended, folder, mentions, metrics, quick_run, refused, refuses, run, text};
use headlight_dump::{AttentionDump, Dims, Meta, VERSION, axes};
use sha2::{Digest, Sha256};

/// Writes a dump of one sample of three positions, as a build with Burn would.
fn write_dump(path: &Path) {
    let dims = Dims {
        samples: 1,
        layers: 1,
        heads: 1,
        positions: 3,
        d_head: 2,
        d_model: 2,
        d_ff: 0,
    };
    let vectors = vec![0.5; 6];
    let dump = AttentionDump {
        dims,
        meta: Meta {
            version: VERSION,
            axes: axes(dims, false),
            step: Some(7),
            epoch: Some(1),
            seed: Some(0),
            samples: vec![Some(12)],
            token_strings: BTreeMap::from([(0, "[CLS]".to_owned()), (4, "four".to_owned())]),
            label_positions: vec![vec![1]],
            config: serde_json::json!({"seed": 0}),
        },
        tokens: vec![0, 4, 4],
        labels: vec![1.0],
        logits: vec![0.0],
        probabilities: vec![0.5],
        attention_scores: vec![0.0; 9],
        attention_weights: vec![0.125, 0.625, 0.25, 0.5, 0.25, 0.25, 0.25, 0.25, 0.5],
        query: vectors.clone(),
        key: vectors.clone(),
        value: vectors.clone(),
        context: vectors.clone(),
        embeddings: vectors.clone(),
        residual: vectors,
        attention_mask: None,
        feed_forward: None,
    };
    let mut bytes = Vec::new();
    dump.write_npz(&mut bytes).unwrap();
    fs::write(path, bytes).unwrap();
}

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
fn inspects_a_dump() {
    let folder = folder("without_burn_dump");
    let [dump, page] = ["dump.npz", "page.html"].map(|name| folder.join(name));
    write_dump(&dump);
    let drawn = run(&["inspect", text(&dump)]).done().stdout;
    for part in ["sample 12", "step 7", "[CLS]", "four", "0.62"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    run(&["inspect", text(&dump), "--html", text(&page)]).done();
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .starts_with("<!doctype html>")
    );
}

#[test]
fn refuses_what_needs_burn() {
    let folder = folder("without_burn_refused");
    let [path, tokens, out] = ["run", "tokens.txt", "dump.npz"].map(|name| folder.join(name));
    quick_run(&path, &[]);
    fs::write(&tokens, "0 45 48 1 4 4 40\n").unwrap();
    let weights = path.join("model.safetensors");
    let dump = ["dump", "configs/quick.toml", "--weights", text(&weights)];
    let files = ["--tokens", text(&tokens), "--out", text(&out)];
    refuses(&folder, &[&dump[..], &files].concat(), &["Burn"]);
    let predict = ["predict", text(&path), "--tokens", "0 45 48 1 4 4 40"];
    refuses(&folder, &predict, &["Burn"]);
    for walkthrough in [&["walkthrough"][..], &["walkthrough", "scaling"]] {
        refused(&run(walkthrough), &["headlight walkthrough", "Burn"]);
    }
    let train = ["train", "configs/quick.toml", "--engine", "burn"];
    refused(&run(&train), &["Burn"]);
}
