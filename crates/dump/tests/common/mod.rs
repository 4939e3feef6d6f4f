//! A dump whose numbers all differ, and its files.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::io::Cursor;

use headlight_dump::{AttentionDump, Dims, DumpError, FeedForward, Meta, VERSION, axes};

pub(crate) const DIMS: Dims = Dims {
    samples: 2,
    layers: 3,
    heads: 2,
    positions: 4,
    d_head: 3,
    d_model: 5,
    d_ff: 6,
    logits: 1,
};

/// Distinct numbers in each array. The mask leaves the second query of the first sample no key, and the
/// last query of the second sample.
pub(crate) fn dump() -> AttentionDump {
    with_dims(DIMS)
}

pub(crate) fn with_dims(dims: Dims) -> AttentionDump {
    let Dims {
        samples,
        layers,
        heads,
        positions,
        d_head,
        d_model,
        d_ff,
        logits,
    } = dims;
    let numbers = |array: usize, axes: &[usize]| -> Vec<f32> {
        let count = axes.iter().product::<usize>();
        (0..count)
            .map(|i| (array * 1000 + i) as f32 / 8.0)
            .collect()
    };
    let per_head = [samples, layers, heads, positions, d_head];
    let per_layer = [samples, layers, positions, d_model];
    let sees = |sample: usize, query: usize| !matches!((sample, query), (0, 1) | (1, 3));
    let weight = |index: usize| {
        let (row, key) = (index / positions, index % positions);
        let sample = row / (layers * heads * positions);
        match key {
            _ if !sees(sample, row % positions) => 0.0,
            0 => row as f32 / 64.0,
            1 => 1.0 - row as f32 / 64.0,
            _ => 0.0,
        }
    };
    let may_attend = |cell: usize| {
        let (row, key) = (cell / positions, cell % positions);
        sees(row / positions, row % positions) && (key < 2 || key <= row % positions)
    };
    AttentionDump {
        dims,
        meta: Meta {
            version: VERSION,
            axes: axes(dims, true),
            step: Some(500),
            epoch: Some(1),
            seed: Some(0),
            samples: vec![Some(10), None],
            token_strings: BTreeMap::from([
                (0, "[CLS]".to_owned()),
                (4, "a\u{1b}[31m\n".to_owned()),
            ]),
            label_positions: vec![vec![1], vec![]],
            config: serde_json::json!({"seed": 0}),
        },
        tokens: [0, 4, 2, 7, 0, 1, 3, 3][..samples * positions].to_vec(),
        labels: [1.0, 0.0][..samples].to_vec(),
        logits: numbers(1, &[samples, logits]),
        probabilities: numbers(2, &[samples, logits]),
        attention_scores: numbers(0, &[samples, layers, heads, positions, positions]),
        attention_weights: (0..samples * layers * heads * positions * positions)
            .map(weight)
            .collect(),
        query: numbers(3, &per_head),
        key: numbers(4, &per_head),
        value: numbers(5, &per_head),
        context: numbers(6, &per_head),
        embeddings: numbers(7, &[samples, positions, d_model]),
        residual: numbers(8, &per_layer),
        attention_mask: Some(
            (0..samples * positions * positions)
                .map(may_attend)
                .collect(),
        ),
        feed_forward: Some(FeedForward {
            hidden: numbers(9, &[samples, layers, positions, d_ff]),
            residual: numbers(10, &per_layer),
        }),
    }
}

/// A dump without feed-forward layers or a mask; one label is unknown.
pub(crate) fn plain() -> AttentionDump {
    let mut dump = with_dims(Dims { d_ff: 0, ..DIMS });
    dump.attention_mask = None;
    dump.feed_forward = None;
    dump.meta.axes = axes(dump.dims, false);
    dump.labels[0] = f32::NAN;
    for row in dump.attention_weights.chunks_mut(4) {
        row.copy_from_slice(&[0.5, 0.25, 0.125, 0.125]);
    }
    dump
}

pub(crate) fn npz(dump: &AttentionDump) -> Vec<u8> {
    let mut bytes = Vec::new();
    dump.write_npz(&mut bytes).unwrap();
    bytes
}

pub(crate) fn read(npz: Vec<u8>) -> Result<AttentionDump, DumpError> {
    AttentionDump::read_npz(Cursor::new(npz))
}
