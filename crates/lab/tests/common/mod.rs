//! Requests and answers.
#![allow(dead_code)] // Not every test needs all of it.

use headlight_lab::answer;
use serde_json::{Value, json};

pub(crate) fn request(head: &Value, floats: &[f32]) -> Vec<u8> {
    let mut head = head.to_string();
    while !head.len().is_multiple_of(4) {
        head.push(' ');
    }
    let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
    bytes.extend(head.into_bytes());
    bytes.extend(floats.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// The head and the floats of an answer.
pub(crate) fn read(answer: &[u8]) -> (Value, Vec<f32>) {
    let (length, rest) = answer.split_first_chunk().unwrap();
    let (head, floats) = rest.split_at(u32::from_le_bytes(*length) as usize);
    let (floats, rest) = floats.as_chunks();
    assert!(rest.is_empty());
    let floats = floats.iter().copied().map(f32::from_le_bytes).collect();
    (serde_json::from_slice(head).unwrap(), floats)
}

/// A config of few samples.
pub(crate) fn plain() -> Value {
    json!({
        "seed": 3,
        "data": {
            "samples": 64, "held_out": 8, "vocab_size": 9, "seq_len": 3,
            "rule": { "kind": "token-anywhere", "token": 7 },
        },
        "model": { "d_model": 4 },
        "training": { "epochs": 2, "batch_size": 16, "learning_rate": 0.05 },
    })
}

/// The numbers of the parts of a row, of which the weights are the first.
pub(crate) fn lengths(begun: &Value) -> Vec<usize> {
    let parts = begun["row"].as_array().unwrap().iter();
    parts
        .map(|part| part[1].as_u64().unwrap() as usize)
        .collect()
}

pub(crate) fn ask(head: &Value, floats: &[f32]) -> (Value, Vec<f32>) {
    read(&answer(&request(head, floats)))
}

/// As [`ask`], of a request that must succeed.
pub(crate) fn told(head: &Value, floats: &[f32]) -> (Value, Vec<f32>) {
    let (answer, floats) = ask(head, floats);
    assert!(answer["error"].is_null(), "{head}: {answer}");
    (answer, floats)
}
