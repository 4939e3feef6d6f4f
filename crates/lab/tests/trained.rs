//! Trainings give the numbers of `headlight train` and `headlight sweep`.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{ask, lengths, plain, told};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::train::{Progress, train};
use headlight_experiment::{Engine, Experiment, FusedEngine};
use serde_json::{Value, json};

fn several() -> Value {
    json!({
        "seed": 4,
        "data": {
            "samples": 64, "held_out": 16, "vocab_size": 6, "seq_len": 4, "n_classes": 3,
            "rule": { "kind": "count", "token": 2 },
        },
        "model": { "d_model": 6, "n_heads": 2, "n_layers": 2, "d_ff": 5 },
        "training": { "epochs": 4, "batch_size": 16, "learning_rate": 0.05 },
    })
}

/// Each step draws its own samples.
fn fresh() -> Value {
    let mut config = several();
    let own = json!({ "generator": "chacha", "samples": "fresh", "balanced": true });
    let data = config["data"].as_object_mut().unwrap();
    data.extend(own.as_object().unwrap().clone());
    config["training"] = json!({ "steps": 30, "batch_size": 16, "learning_rate": 0.05 });
    config
}

/// A config of a file, as a run completes it.
fn of_file() -> Value {
    json!({
        "seed": 5,
        "data": {
            "file": "rows.csv", "vocab_size": 10, "seq_len": 5, "n_classes": 2, "classes": ["no", "yes"],
        },
        "model": { "d_model": 4, "n_heads": 2, "attention": { "padding_token": 9 } },
        "training": { "epochs": 3, "batch_size": 8 },
    })
}

/// The rows of that file: 3 to 5 tokens, and whether 5 is one of them.
fn rows() -> Value {
    let mut state = 1;
    let mut next = || {
        state = (state * 75 + 74) % 65537;
        1 + state % 8
    };
    let tokens: Vec<Vec<u64>> = (0..60)
        .map(|row| (0..3 + row % 3).map(|_| next()).collect())
        .collect();
    let label = |tokens: &Vec<u64>| if tokens.contains(&5) { "yes" } else { "no" };
    let labels: Vec<&str> = tokens.iter().map(label).collect();
    let splits = ["train", "train", "train", "val", "test"].repeat(12);
    json!({ "tokens": tokens, "labels": labels, "splits": splits })
}

/// A training with its parts: what `begin`, the last `advance` and `end` answer, and the weights after the last step.
fn trained(begin: &Value) -> (Value, Value, Vec<f32>) {
    let (begun, _) = told(begin, &[]);
    let (_, floats) = told(&json!({ "operation": "advance" }), &[]);
    let (ended, _) = told(&json!({ "operation": "end" }), &[]);
    let lengths = lengths(&begun);
    let row: usize = lengths.iter().sum();
    let last = floats[floats.len() - row..][..lengths[0]].to_vec();
    (begun, ended, last)
}

/// The numbers of a row of a sweep (`headlight sweep CONFIG --seeds 3..4`), as the answer has them.
fn figures(row: &Value) -> Value {
    let split = |before: &str| {
        json!({
            "loss": row[format!("{before}final_loss")],
            "accuracy": row[format!("{before}accuracy")],
            "f1": row[format!("{before}f1")],
        })
    };
    json!({
        "weights_sha256": row["weights_sha256"],
        "train": split(""),
        "held_out": split("held_out_"),
        "attention": { "positive": row["attention_positive"], "negative": row["attention_negative"] },
        "learned": row["held_out_f1"].as_f64() >= Some(0.99),
        "learned_from": 0.99,
    })
}

/// The value with its whole numbers as other numbers: 0 and 0.0 are the same.
fn wide(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.iter().map(wide).collect(),
        Value::Object(values) => {
            let values = values.iter().map(|(key, value)| (key.clone(), wide(value)));
            Value::Object(values.collect())
        }
        other => other.clone(),
    }
}

