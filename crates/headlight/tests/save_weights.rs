//! The parameters of a sweep's runs, kept beside its rows.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{folder, refuses_in, run_in, typed};
use safetensors::SafeTensors;

fn tensors(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap().tensors();
    let tensors = tensors.into_iter();
    tensors
        .map(|(name, tensor)| (name, tensor.data().to_vec()))
        .collect()
}

#[test]
fn runs_keep_their_first_and_last_parameters() {
    let folder = folder("save_weights");
    let sweep = |out: &str, more: &[&str]| {
        let sweep = ["sweep", "quick", "--save-weights", "--out", out];
        run_in(&folder, &[&sweep, more].concat()).done();
    };
    sweep("all.jsonl", &["--seeds", "0..3"]);
    typed(&folder, "train quick --set seed=2 --run run").done();
    let kept = tensors(&folder.join("all.weights/2.safetensors"));
    let trained = tensors(&folder.join("run/model.safetensors"));
    assert_eq!(kept.len(), 2 * trained.len());
    for (name, last) in &trained {
        assert_eq!(kept[&format!("last/{name}")], *last, "{name}");
        assert_eq!(kept[&format!("first/{name}")].len(), last.len());
    }
    assert_ne!(kept["first/token_embedding"], trained["token_embedding"]);

    // Shards share a folder, and have the same files.
    for (shard, out) in [("1/2", "parts-1-of-2.jsonl"), ("2/2", "parts-2-of-2.jsonl")] {
        sweep(out, &["--seeds", "0..3", "--shard", shard]);
    }
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    for seed in 0..3 {
        let [all, parts] =
            ["all", "parts"].map(|name| bytes(&format!("{name}.weights/{seed}.safetensors")));
        assert!(all == parts, "{seed}");
    }

    // A sweep that resumes adds those of its own runs; with a grid, a file is of a seed and a point.
    sweep("all.jsonl", &["--seeds", "0..4"]);
    assert!(folder.join("all.weights/3.safetensors").exists());
    sweep(
        "grid.jsonl",
        &["--seeds", "5..6", "--grid", "training.epochs=1,2"],
    );
    assert_ne!(
        bytes("grid.weights/5-0.safetensors"),
        bytes("grid.weights/5-1.safetensors")
    );
}

#[test]
fn rows_without_parameters_cannot_get_them() {
    let folder = folder("save_weights_late");
    let sweep = ["sweep", "quick", "--seeds", "0..2", "--out", "rows.jsonl"];
    run_in(&folder, &sweep).done();
    let late = [&sweep[..], &["--save-weights"]].concat();
    refuses_in(&folder, &late, &["--save-weights", "rows.jsonl"]);
}
