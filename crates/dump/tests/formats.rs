//! A dump survives npz, and a damaged or impossible one is refused with a reason.
#![allow(missing_docs, clippy::unwrap_used, clippy::type_complexity)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Cursor;

use headlight_dump::{AttentionDump, Dims, FeedForward, Meta, VERSION, axes};

/// Two samples, two layers, two heads, three positions, filled with distinct numbers. A mask leaves the
/// last query of the second sample no key.
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
    let numbers = |array: usize, count| -> Vec<f32> {
        (0..count)
            .map(|i| (array * 1000 + i) as f32 / 8.0)
            .collect()
    };
    let row = |row: usize| match row as f32 / 32.0 {
        _ if row >= 12 && row % 3 == 2 => [0.0; 3],
        weight => [weight, 1.0 - weight, 0.0],
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
            token_strings: BTreeMap::from([(0, "[CLS]".to_owned())]),
            label_positions: vec![vec![1], vec![]],
            config: serde_json::json!({"seed": 0}),
        },
        tokens: vec![0, 4, 2, 0, 1, 3],
        labels: vec![1.0, 0.0],
        logits: numbers(1, 2),
        probabilities: numbers(2, 2),
        attention_scores: numbers(0, 72),
        attention_weights: (0..24).flat_map(row).collect(),
        query: numbers(3, 48),
        key: numbers(4, 48),
        value: numbers(5, 48),
        context: numbers(6, 48),
        embeddings: numbers(7, 24),
        residual: numbers(8, 48),
        attention_mask: Some((0..18).map(|cell| cell < 15 && cell % 4 != 3).collect()),
        feed_forward: Some(FeedForward {
            hidden: numbers(9, 36),
            residual: numbers(10, 48),
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

/// Name, size and checksum of each member of an archive, from its list of members.
fn members(archive: &[u8]) -> String {
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |n, &byte| n << 8 | u32::from(byte))
    };
    let mut list = String::new();
    let entries = archive.windows(4).enumerate();
    for (at, _) in entries.filter(|(_, bytes)| bytes == b"PK\x01\x02") {
        let entry = &archive[at..];
        let name = String::from_utf8_lossy(&entry[46..46 + number(&entry[28..30]) as usize]);
        let (crc, size) = (number(&entry[16..20]), number(&entry[24..28]));
        writeln!(list, "{name} {size} {crc:08x}").unwrap();
    }
    list
}

/// The files of `tests/golden` were written before the arrays of a dump stood in one table. The
/// archive is compared by what it inflates to, because deflate may differ between machines.
#[test]
fn files_have_the_bytes_that_they_always_had() {
    let mut plain = dump();
    plain.attention_mask = None;
    let sums_of_one = plain.attention_weights[..36].repeat(2);
    plain.attention_weights = sums_of_one;
    plain.feed_forward = None;
    plain.dims.d_ff = 0;
    plain.meta.axes = axes(plain.dims, false);
    plain.labels[0] = f32::NAN;
    for (name, dump) in [("full", dump()), ("plain", plain)] {
        let (mut json, mut csv) = (Vec::new(), Vec::new());
        dump.write_json(&mut json).unwrap();
        dump.write_csv(&mut csv).unwrap();
        let npz = npz(&dump);
        if let Ok(folder) = std::env::var("KEEP") {
            std::fs::write(format!("{folder}/{name}.npz"), &npz).unwrap();
        }
        for (ending, bytes) in [
            ("json", json),
            ("csv", csv),
            ("txt", members(&npz).into_bytes()),
        ] {
            let path = format!(
                "{}/tests/golden/{name}.{ending}",
                env!("CARGO_MANIFEST_DIR")
            );
            assert!(bytes == std::fs::read(&path).unwrap(), "{path}");
        }
    }
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
    assert_eq!(lines[2], "10,0,0,0,1,[CLS],4,0.125,1");
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
            "its meta.json has 1 `samples` and 2",
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
