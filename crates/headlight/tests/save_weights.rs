//! The parameters of a sweep's runs, kept beside its rows.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::{folder, refuses_typed, typed};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

fn tensors(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap().tensors();
    let bytes = |(name, tensor): (String, TensorView<'_>)| (name, tensor.data().to_vec());
    tensors.into_iter().map(bytes).collect()
}

#[test]
fn runs_keep_their_first_and_last_parameters() {
    let folder = folder("save_weights");
    let sweep = |more: &str| {
        let sweep = format!("sweep quick --save-weights --out {more}");
        typed(&folder, &sweep).done();
    };
    sweep("all.jsonl --seeds 0..3");
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
    for shard in [1, 2] {
        sweep(&format!(
            "parts-{shard}-of-2.jsonl --seeds 0..3 --shard {shard}/2"
        ));
    }
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    for seed in 0..3 {
        let [all, parts] =
            ["all", "parts"].map(|name| bytes(&format!("{name}.weights/{seed}.safetensors")));
        assert!(all == parts, "{seed}");
    }

    // A sweep that resumes adds those of its own runs; with a grid, a file is of a seed and a point.
    sweep("all.jsonl --seeds 0..4");
    assert!(folder.join("all.weights/3.safetensors").exists());
    sweep("grid.jsonl --seeds 5..6 --grid training.epochs=1,2");
    let [one, other] = [0, 1].map(|point| bytes(&format!("grid.weights/5-{point}.safetensors")));
    assert_ne!(one, other);
}

#[test]
fn rows_without_parameters_cannot_get_them() {
    let folder = folder("save_weights_late");
    let sweep = "sweep quick --seeds 0..2 --out rows.jsonl";
    typed(&folder, sweep).done();
    let late = format!("{sweep} --save-weights");
    refuses_typed(&folder, &late, &["--save-weights", "rows.jsonl"]);
}

/// `training.save_weights` of a sweep: the weights of each evaluated step are those that a run has.
#[test]
fn a_sweep_saves_the_weights_of_its_steps() {
    let folder = folder("save_weights_steps");
    let sets = "--set training.save_weights=true --set training.evaluate_every=80";
    let done = |line: &str| typed(&folder, &format!("{line} {sets}")).done();
    done("sweep quick --seeds 2..3 --out rows.jsonl");
    done("train quick --set seed=2 --run run");
    let names = |name: &str| {
        let files = fs::read_dir(folder.join(name)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.collect::<BTreeSet<_>>()
    };
    let steps = names("run/weights");
    assert_eq!(names("rows.weights/2"), steps);
    // 3 epochs of 100 steps, and each 80 steps.
    assert_eq!(steps.len(), 7);
    for step in steps {
        let of = |place: &str| fs::read(folder.join(place).join(&step)).unwrap();
        assert!(of("run/weights") == of("rows.weights/2"), "{step}");
    }
    // They are announced, and above a gibibyte asked for, as dumps are.
    let large = "train quick --set model.d_model=1024 --set training.save_weights=true --run large";
    let large = format!("{large} --set training.evaluate_every=1");
    refuses_typed(&folder, &large, &["301", "--force"]);
}
