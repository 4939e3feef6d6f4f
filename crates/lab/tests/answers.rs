//! Requests and their answers. `page/script/tests` compares what the module computes in a page.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{ask, lengths, plain as config, read};
use headlight_lab::answer;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The hash and all rows of a training that takes so many steps at a time.
fn trained(at_a_time: usize) -> (Value, Vec<f32>) {
    let tokens = json!([[0, 7, 1, 2], [0, 3, 4, 5]]);
    let begin = json!({ "operation": "begin", "config": config(), "tokens": tokens });
    let (begun, _) = ask(&begin, &[]);
    assert_eq!(
        (&begun["steps"], &begun["kept_every"]),
        (&json!(8), &json!(1))
    );
    let (mut step, mut rows) = (0, Vec::new());
    while step < 8 {
        let (part, floats) = ask(&json!({ "operation": "advance", "steps": at_a_time }), &[]);
        step = part["step"].as_u64().unwrap();
        let losses = part["losses"].as_u64().unwrap() as usize;
        rows.extend_from_slice(&floats[losses..]);
    }
    let (ended, _) = ask(&json!({ "operation": "end" }), &[]);
    // Each step has a row, the first before any training.
    assert_eq!(rows.len(), 9 * lengths(&begun).iter().sum::<usize>());
    (ended["weights_sha256"].clone(), rows)
}

#[test]
fn parts_of_a_training_are_the_training() {
    let whole = trained(100);
    assert_eq!(whole.0.as_str().unwrap().len(), 64);
    for at_a_time in [1, 3, 4] {
        assert!(trained(at_a_time) == whole, "{at_a_time} steps at a time");
    }
}

#[test]
fn a_part_without_steps_adds_nothing() {
    let begin = json!({ "operation": "begin", "config": config(), "tokens": [], "steps": 3 });
    ask(&begin, &[]);
    let advance = |steps: usize| {
        let (part, floats) = ask(&json!({ "operation": "advance", "steps": steps }), &[]);
        (part, floats.len())
    };
    let part = |step: usize, losses: usize, kept: &[usize]| json!({ "step": step, "losses": losses, "kept": kept, "done": step == 3 });
    let row = 9 * 4 + 4 * 4 + 4 * (4 * 4 + 4) + 2 * 4 + 4 + 1;
    assert_eq!(advance(0), (part(0, 0, &[0]), row));
    assert_eq!(advance(2), (part(2, 2, &[1, 2]), 2 + 2 * row));
    assert_eq!(advance(9), (part(3, 1, &[3]), 1 + row));
    assert_eq!(advance(9), (part(3, 0, &[]), 0));
}

#[test]
fn what_was_watched_is_what_the_weights_compute() {
    let tokens = json!([[0, 7, 1, 2], [0, 3, 4, 5]]);
    let begin = json!({ "operation": "begin", "config": config(), "tokens": tokens, "steps": 1 });
    let (begun, _) = ask(&begin, &[]);
    let (part, floats) = ask(&json!({ "operation": "advance" }), &[]);
    assert_eq!(part["kept"], json!([0, 1]));
    let size = lengths(&begun)[0];
    let row = (floats.len() - 1) / 2;
    let last = &floats[1 + row..];
    let look = json!({ "operation": "look", "config": config(), "tokens": tokens });
    let (looked, arrays) = ask(&look, &last[..size]);
    assert_eq!(looked["arrays"][0][0], begun["row"][1][0]);
    assert_eq!(arrays[..row - size], last[size..]);
    // Of all steps at once.
    let watch = json!({ "operation": "watch", "config": config(), "tokens": tokens });
    let rows = floats[1..].chunks(row);
    let weights: Vec<f32> = rows.clone().flat_map(|row| row[..size].to_vec()).collect();
    let watched: Vec<f32> = rows.flat_map(|row| row[size..].to_vec()).collect();
    let (judged, found) = ask(&watch, &weights);
    assert_eq!(found, watched);
    assert_eq!(judged["judged"], json!([[[1, [1]]], [[0, []]]]));
}

