//! Models that answer at each position: their samples, and what they generate.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{ask, told};
use headlight_analysis::generate::{Sampling, generate};
use headlight_data::{IGNORED, Stream};
use headlight_experiment::config::ExperimentConfig;
use serde_json::{Value, json};

fn histogram() -> Value {
    json!({
        "data": {
            "task": "token-classification", "generator": "chacha", "samples": 12, "vocab_size": 6, "seq_len": 4,
            "rule": { "kind": "histogram", "padding": 5 },
        },
        "model": { "d_model": 4, "attention": { "padding_token": 5 } },
        "training": { "epochs": 1, "batch_size": 4 },
        "dump": { "samples": [0, 1, 2], "positives": 0, "negatives": 0 },
    })
}

fn repeat() -> Value {
    json!({
        "data": {
            "task": "next-token", "generator": "chacha", "samples": 12, "vocab_size": 6, "seq_len": 5, "cls": "none",
            "rule": { "kind": "repeat", "period": 2 },
        },
        "model": { "d_model": 4, "attention": { "mask": "causal" } },
        "training": { "epochs": 1, "batch_size": 4 },
    })
}

fn parsed(config: &Value) -> ExperimentConfig {
    serde_json::from_value(config.clone()).unwrap()
}

fn weights(config: &ExperimentConfig) -> Vec<f32> {
    let rng = &mut Stream::Weights.rng(1);
    let parameters = config.model.initial_parameters(config.inputs(), rng);
    parameters.into_iter().flat_map(|own| own.values).collect()
}

#[test]
fn a_training_says_the_label_of_each_position() {
    let (begun, _) = told(&json!({ "operation": "begin", "config": histogram() }), &[]);
    let config = parsed(&histogram());
    let data = config.data.generate().unwrap().train;
    let rule = config.data.rule.as_ref().unwrap();
    for (number, sample) in begun["samples"].as_array().unwrap().iter().enumerate() {
        let labels = data.labels_of(number);
        let each: Vec<Value> = (0..data.positions())
            .map(|place| match labels[place] {
                IGNORED => json!([null, []]),
                label => json!([
                    label,
                    rule.deciding_at(data.tokens(number), config.data.cls, place)
                ]),
            })
            .collect();
        assert_eq!(sample["each"], json!(each));
        assert!(sample["label"].is_null());
    }
    let logits = &begun["row"][2];
    assert_eq!(logits, &json!(["logits", 3 * 5 * config.data.n_classes]));
}

#[test]
fn samples_of_the_page_have_the_labels_of_the_rule() {
    let config = parsed(&histogram());
    let look = json!({ "operation": "look", "config": histogram(), "tokens": [[0, 3, 1, 3, 5]] });
    let (head, _) = told(&look, &weights(&config));
    let expected = json!([[[null, []], [2, [1, 3]], [1, [2]], [2, [1, 3]], [null, []]]]);
    assert_eq!(head["judged"], expected);
}

#[test]
fn a_text_ends_with_what_follows_it() {
    let mut config = repeat();
    config["data"] = json!({
        "task": "next-token", "file": "names.txt", "vocab_size": 6, "seq_len": 3,
        "words": { "level": "character", "vocabulary": ["a", "b", "c"] },
    });
    config["model"]["attention"]["padding_token"] = json!(1);
    // The first text was cut before token 5, and the second ended.
    let samples = json!({ "tokens": [[3, 4, 5], [4]], "labels": [5, 0] });
    let begin = json!({ "operation": "begin", "config": config, "samples": samples });
    let (begun, _) = told(&begin, &[]);
    let each: Vec<&Value> = begun["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sample| &sample["each"])
        .collect();
    let cut = json!([[3, []], [4, []], [5, []], [5, []]]);
    let ended = json!([[4, []], [0, []], [null, []], [null, []]]);
    assert_eq!(each, [&cut, &ended]);
    let typed = json!({ "operation": "look", "config": config, "tokens": [[0, 4, 1, 1]] });
    let (head, _) = told(&typed, &weights(&parsed(&config)));
    assert_eq!(head["judged"], json!([ended]));
}

#[test]
fn what_the_page_generates_is_what_the_command_does() {
    let config = parsed(&repeat());
    let weights = weights(&config);
    for (temperature, top_k, seed) in [(1.0, None, 0), (0.5, Some(3), 7), (0.0, None, 1)] {
        let drawing =
            json!({ "temperature": temperature, "top_k": top_k, "seed": seed, "count": 4 });
        let request = json!({ "operation": "generate", "config": repeat(), "tokens": [[2, 0]], "drawing": drawing });
        let (found, _) = told(&request, &weights);
        let sampling = Sampling {
            temperature,
            top_k,
            seed,
            length: None,
        };
        let expected = generate(&config, &weights, &[2, 0], 4, sampling).unwrap();
        let expected: Vec<Value> = expected
            .iter()
            .map(|one| json!([one.tokens, one.has_ended]))
            .collect();
        assert_eq!(found["samples"], json!(expected));
    }
}

#[test]
fn a_prompt_that_does_not_suit_is_refused_in_a_sentence() {
    let weights = weights(&parsed(&repeat()));
    let drawing = json!({ "temperature": 1.0, "seed": 0, "count": 1 });
    let of = |config: Value, tokens: Value, weights: &[f32]| {
        let request = json!({ "operation": "generate", "config": config, "tokens": tokens, "drawing": drawing });
        ask(&request, weights).0["error"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(of(repeat(), json!([[9]]), &weights).contains("outside the vocabulary"));
    assert!(of(repeat(), json!([[]]), &weights).contains("give a prompt"));
    assert!(!of(repeat(), json!([[1]]), &weights[1..]).is_empty());
    assert!(of(histogram(), json!([[1]]), &weights).len() > 20);
}
