//! What the module computes of a model is what the engine computes of it.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{ask, told};
use headlight_architecture::Parameter;
use headlight_data::{ClsPlace, Dataset, Stream};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, ForwardValues, Intervention, PatchSite, forward};
use serde_json::{Value, json};

fn config() -> Value {
    json!({
        "data": {
            "samples": 4, "vocab_size": 6, "seq_len": 3, "cls": "last", "n_classes": 3,
            "rule": { "kind": "count", "token": 2 },
        },
        "model": {
            "d_model": 4, "n_heads": 2, "n_layers": 2, "d_ff": 3, "attention": { "mask": "causal" },
        },
        "training": { "epochs": 1, "batch_size": 2 },
    })
}

const TOKENS: [[u32; 4]; 2] = [[2, 5, 2, 0], [1, 1, 3, 0]];

fn parsed() -> ExperimentConfig {
    serde_json::from_value(config()).unwrap()
}

fn parameters() -> Vec<Parameter> {
    let config = parsed();
    let rng = &mut Stream::Weights.rng(1);
    let mut parameters = config.model.initial_parameters(config.inputs(), rng);
    // Biases start at 0, which would hide what becomes of them.
    let mut at: f32 = 0.0;
    for value in parameters.iter_mut().flat_map(|own| &mut own.values) {
        *value += 0.3 * at.sin();
        at += 1.0;
    }
    parameters
}

fn weights() -> Vec<f32> {
    let parameters = parameters().into_iter();
    parameters.flat_map(|parameter| parameter.values).collect()
}

fn computed(interventions: &[Intervention]) -> ForwardValues {
    let mut samples = Dataset::empty(3, ClsPlace::Last);
    for tokens in TOKENS {
        samples.push(&tokens, 0);
    }
    forward(&parsed(), &parameters(), &samples, &[0, 1], interventions).unwrap()
}

fn ask_of(operation: &str, interventions: &Value) -> Value {
    json!({
        "operation": operation, "config": config(), "tokens": TOKENS, "interventions": interventions,
    })
}

/// Each intervention as the page writes it, and as the engine takes it.
fn interventions() -> Vec<(Value, Intervention)> {
    let shares = vec![0.5, 0.25, 0.25, 0.0];
    let vector = vec![1.0, -2.0, 0.5, 3.0];
    let replaced = |place: &str, of: PatchSite| {
        let written = json!({
            "patch": { "place": place, "layer": 1, "position": 3, "vector": vector },
        });
        let vector = vector.clone();
        (
            written,
            Intervention::Patch {
                site: of,
                position: 3,
                vector,
            },
        )
    };
    vec![
        (
            json!({ "ablate_head": { "layer": 1, "head": 1 } }),
            Intervention::AblateHead { layer: 1, head: 1 },
        ),
        (
            json!({ "mask_key": { "layer": 0, "position": 2 } }),
            Intervention::MaskKey {
                layer: 0,
                position: 2,
            },
        ),
        (
            json!({ "set_attention": { "layer": 1, "head": 0, "query": 3, "weights": shares } }),
            Intervention::SetAttention {
                layer: 1,
                head: 0,
                query: 3,
                weights: shares.clone(),
            },
        ),
        replaced("embeddings", PatchSite::Embeddings),
        replaced("context", PatchSite::Context(1)),
        replaced("residual", PatchSite::Residual(1)),
        replaced("output", PatchSite::Output(1)),
    ]
}

#[test]
fn a_look_has_every_array_of_the_forward_pass() {
    let (head, floats) = told(&ask_of("look", &json!([])), &weights());
    let all = computed(&[]);
    let logits = ("logits", &all.predictions.logits[..]);
    let arrays = Array::ALL.map(|array| (array.name(), &all.arrays[array][..]));
    let expected = [&[logits][..], &arrays].concat();
    let mut at = 0;
    let arrays = head["arrays"].as_array().unwrap().iter().map(|array| {
        let length = array[1].as_u64().unwrap() as usize;
        at += length;
        let axes = array[2].as_array().unwrap().iter();
        let extents = axes.map(|axis| axis[1].as_u64().unwrap() as usize);
        assert_eq!(extents.product::<usize>(), length);
        (array[0].as_str().unwrap(), &floats[at - length..at])
    });
    let arrays: Vec<(&str, &[f32])> = arrays.collect();
    assert_eq!(arrays[1..], expected);
    assert_eq!(head["arrays"][0][2], json!([["sample", 2], ["class", 3]]));
    assert_eq!(
        head["arrays"][4][2],
        json!([
            ["sample", 2],
            ["layer", 2],
            ["head", 2],
            ["position", 4],
            ["d_head", 2]
        ])
    );
    let (name, probabilities) = arrays[0];
    assert_eq!((name, probabilities.len()), ("probabilities", 6));
    for (found, engine) in probabilities.iter().zip(&all.predictions.probabilities) {
        assert!((found - engine).abs() < 1e-6);
    }
    let mask: Vec<u8> = all.mask.into_iter().map(u8::from).collect();
    assert_eq!(head["mask"], json!(mask));
    assert_eq!(head["judged"], json!([[[2, [0, 2]]], [[0, []]]]));
}

#[test]
fn interventions_are_the_engines() {
    let plain = computed(&[]).predictions.logits;
    for (written, intervention) in interventions() {
        let all = computed(&[intervention]);
        assert_ne!(all.predictions.logits, plain, "{written}");
        let (_, looked) = told(&ask_of("look", &json!([written])), &weights());
        assert_eq!(looked[6..12], all.predictions.logits, "{written}");
        let twice = [weights(), weights()].concat();
        let (head, watched) = told(&ask_of("watch", &json!([written])), &twice);
        let row = [
            &looked[..12],
            &all.arrays[Array::Scores],
            &all.arrays[Array::Weights],
        ]
        .concat();
        assert_eq!(watched, [&row[..], &row].concat(), "{written}");
        assert_eq!(
            head["row"][2],
            json!(["attention_scores", all.arrays[Array::Scores].len()])
        );
    }
    let all: Vec<(Value, Intervention)> = interventions();
    let (written, own): (Vec<Value>, Vec<Intervention>) = all.into_iter().take(3).unzip();
    let (_, looked) = told(&ask_of("look", &json!(written)), &weights());
    assert_eq!(looked[6..12], computed(&own).predictions.logits);
}

#[test]
fn what_does_not_fit_is_refused() {
    let broken = [weights()[1..].to_vec(), vec![f32::NAN]].concat();
    let change = |written: Value| ask_of("look", &json!([written]));
    let refused = [
        (
            change(json!({ "ablate_head": { "layer": 2, "head": 0 } })),
            "layer 2",
        ),
        (
            change(json!({ "patch": { "place": "keys", "position": 0, "vector": [] } })),
            "keys",
        ),
        (change(json!({ "remove": {} })), "remove"),
    ];
    for (head, word) in refused {
        let (refused, _) = ask(&head, &weights());
        let message = refused["error"].as_str().unwrap();
        assert!(message.contains(word), "{head}: {message}");
    }
    let (refused, _) = ask(&ask_of("watch", &json!([])), &broken);
    assert!(refused["error"].as_str().unwrap().contains("NaN"));
}