#[test]
fn what_cannot_be_is_refused() {
    let weights = [0.0; 3];
    let looks =
        |tokens: Value| json!({ "operation": "look", "config": config(), "tokens": tokens });
    for (head, word) in [
        (json!({ "operation": "dance" }), "dance"),
        (json!({ "operation": "begin" }), "config"),
        (json!({ "operation": "advance" }), "begun"),
        (json!({ "operation": "end" }), "begun"),
        (json!({ "operation": "summary" }), "config"),
        (
            json!({ "operation": "save", "config": config() }),
            "weights",
        ),
        (looks(json!([[0, 1, 2]])), "3"),
        (looks(json!([[1, 1, 2, 3]])), "[CLS]"),
        (looks(json!([[0, 1, 2, 9]])), "9"),
        (looks(json!([[0, 1, 2, 3]])), "weights"),
    ] {
        let (refused, _) = ask(&head, &weights);
        assert!(
            refused["error"].as_str().unwrap().contains(word),
            "{head}: {refused}"
        );
    }
    let mut undivided = config();
    undivided["model"]["n_heads"] = json!(0);
    let mut headless = looks(json!([[0, 1, 2, 3]]));
    headless["config"] = undivided;
    let (refused, _) = ask(&headless, &weights);
    assert!(refused["error"].as_str().unwrap().contains("model.n_heads"));
    let mut large = config();
    large["model"]["d_model"] = json!(1 << 20);
    let (refused, _) = ask(
        &json!({ "operation": "begin", "config": large, "tokens": [] }),
        &[],
    );
    assert!(refused["error"].is_string());
}

proptest! {
    #[test]
    fn bytes_that_are_no_request_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(read(&answer(&bytes)).0["error"].is_string());
    }
}

/// A config whose samples are sentences.
fn sentences() -> Value {
    json!({
        "data": {
            "generator": "sentences", "samples": 300, "held_out": 100, "vocab_size": 32, "seq_len": 12,
            "rule": { "kind": "sentence", "corpus": "negation" }, "classes": ["bad", "good"],
            "words": { "vocabulary": [
                "*", "the", "not", ",", "was", "seemed", "but", "and", "while", "movie", "soundtrack", "story", "acting",
                "food", "service", "camera", "room", "good", "amazing", "great", "lovely", "brilliant", "fun", "bad",
                "awful", "boring", "dull", "poor", "terrible",
            ] },
        },
        "model": { "d_model": 4, "n_layers": 2, "attention": { "padding_token": 1 } },
        "training": { "epochs": 1 },
    })
}

/// The token of "movie".
const MOVIE: u32 = 12;

#[test]
fn a_words_vectors_are_found_where_it_stands() {
    let config = sentences();
    let find = |most: usize| {
        let request =
            json!({ "operation": "find", "config": config, "token": MOVIE, "most": most });
        ask(&request, &[]).0
    };
    let found = find(7);
    assert_eq!(found["held_out"], 1);
    let samples = found["samples"].as_array().unwrap();
    let count = |sample: &Value| {
        let tokens = sample.as_array().unwrap().iter();
        tokens.filter(|token| **token == json!(MOVIE)).count()
    };
    assert!(samples.iter().all(|sample| count(sample) > 0));
    assert_eq!(samples.iter().map(count).sum::<usize>(), 7);
    assert_eq!(found["labels"].as_array().unwrap().len(), samples.len());
    let every = find(usize::MAX);
    let every = every["samples"].as_array().unwrap().iter();
    let all: usize = every.map(count).sum();
    assert!(all > 7 && found["all"] == json!(all), "{}", found["all"]);
    assert_eq!(find(0)["samples"], json!([]));

    let begin = json!({ "operation": "begin", "config": config });
    let (begun, _) = ask(&begin, &[]);
    let size = lengths(&begun)[0];
    let weights: Vec<f32> = (0..size)
        .map(|index| (0.7 * f32::from((index % 1000) as u16)).sin())
        .collect();
    let request =
        json!({ "operation": "planes", "config": config, "token": MOVIE, "tokens": samples });
    let (planes, points) = ask(&request, &weights);
    assert_eq!(
        planes["levels"],
        json!(["word", "position", "block_0", "block_1"])
    );
    assert_eq!(planes["places"].as_array().unwrap().len(), 7);
    assert_eq!(points.len(), 4 * 7 * 2);
    // The word alone is one point; in sentences it moves.
    assert!(points[..14].iter().all(|&part| part == 0.0));
    assert!(points[42..].iter().any(|&part| part != 0.0));
    for share in planes["shares"].as_array().unwrap() {
        let [first, second] = [0, 1].map(|at| share[at].as_f64().unwrap());
        assert!(first >= second && second >= 0.0 && first + second < 1.0 + 1e-9);
    }
}
