//! A dump survives npz, and a damaged or impossible one is refused with a reason.
#![allow(missing_docs, clippy::unwrap_used, clippy::type_complexity)]

use std::collections::BTreeMap;
use std::io::Cursor;

use headlight_dump::{AttentionDump, Dims, FeedForward, Meta, VERSION, axes};

/// Two samples, two layers, two heads, three positions, filled with distinct numbers.
fn dump() -> AttentionDump {
    let dims = Dims {
        samples: 2,
        layers: 2,
        heads: 2,
        positions: 3,
        d_head: 2,
        d_model: 4,
        d_ff: 3,
    };
    let numbers = |count: usize| (0..count).map(|i| i as f32 / 8.0).collect::<Vec<_>>();
    let row = [0.5_f32, 0.25, 0.25];
    AttentionDump {
        dims,
        meta: Meta {
            version: VERSION,
            axes: axes(dims, true),
            step: Some(500),
            epoch: Some(1),
            seed: Some(0),
            samples: vec![Some(10), None],
            token_strings: BTreeMap::from([(0, "[CLS]".to_owned())]),
            label_positions: vec![vec![1], vec![]],
            config: serde_json::json!({"seed": 0}),
        },
        tokens: vec![0, 4, 2, 0, 1, 3],
        labels: vec![1.0, 0.0],
        logits: numbers(2),
        probabilities: numbers(2),
        attention_scores: numbers(72),
        attention_weights: row.repeat(24),
        query: numbers(48),
        key: numbers(48),
        value: numbers(48),
        context: numbers(48),
        embeddings: numbers(24),
        residual: numbers(48),
        attention_mask: Some([true, true, true].repeat(6)),
        feed_forward: Some(FeedForward {
            hidden: numbers(36),
            residual: numbers(48),
        }),
    }
}

fn npz(dump: &AttentionDump) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    dump.write_npz(&mut bytes).unwrap();
    bytes.into_inner()
}

#[test]
fn npz_comes_back() {
    assert_eq!(
        AttentionDump::read_npz(Cursor::new(npz(&dump()))).unwrap(),
        dump()
    );
}

#[test]
fn json_nests_as_the_axes_say() {
    let mut bytes = Vec::new();
    dump().write_json(&mut bytes).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    // [sample][layer][head][query][key]
    let last = &json["attention_scores"][1][1][1][2][2];
    assert_eq!(last.as_f64(), Some(71.0 / 8.0));
    assert_eq!(json["tokens"][1], serde_json::json!([0, 1, 3]));
    assert_eq!(
        json["meta"]["axes"]["residual"],
        serde_json::json!(["sample", "layer", "position", "d_model"])
    );
}

#[test]
fn csv_has_a_line_for_each_pair() {
    let mut bytes = Vec::new();
    dump().write_csv(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 2 * 2 * 9);
    assert_eq!(
        lines[0],
        "sample,layer,head,query,key,query_token,key_token,score,weight"
    );
    assert_eq!(lines[2], "10,0,0,0,1,[CLS],4,0.125,0.25");
}

#[test]
fn impossible_dumps_are_refused() {
    let cases: [(fn(&mut AttentionDump), &str); 4] = [
        (
            |dump| dump.logits[1] = f32::NAN,
            "`logits` holds NaN or infinity",
        ),
        (
            |dump| dump.attention_weights[0] = 0.6,
            "away from a sum of 1",
        ),
        (|dump| dump.meta.version = 2, "it is of version 2"),
        (
            |dump| dump.meta.samples.truncate(1),
            "its meta.json speaks of 1",
        ),
    ];
    for (change, part) in cases {
        let mut dump = dump();
        change(&mut dump);
        let error = AttentionDump::read_npz(Cursor::new(npz(&dump)))
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn truncated_dumps_are_refused() {
    let bytes = npz(&dump());
    for keep in (0..bytes.len()).step_by(11) {
        assert!(AttentionDump::read_npz(Cursor::new(&bytes[..keep])).is_err());
    }
}