/// What `headlight train CONFIG --json` says came of each training.
const OUTCOMES: [&str; 4] = [
    "Too few samples to judge the model: held-out accuracy 0.625 (0.306 to 0.863), F1 0.000, 8 samples. For comparison, always \"no\": F1 0.000, \
     accuracy 0.625. The model is judged on 8 samples, too few to tell a good model from a lucky one; hold out 10 or more (data.held_out). The \
     model predicts \"no\" for all samples.",
    "Not clearly better than its baselines: held-out accuracy 0.625 (0.386 to 0.815), F1 0.256, 16 samples. For comparison, always \"class 0\": F1 \
     0.256, accuracy 0.625. The model predicts \"class 0\" for all samples.",
    "Better than its baselines: held-out accuracy 0.792 (0.595 to 0.908), F1 of \"yes\" 0.706, 24 samples. For comparison, always \"no\": F1 0.000, \
     accuracy 0.583.",
    "Not clearly better than its baselines: held-out accuracy 0.312 (0.142 to 0.556), F1 0.159, 16 samples. For comparison, always \"class 0\": F1 \
     0.182, accuracy 0.375. The model predicts \"class 2\" for all samples. Attention from [CLS] is still close to uniform.",
];

#[test]
fn results_are_those_of_a_sweep_and_the_outcome_that_of_a_run() {
    let rows = [
        (plain(), Value::Null, 8, include_str!("sweeps/plain.jsonl")),
        (
            several(),
            Value::Null,
            16,
            include_str!("sweeps/several.jsonl"),
        ),
        (of_file(), rows(), 15, include_str!("sweeps/file.jsonl")),
        (fresh(), Value::Null, 30, include_str!("sweeps/fresh.jsonl")),
    ];
    for ((config, samples, steps, row), outcome) in rows.into_iter().zip(OUTCOMES) {
        let begin = json!({ "operation": "begin", "config": config, "samples": samples });
        let (begun, mut ended, _) = trained(&begin);
        let row: Value = serde_json::from_str(row).unwrap();
        let mut expected = figures(&row);
        expected["step"] = json!(steps);
        expected["outcome"] = json!(outcome);
        assert_eq!(begun["steps"], json!(steps));
        assert_eq!(wide(&ended), wide(&expected));
        let summary = json!({ "operation": "summary", "config": config, "samples": samples });
        ended["seed"] = row["seed"].clone();
        ended.as_object_mut().unwrap().remove("outcome");
        assert_eq!(told(&summary, &[]).0, ended);
    }
}

/// Held-out samples stand in for the training samples, which there are none of. Parts of a training are the whole.
#[test]
fn fresh_samples_are_drawn_in_parts() {
    let begin = json!({ "operation": "begin", "config": fresh() });
    let (begun, whole, weights) = trained(&begin);
    assert_eq!(begun["counts"], json!({ "train": 0, "held_out": 16 }));
    let samples = begun["samples"].as_array().unwrap();
    let numbers = samples
        .iter()
        .map(|sample| sample["number"].as_u64().unwrap());
    assert!(numbers.eq(0..16));
    told(&begin, &[]);
    for steps in [1, 9, 13] {
        told(&json!({ "operation": "advance", "steps": steps }), &[]);
    }
    let (last, floats) = told(&json!({ "operation": "advance" }), &[]);
    assert_eq!(
        (&last["done"], last["losses"].as_u64()),
        (&json!(true), Some(7))
    );
    assert_eq!(told(&json!({ "operation": "end" }), &[]).0, whole);
    assert!(floats.windows(weights.len()).any(|part| part == weights));
}

#[test]
fn the_notebooks_training_is_its_run() {
    let notebook = json!({
        "data": {
            "generator": "numpy", "samples": 8000, "held_out": 2000, "vocab_size": 51, "seq_len": 6,
            "rule": { "kind": "token-at-position", "token": 42, "position": 3 },
        },
        "model": { "d_model": 8 },
        "training": { "epochs": 3, "batch_size": 16 },
    });
    let (found, _) = told(&json!({ "operation": "summary", "config": notebook }), &[]);
    // As `headlight train notebook` (crates/headlight/tests/engines.rs).
    let hash = "d6b36476939e1fde5e4329391fd7c132165c76c99c79c039984da505e916fe1d";
    assert_eq!(
        (&found["weights_sha256"], &found["step"]),
        (&json!(hash), &json!(1500))
    );
}

