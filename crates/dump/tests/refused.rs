//! A damaged or impossible dump is refused with its reason.
#![allow(
    missing_docs,
    clippy::float_cmp,
    clippy::type_complexity,
    clippy::unwrap_used
)]

mod common;

use common::{DIMS, dump, npz, plain, read, with_dims};
use headlight_dump::{Array, AttentionDump, Dims};
use headlight_npz::{NpzReader, NpzWriter};
use std::io::Cursor;

fn refusal(npz: Vec<u8>) -> String {
    read(npz).unwrap_err()
}

#[test]
fn impossible_dumps_are_refused() {
    let cases: [(fn(&mut AttentionDump), &str); 13] = [
        (|dump| dump.logits[1] = f32::NAN, "`logits`"),
        (
            |dump| dump.arrays[Array::Residual][7] = f32::INFINITY,
            "`residual`",
        ),
        (
            |dump| dump.arrays[Array::FeedForwardHidden][0] = f32::NAN,
            "`feed_forward_hidden`",
        ),
        (
            |dump| dump.arrays[Array::Weights][0] = 0.5,
            "5e-1 away from 1",
        ),
        (
            |dump| dump.arrays[Array::Weights][191] = 0.25,
            "2.5e-1 away from 1",
        ),
        (|dump| dump.meta.version = 2, "version is 2"),
        (
            |dump| dump.meta.samples.truncate(1),
            "2 samples, but its meta has 1 `samples` and 2",
        ),
        (
            |dump| dump.meta.label_positions.truncate(1),
            "2 `samples` and 1 `label_positions`",
        ),
        (
            |dump| {
                dump.meta.samples.push(None);
                dump.meta.label_positions.push(vec![]);
            },
            "3 `samples` and 3",
        ),
        (|dump| dump.meta.label_positions[1] = vec![4], "sample 1"),
        (
            |dump| dump.meta.read_position = Some(4),
            "`read_position` is 4",
        ),
        (
            |dump| dump.meta.label_positions[0] = vec![0, 1, 2, 3, 3],
            "sample 0",
        ),
        (
            |dump| dump.meta.label_positions[0] = vec![0, 9],
            "4 positions",
        ),
    ];
    for (change, part) in cases {
        let mut dump = dump();
        change(&mut dump);
        let message = refusal(npz(&dump));
        assert!(message.contains(part), "`{part}`: {message}");
        assert_eq!(dump.check().is_err(), part != "version is 2");
    }
}

#[test]
fn what_is_at_a_limit_is_accepted() {
    assert!(dump().check().is_ok());
    assert!(plain().check().is_ok());
    let mut dump = dump();
    dump.meta.label_positions[0] = vec![0, 1, 2, 3];
    assert!(dump.check().is_ok());
    // The second query of sample 0 may attend to no key: three numbers that sum to 1e-4 exactly.
    let (mut rest, row) = (1e-4_f64, &mut dump.arrays[Array::Weights][4..8]);
    for weight in row {
        *weight = rest as f32;
        rest -= f64::from(*weight);
    }
    assert!(rest == 0.0);
    assert!(dump.check().is_ok());
    dump.arrays[Array::Weights][7] = 1e-9;
    assert!(dump.check().is_err());
}

#[test]
fn the_worst_row_is_measured_against_what_its_query_may_attend_to() {
    assert!(dump().worst_row_sum() == 0.0);
    assert!(plain().worst_row_sum() == 0.0);
    // Without its mask, a row of zeros is wrong by 1.
    let unmasked = AttentionDump {
        attention_mask: None,
        ..dump()
    };
    assert!(unmasked.worst_row_sum() == 1.0);
    let mut masked = plain();
    masked.attention_mask = dump().attention_mask;
    assert!(masked.worst_row_sum() == 1.0);
    for row in 0..48 {
        let mut dump = plain();
        dump.arrays[Array::Weights][row * 4 + row % 4] += 0.5;
        assert!(dump.worst_row_sum() == 0.5, "row {row}");
        dump.arrays[Array::Weights][row * 4 + row % 4] -= 0.75;
        assert!(dump.worst_row_sum() == 0.25, "row {row}");
    }
}

#[test]
fn a_row_sums_to_what_its_config_makes_of_the_softmax() {
    // Each query of `plain` has four keys: rate 0.75 makes sums of 0.75 + 4 * 0.25.
    let mut dump = plain();
    dump.meta.config = serde_json::json!({"model": {"attention": {"rate": 0.75}}});
    let message = dump.check().unwrap_err();
    assert!(
        message.contains("7.5e-1 away from that of its attention rate 0.75"),
        "{message}"
    );
    for weight in &mut dump.arrays[Array::Weights] {
        *weight = 0.75 * *weight + 0.25;
    }
    assert!(dump.check().is_ok());
    dump.arrays[Array::Weights][0] += 0.5;
    assert!(dump.check().is_err());
    dump.meta.config = serde_json::json!({"model": {"attention": {"softmax": false}}});
    assert!(dump.check().is_ok());
}

