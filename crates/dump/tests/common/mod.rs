//! A dump whose numbers all differ, and its files.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::io::Cursor;

use headlight_dump::{Array, Arrays, AttentionDump, Dims, Meta, VERSION, axes};

pub(crate) const DIMS: Dims = Dims {
    per_position: false,
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
        logits,
        ..
    } = dims;
    let numbers = |array: usize, axes: &[usize]| -> Vec<f32> {
        let count = axes.iter().product::<usize>();
        (0..count)
            .map(|i| (array * 1000 + i) as f32 / 8.0)
            .collect()
    };
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
            read_position: None,
            config: serde_json::json!({"seed": 0}),
        },
        tokens: [0, 4, 2, 7, 0, 1, 3, 3][..samples * positions].to_vec(),
        labels: [1.0, 0.0][..samples].to_vec(),
        logits: numbers(1, &[samples, logits]),
        probabilities: numbers(2, &[samples, logits]),
        arrays: Arrays::from_fn(|array| match array {
            _ if !array.exists(dims) => Vec::new(),
            Array::Weights => {
                let count = array.shape(dims).iter().product();
                (0..count).map(weight).collect()
            }
            Array::Scores => numbers(0, &array.shape(dims)),
            // The first numbers are those of logits and probabilities.
            _ => numbers(array as usize + 1, &array.shape(dims)),
        }),
        attention_mask: Some(
            (0..samples * positions * positions)
                .map(may_attend)
                .collect(),
        ),
    }
}

/// A dump without feed-forward layers or a mask; one label is unknown.
pub(crate) fn plain() -> AttentionDump {
    let mut dump = with_dims(Dims { d_ff: 0, ..DIMS });
    dump.attention_mask = None;
    dump.meta.axes = axes(dump.dims, false);
    dump.labels[0] = f32::NAN;
    for row in dump.arrays[Array::Weights].chunks_mut(4) {
        row.copy_from_slice(&[0.5, 0.25, 0.125, 0.125]);
    }
    dump
}

pub(crate) fn npz(dump: &AttentionDump) -> Vec<u8> {
    let mut bytes = Vec::new();
    dump.write_npz(&mut bytes).unwrap();
    bytes
}

pub(crate) fn read(npz: Vec<u8>) -> Result<AttentionDump, String> {
    AttentionDump::read_npz(Cursor::new(npz))
}