#[test]
fn a_training_watches_what_a_run_dumps() {
    let mut given = rows();
    // The fourth is held out.
    given["tokens"][3] = given["tokens"][0].clone();
    let begin = json!({ "operation": "begin", "config": of_file(), "samples": given });
    let (begun, _) = told(&begin, &[]);
    let known = "Held-out samples with the tokens of a training sample: 1.";
    assert_eq!(begun["repetitions"], json!([known]));
    let samples = begun["samples"].as_array().unwrap();
    // As in that run's dumps.
    let numbers = samples
        .iter()
        .map(|sample| sample["number"].as_u64().unwrap());
    assert!(numbers.eq(0..16));
    let first = json!({ "number": 0, "label": 0, "tokens": [0, 6, 2, 2, 9, 9], "marked": [] });
    assert_eq!(samples[0], first);
    assert_eq!(begun["counts"], json!({ "train": 36, "held_out": 24 }));
    let inputs = json!({ "positions": 6, "cls": 0, "read": 0, "classes": 2, "vocab_size": 10 });
    assert_eq!(
        (&begun["inputs"], &begun["question"]),
        (&inputs, &Value::Null)
    );
    assert_eq!(begun["parameters"][0], json!(["token_embedding", [10, 4]]));
    // No query looks at padding, but padding itself may look anywhere.
    let mask = begun["mask"].as_array().unwrap();
    assert_eq!(mask.len(), samples.len() * 36);
    assert_eq!(json!(mask[..6]), json!([1, 1, 1, 1, 0, 0]));

    let mut config = plain();
    config["dump"] = json!({ "samples": [63, 2, 2], "positives": 1, "negatives": 0 });
    let (begun, _) = told(&json!({ "operation": "begin", "config": config }), &[]);
    let samples = begun["samples"].as_array().unwrap();
    let numbers = samples
        .iter()
        .map(|sample| sample["number"].as_u64().unwrap());
    assert!(numbers.eq([2, 4, 63]));
    for sample in samples {
        let tokens = sample["tokens"].as_array().unwrap();
        let marked: Vec<usize> = (1..4).filter(|&at| tokens[at] == 7).collect();
        assert_eq!(sample["label"], json!(usize::from(!marked.is_empty())));
        assert_eq!(sample["marked"], json!(marked));
    }
    assert_eq!(begun["mask"], json!([]));
    config["dump"]["samples"] = json!([64]);
    let (refused, _) = ask(&json!({ "operation": "begin", "config": config }), &[]);
    assert!(refused["error"].as_str().unwrap().contains("dump.samples"));
}

#[test]
fn samples_of_the_page_are_judged_by_the_rule() {
    let tokens = json!([[0, 1, 7, 7], [0, 1, 2, 3]]);
    let begin = |config| json!({ "operation": "begin", "config": config, "tokens": tokens });
    let (begun, _) = told(&begin(plain()), &[]);
    let expected = json!([
        { "number": null, "label": 1, "tokens": [0, 1, 7, 7], "marked": [2, 3] },
        { "number": null, "label": 0, "tokens": [0, 1, 2, 3], "marked": [] },
    ]);
    assert_eq!(begun["samples"], expected);
    let tokens = json!([[0, 1, 2, 3, 4, 9]]);
    let begin =
        json!({ "operation": "begin", "config": of_file(), "samples": rows(), "tokens": tokens });
    let (begun, _) = told(&begin, &[]);
    assert_eq!(begun["samples"][0]["label"], Value::Null);
}

#[test]
fn saved_weights_are_those_of_the_run() {
    let begin = json!({ "operation": "begin", "config": several(), "tokens": [] });
    let (_, ended, weights) = trained(&begin);
    let save = json!({ "operation": "save", "config": several() });
    let (_, floats) = told(&save, &weights);
    let bytes: Vec<u8> = floats
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let hash = format!("{:x}", <sha2::Sha256 as sha2::Digest>::digest(bytes));
    assert_eq!(ended["weights_sha256"], hash);
}

