//! A dump of any numbers and names is read back as it was.
//!
//! `PROPTEST_CASES` sets the number of cases.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{npz, read};
use headlight_dump::{Array, Arrays, AttentionDump, Dims, Meta, VERSION, axes};
use proptest::prelude::*;

/// Fewer cases than proptest has by default.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if is_set { config.cases } else { 24 },
        ..config
    }
}

fn dims() -> impl Strategy<Value = Dims> {
    let few = || 1_usize..4;
    let drawn = (
        few(),
        few(),
        few(),
        few(),
        few(),
        few(),
        0_usize..3,
        prop_oneof![Just(1_usize), Just(3)],
    );
    drawn.prop_map(
        |(samples, layers, heads, positions, d_head, d_model, d_ff, logits)| Dims {
            per_position: false,
            samples,
            layers,
            heads,
            positions,
            d_head,
            d_model,
            d_ff,
            logits,
        },
    )
}

/// All finite numbers: also -0.0, and those below the smallest normal one.
fn number(bits: u64) -> f32 {
    let number = f32::from_bits((bits >> 32) as u32);
    if number.is_finite() { number } else { -0.0 }
}

/// Numbers that follow from a seed.
fn numbers(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    let step = move |state: &u64| {
        Some(
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407),
        )
    };
    std::iter::successors(Some(seed), step).skip(1).take(count)
}

fn floats(seed: u64, count: usize) -> Vec<f32> {
    numbers(seed, count).map(number).collect()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_dump_is_read_back(
        dims in dims(),
        seed in any::<u64>(),
        has_mask in any::<bool>(),
        counts in (any::<Option<usize>>(), any::<Option<usize>>(), any::<Option<u64>>()),
        names in prop::collection::btree_map(any::<u32>(), any::<String>(), 0..4),
        key in any::<String>(),
    ) {
        let Dims { samples, positions, logits, .. } = dims;
        let mask: Vec<bool> = numbers(seed, samples * positions * positions).map(|bits| bits >> 63 == 0).collect();
        let mask = has_mask.then_some(mask);
        let is_seen = |cell: usize| mask.as_ref().is_none_or(|mask| mask[cell..][..positions].contains(&true));
        let rows_per_sample = dims.layers * dims.heads * positions;
        let weight = |index: usize| {
            let (row, key) = (index / positions, index % positions);
            let query = row / rows_per_sample * positions + row % positions;
            // All attention of a row is on one key.
            f32::from(u8::from(key == row % positions && is_seen(query * positions)))
        };
        let mut labels = floats(seed ^ 1, samples);
        labels[0] = f32::NAN;
        let dump = AttentionDump {
            dims,
            meta: Meta {
                version: VERSION,
                axes: axes(dims, has_mask),
                step: counts.0,
                epoch: counts.1,
                seed: counts.2,
                samples: (0..samples).map(|sample| counts.0.filter(|_| sample == 0)).collect(),
                token_strings: names,
                label_positions: vec![vec![positions - 1]; samples],
                read_position: has_mask.then_some(positions - 1),
                config: serde_json::json!({key.clone(): f64::from(number(seed)), "text": key}),
            },
            tokens: numbers(seed ^ 2, samples * positions).map(u64::cast_signed).collect(),
            labels,
            logits: floats(seed ^ 3, samples * logits),
            probabilities: floats(seed ^ 4, samples * logits),
            arrays: Arrays::from_fn(|array| {
                let count = array.shape(dims).iter().product();
                match array {
                    _ if !array.exists(dims) => Vec::new(),
                    Array::Weights => (0..count).map(weight).collect(),
                    _ => floats(seed ^ (5 + array as u64), count),
                }
            }),
            attention_mask: mask.clone(),
        };
        prop_assert!(dump.check().is_ok());
        let bytes = npz(&dump);
        let again = read(bytes.clone()).unwrap();
        prop_assert_eq!(&again.meta, &dump.meta);
        // NaN is not equal to itself, and -0.0 is to 0.0; bytes tell.
        prop_assert!(npz(&again) == bytes);
        let samples: Vec<usize> = (0..dims.samples).collect();
        prop_assert!(npz(&again.select(&samples)) == bytes);
        let mut json = Vec::new();
        dump.write_json(&mut json).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let meta: Meta = serde_json::from_value(json["meta"].clone()).unwrap();
        prop_assert_eq!(meta, dump.meta);
    }
}