#[test]
fn axes_without_extent_are_refused_by_name() {
    for (dims, part) in [
        (Dims { samples: 0, ..DIMS }, "samples"),
        (Dims { layers: 0, ..DIMS }, "layers"),
        (Dims { heads: 0, ..DIMS }, "heads"),
        (
            Dims {
                positions: 0,
                ..DIMS
            },
            "positions",
        ),
        (Dims { d_head: 0, ..DIMS }, "numbers per head"),
        (Dims { d_model: 0, ..DIMS }, "numbers per position"),
        (Dims { logits: 0, ..DIMS }, "logits"),
    ] {
        let message = refusal(npz(&with_dims(dims)));
        assert_eq!(message, format!("it has no {part}"));
    }
}

/// The archive of `dump()` with other arrays, or without them.
fn with_arrays(changed: &[(&str, Option<(&[usize], &[f32])>)]) -> Vec<u8> {
    let mut from = NpzReader::new(Cursor::new(npz(&dump()))).unwrap();
    let mut to = NpzWriter::new();
    for name in dump().meta.axes.keys() {
        match changed.iter().find(|(changed, _)| changed == name) {
            None if name == "tokens" || name == "attention_mask" => {
                let array = from.integers(name).unwrap();
                to.array(name, &array.shape, &array.values).unwrap();
            }
            None => {
                let array = from.floats(name).unwrap();
                to.array(name, &array.shape, &array.values).unwrap();
            }
            Some((_, Some((shape, values)))) => to.array(name, shape, values).unwrap(),
            Some((_, None)) => {}
        }
    }
    to.string("meta", &from.string("meta").unwrap()).unwrap();
    to.finish().unwrap()
}

/// An array, another shape of it, and a part of the message.
const MISFITS: &str = "
logits                | [3]          | `logits` has shape [3], but the other arrays imply [2]
residual              | [2, 3, 5, 4] | `residual` has shape [2, 3, 5, 4]
attention_scores      | [2, 3, 2, 4] | `attention_scores` has shape [2, 3, 2, 4]
query                 | [2, 3, 2, 4] | `query` and `embeddings` have shapes [2, 3, 2, 4] and [2, 4, 5]
embeddings            | [2]          | `query` and `embeddings` have shapes [2, 3, 2, 4, 3] and [2]
feed_forward_residual | [2, 3, 4, 6] | `feed_forward_residual` has shape
feed_forward_hidden   | [2, 3, 1, 6] | `feed_forward_hidden` has shape [2, 3, 1, 6]
";

#[test]
fn arrays_that_do_not_fit_each_other_are_refused_by_name() {
    // The mask may be of any integers.
    assert_eq!(read(with_arrays(&[])).unwrap(), dump());
    for line in MISFITS.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let shape: Vec<usize> = serde_json::from_str(cells[1]).unwrap();
        let values = vec![0.0; shape.iter().product()];
        let message = refusal(with_arrays(&[(cells[0], Some((&shape, &values)))]));
        assert!(message.contains(cells[2]), "{line}: {message}");
    }
    let message = refusal(with_arrays(&[("tokens", Some((&[2, 4], &[0.0; 8])))]));
    assert!(
        message.contains("`tokens.npy`") && message.contains("float32"),
        "{message}"
    );
}

#[test]
fn only_optional_arrays_may_be_missing() {
    for name in dump().meta.axes.keys() {
        let read = read(with_arrays(&[(name, None)]));
        match name.as_str() {
            "attention_mask" => {
                assert!(read.unwrap_err().contains("away from 1"));
            }
            "feed_forward_hidden" | "feed_forward_residual" => {
                let read = read.unwrap();
                let hidden = &read.arrays[Array::FeedForwardHidden];
                assert_eq!((hidden.len(), read.dims.d_ff), (0, 0));
            }
            name => {
                let message = read.unwrap_err();
                assert_eq!(message, format!("it has no member `{name}.npy`"));
            }
        }
    }
}

#[test]
fn truncated_dumps_are_refused() {
    let bytes = npz(&dump());
    for keep in (0..bytes.len()).step_by(11) {
        assert!(AttentionDump::read_npz(Cursor::new(&bytes[..keep])).is_err());
    }
}