#[test]
fn samples_that_do_not_fit_are_refused() {
    let refused = |config: Value, change: &dyn Fn(&mut Value)| {
        let mut samples = rows();
        change(&mut samples);
        let summary = json!({ "operation": "summary", "config": config, "samples": samples });
        let (refused, _) = ask(&summary, &[]);
        refused["error"].as_str().unwrap().to_owned()
    };
    for (change, words) in [
        (
            &(|s: &mut Value| s["tokens"][3] = json!([12])) as &dyn Fn(&mut Value),
            "line 4",
        ),
        (&|s: &mut Value| s["labels"][3] = json!("maybe"), "maybe"),
        (&|s: &mut Value| s["labels"] = json!(["yes"]), "each sample"),
        (&|s: &mut Value| s["splits"] = json!([]), "each sample"),
        (
            &|s: &mut Value| s["splits"][2] = json!("rest"),
            "unknown split",
        ),
        (&|s: &mut Value| s["tokens"][0] = json!([-1]), "-1"),
        (&|s: &mut Value| *s = Value::Null, "rows.csv"),
    ] {
        let message = refused(of_file(), change);
        assert!(message.contains(words), "{message}");
    }
    assert!(refused(plain(), &|_| {}).contains("data.file"));
    let mut held = of_file();
    held["data"]["held_out"] = json!(2);
    assert!(refused(held, &|_| {}).contains("data.held_out"));
}

#[test]
fn labels_may_be_numbers_and_splits_left_out() {
    let mut config = of_file();
    config["data"]["classes"] = json!([]);
    config["data"]["held_out"] = json!(24);
    let mut numbered = rows();
    let labels = numbered["labels"].as_array_mut().unwrap();
    for label in labels {
        *label = json!(u8::from(label == "yes"));
    }
    numbered.as_object_mut().unwrap().remove("splits");
    let summary = json!({ "operation": "summary", "config": config, "samples": numbered });
    let (found, _) = told(&summary, &[]);
    assert_eq!(
        found["weights_sha256"],
        "509a5371e3d5ab99ae417e8ebf2eb83a9e85ea02a0ea67deb22b94a9ff512d84"
    );
}

/// A model of the newer parts, trained with `AdamW`, without `[CLS]`.
fn modern() -> Value {
    json!({
        "seed": 6,
        "data": {
            "samples": 96, "held_out": 16, "vocab_size": 9, "seq_len": 4, "cls": "none",
            "rule": { "kind": "token-anywhere", "token": 7 },
        },
        "model": {
            "d_model": 8, "n_heads": 2, "d_ff": 12, "norm": "pre", "activation": "gelu", "positions": "rotary",
        },
        "training": {
            "epochs": 3, "batch_size": 16, "learning_rate": 0.01, "optimizer": "adamw", "weight_decay": 0.1,
            "schedule": "cosine", "warmup_steps": 3, "max_grad_norm": 1.0, "class_weights": { "1": 2.5 },
        },
    })
}

#[test]
fn a_model_of_newer_parts_has_the_bytes_of_the_engine() {
    let config: ExperimentConfig = serde_json::from_value(modern()).unwrap();
    let splits = config.data.generate().unwrap();
    let experiment = Experiment::new(config, splits.into(), None).unwrap();
    let mut engine = FusedEngine::new(&experiment).unwrap();
    train(
        &experiment,
        &mut engine,
        Progress::default(),
        || false,
        &mut (),
    )
    .unwrap();
    let begin = json!({ "operation": "begin", "config": modern() });
    let (begun, ended, weights) = trained(&begin);
    assert_eq!(begun["steps"], json!(18));
    assert_eq!(
        (&begun["inputs"]["cls"], &begun["inputs"]["read"]),
        (&Value::Null, &json!(3))
    );
    let bits = |weights: &[f32]| weights.iter().map(|weight| weight.to_bits()).collect();
    let (found, expected): (Vec<u32>, Vec<u32>) = (bits(&weights), bits(&engine.weights()));
    assert_eq!(found, expected);
    // Another setting gives other parameters, so the bytes are those of this training.
    for (key, value) in [
        ("weight_decay", json!(0.0)),
        ("class_weights", json!("balanced")),
    ] {
        let mut other = begin.clone();
        other["config"]["training"][key] = value;
        assert_ne!(trained(&other).1["weights_sha256"], ended["weights_sha256"]);
    }
}
