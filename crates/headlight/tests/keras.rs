//! Headlight beside Keras and TransformerLens: the recordings of `scripts/evidence/keras_reference.py` and
//! `scripts/evidence/pytorch/transformer_lens_run.py` in `data`, repeated by the binary.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{folder, has_gpu_adapter, refused, refuses, run, text};
use headlight_trainer::devices::find;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value;

const FIXTURE: &str = "data/keras_reference.safetensors";

fn repeat(config: &str, path: &Path, more: &[&str]) -> Vec<Value> {
    let arguments = ["train", config, "--run", text(path)];
    run(&[&arguments, more].concat()).done();
    serde_json::from_slice(&fs::read(path.join("reference.json")).unwrap()).unwrap()
}

/// The bounds are a CPU's; Mesa's software driver keeps them too.
fn is_within_its_bounds(config: &str, gradients: usize, steps: usize, samples: usize) {
    let name = Path::new(config).file_stem().unwrap().to_str().unwrap();
    let computers = [
        ("fused", "flex", true),
        ("burn", "flex", true),
        ("burn", "ndarray", true),
        ("burn", "wgpu", has_gpu_adapter()),
    ];
    for (engine, device, _) in computers
        .into_iter()
        .filter(|(_, device, there)| find(device).unwrap().is_built && *there)
    {
        let path = folder(name).join(format!("{engine}-{device}"));
        let comparisons = repeat(config, &path, &["--engine", engine, "--device", device]);
        // Four forward quantities at two sets of weights, gradients, losses, probabilities.
        assert_eq!(comparisons.len(), 2 * 4 + gradients + 2);
        for comparison in &comparisons {
            assert_eq!(
                comparison["within"], true,
                "{engine} on {device}: {comparison}"
            );
        }
        let numbers = |what: &str| {
            let found = comparisons
                .iter()
                .find(|comparison| comparison["what"] == what);
            found.unwrap()["numbers"].as_u64().unwrap()
        };
        assert_eq!(numbers(&format!("losses of {steps} steps")), steps as u64);
        assert!(numbers(&format!("final probabilities of {samples} samples")) > 0);
        let report = fs::read_to_string(path.join("report.md")).unwrap();
        for comparison in &comparisons {
            let what = comparison["what"].as_str().unwrap();
            assert!(report.contains(what), "{what}: {report}");
        }
    }
}

#[test]
fn every_level_is_within_its_bound_on_every_engine_and_device() {
    is_within_its_bounds("configs/keras_reference.toml", 14, 1500, 8000);
}

/// Two blocks with feed-forward layers, and three classes.
#[test]
fn so_are_blocks_and_classes() {
    is_within_its_bounds("configs/keras_classes.toml", 36, 250, 2000);
}

/// Sentences of different lengths, whose padding is masked, in three classes.
#[test]
fn so_are_words_and_padding() {
    is_within_its_bounds("data/keras_words.toml", 20, 75, 400);
}

/// Norms first, GELU, two logits, AdamW: a model that TransformerLens made, and PyTorch trained.
#[test]
fn so_is_a_model_of_transformer_lens() {
    is_within_its_bounds("data/transformer_lens.toml", 38, 300, 1600);
}

type Raw = (String, Dtype, Vec<usize>, Vec<u8>);

/// Writes the fixture with some tensors changed.
fn rewritten(name: &str, edit: impl FnOnce(&SafeTensors<'_>) -> Vec<Raw>) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bytes = fs::read(root.join(FIXTURE)).unwrap();
    let raw = edit(&SafeTensors::deserialize(&bytes).unwrap());
    let views = raw.iter().map(|(name, dtype, shape, bytes)| {
        (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    path
}

#[test]
fn a_damaged_fixture_lists_each_difference() {
    let path = rewritten("spoiled.safetensors", |tensors| {
        tensors
            .names()
            .into_iter()
            .filter(|&name| name != "final.logits")
            .map(|name| {
                let tensor = tensors.tensor(name).unwrap();
                let mut raw = (
                    name.to_owned(),
                    tensor.dtype(),
                    tensor.shape().to_vec(),
                    tensor.data().to_vec(),
                );
                match name {
                    "initial.classifier.bias" => raw.0 = "initial.classifier.offset".to_owned(),
                    "gradient.classifier.weight" => raw.2 = vec![1, 8],
                    "samples" => raw.1 = Dtype::U32,
                    "losses" => raw.3[..4].copy_from_slice(&f32::NAN.to_le_bytes()),
                    _ => {}
                }
                raw
            })
            .collect()
    });
    let run_dir = folder("spoiled").join("run");
    let set = format!("reference={path:?}");
    refuses(
        run_dir.parent().unwrap(),
        &[
            "train",
            "configs/keras_reference.toml",
            "--set",
            &set,
            "--run",
            text(&run_dir),
        ],
        &[
            "`final.logits`",
            "`initial.classifier.bias`",
            "`initial.classifier.offset`",
            "`gradient.classifier.weight`",
            "[1, 8]",
            "[8, 1]",
            "`samples`",
            "U32",
            "`losses`",
            "NaN",
        ],
    );
}

#[test]
fn a_fixture_of_another_experiment_is_refused() {
    let cases: [(&str, &[&str]); 6] = [
        ("training.epochs=4", &["`batch_order`", "3"]),
        (
            "model.d_model=16",
            &["`initial.token_embedding`", "[51, 8]", "[51, 16]"],
        ),
        ("data.samples=100", &["[3, 100]"]),
        ("data.seed=5", &["[data]"]),
        (
            "reference=\"nowhere.safetensors\"",
            &["nowhere.safetensors"],
        ),
        ("reference=\"configs/quick.toml\"", &["configs/quick.toml"]),
    ];
    for (set, parts) in cases {
        let train = ["train", "configs/keras_reference.toml", "--set", set];
        refused(&run(&train), parts);
    }
}
