//! A dump survives npz; its files keep the bytes that they always had.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fmt::Write as _;

use common::{DIMS, dump, npz, plain, read, with_dims};
use headlight_dump::{Array, AttentionDump, Dims, axes, size};

#[test]
fn npz_comes_back() {
    assert_eq!(read(npz(&dump())).unwrap(), dump());
    let back = read(npz(&plain())).unwrap();
    assert!(back.labels[0].is_nan());
    assert_eq!((back.dims.d_ff, &back.attention_mask), (0, &None));
    assert_eq!(
        (back.dims, back.meta, back.arrays),
        (plain().dims, plain().meta, plain().arrays)
    );
}

/// Two classes have one logit per sample, more have an axis of their own.
#[test]
fn logits_of_several_classes_have_an_axis() {
    let several = with_dims(Dims { logits: 4, ..DIMS });
    assert_eq!(several.meta.axes["logits"], ["sample", "class"]);
    assert_eq!(several.meta.axes["probabilities"], ["sample", "class"]);
    assert_eq!(dump().meta.axes["logits"], ["sample"]);
    let back = read(npz(&several)).unwrap();
    assert_eq!(back, several);
    assert_eq!(back.probabilities(1), &several.probabilities[4..]);
    assert_eq!(several.select(&[1]).logits, several.logits[4..]);
    let mut json = Vec::new();
    several.write_json(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["logits"][1][3], several.logits[7]);
}

/// Without `[CLS]`, token 0 says nothing of the readout position; older dumps do not name it.
#[test]
fn the_position_that_the_class_is_read_from() {
    let mut dump = dump();
    assert_eq!(dump.read_position(), 0);
    assert!(!meta_of(&dump).contains("read_position"));
    dump.meta.read_position = Some(3);
    let back = read(npz(&dump)).unwrap();
    assert_eq!((back.read_position(), &back), (3, &dump));
    assert_eq!(back.select(&[1]).read_position(), 3);
    for (place, cls) in [("none", None), ("last", Some(3)), ("first", Some(0))] {
        dump.meta.config = serde_json::json!({"data": {"cls": place}});
        assert_eq!((dump.cls(), dump.read_position()), (cls, 3));
    }
    dump.meta.read_position = None;
    assert_eq!(
        (dump.cls(), dump.readout_name(0)),
        (Some(0), "[CLS]".to_owned())
    );
    let mut without = plain();
    without.tokens.fill(5);
    assert_eq!(without.read_position(), 0);
}

fn meta_of(dump: &AttentionDump) -> String {
    serde_json::to_string(&dump.meta).unwrap()
}

/// Every array of a part, and of an order, is that of its samples.
#[test]
fn a_dump_of_some_samples_holds_their_rows() {
    let all = dump();
    let samples: Vec<usize> = (0..all.dims.samples).rev().collect();
    assert_eq!(all.select(&samples).select(&samples), all);
    let last = all.dims.samples - 1;
    let part = all.select(&[last]);
    assert_eq!(part.dims.samples, 1);
    assert_eq!(part.meta.samples, [all.meta.samples[last]]);
    assert_eq!(part.tokens, all.tokens(last));
    assert_eq!(part.weights(0, 0, 0), all.weights(last, 0, 0));
    assert_eq!(part, read(npz(&part)).unwrap());
    assert_eq!(plain().select(&[]).attention_mask, None);
}

/// The size that is computed ahead is that of the arrays.
#[test]
fn the_size_is_that_of_the_arrays() {
    let of_arrays = |dump: &AttentionDump| {
        let beside = [&dump.labels, &dump.logits, &dump.probabilities];
        let computed = Array::ALL.map(|array| dump.arrays[array].len());
        let floats = beside.map(Vec::len).iter().chain(&computed).sum::<usize>();
        let mask = dump.attention_mask.as_ref().map_or(0, Vec::len);
        let integers = dump.tokens.len();
        (integers + floats + mask, 8 * integers + 4 * floats + mask)
    };
    for dump in [dump(), plain(), with_dims(Dims { logits: 4, ..DIMS })] {
        let (numbers, bytes) = of_arrays(&dump);
        let expected = (numbers as f64, bytes as f64);
        assert_eq!(size(dump.dims, dump.attention_mask.is_some()), expected);
    }
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

/// The files of `tests/golden`, which `UPDATE_GOLDEN=1` writes anew. The archive is compared by its list of members, because
/// deflate may differ between machines.
#[test]
fn files_have_the_bytes_that_they_always_had() {
    for (name, dump) in [("full", dump()), ("plain", plain())] {
        let (mut json, mut csv) = (Vec::new(), Vec::new());
        dump.write_json(&mut json).unwrap();
        dump.write_csv(&mut csv).unwrap();
        let members = members(&npz(&dump)).into_bytes();
        for (ending, bytes) in [("json", json), ("csv", csv), ("txt", members)] {
            let path = format!(
                "{}/tests/golden/{name}.{ending}",
                env!("CARGO_MANIFEST_DIR")
            );
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&path, &bytes).unwrap();
            }
            assert!(bytes == std::fs::read(&path).unwrap(), "{path}");
        }
    }
}

/// `docs/reference/dumps.md` has every array with its axes, as the core describes it; `UPDATE_GOLDEN=1` writes its rows anew.
#[test]
fn the_documents_list_every_array() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/dumps.md");
    let text = std::fs::read_to_string(path).unwrap();
    let [start, end] = ["<!-- arrays of the forward pass -->\n", "<!-- end -->"];
    let (before, rest) = text.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let mut table = "\n| array | axes | holds |\n|---|---|---|\n".to_owned();
    for array in Array::ALL {
        let (name, axes) = (array.name(), array.axes().join(", "));
        let without = Dims {
            d_ff: 0,
            ..dump().dims
        };
        let only = if array.exists(without) {
            ""
        } else {
            " Only with feed-forward layers."
        };
        let sentence = array.sentence();
        writeln!(table, "| `{name}` | `[{axes}]` | {sentence}{only} |").unwrap();
    }
    let current = format!("{before}{start}{table}\n{end}{after}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text == current,
        "{path} is not current; run this test with UPDATE_GOLDEN=1"
    );
    // The members beside them stand in the text.
    for (name, axes) in &dump().meta.axes {
        let axes = format!("`[{}]`", axes.join(", "));
        let mut rows = text.lines().filter(|line| line.starts_with("| `"));
        let row = rows.find(|row| row.contains(&format!("`{name}`")));
        assert!(row.is_some_and(|row| row.contains(&axes)), "{name} {axes}");
    }
}

#[test]
fn json_nests_as_the_axes_say() {
    let mut bytes = Vec::new();
    dump().write_json(&mut bytes).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    // [sample][layer][head][query][key]
    let last = &json["attention_scores"][1][2][1][3][3];
    assert_eq!(last.as_f64(), Some(191.0 / 8.0));
    assert_eq!(json["tokens"][1], serde_json::json!([0, 1, 3, 3]));
    assert_eq!(
        json["attention_mask"][0][1],
        serde_json::json!([false, false, false, false])
    );
    assert_eq!(
        json["meta"]["axes"]["residual"],
        serde_json::json!(["sample", "layer", "position", "d_model"])
    );
}

#[test]
fn csv_has_a_row_for_each_pair() {
    let mut bytes = Vec::new();
    dump().write_csv(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * 3 * 2 * 16);
    assert_eq!(
        rows[0],
        "sample,layer,head,query,key,query_token,key_token,score,weight"
    );
    // The first sample has its index in the training set, the second its place in the dump.
    assert_eq!(
        rows[1 + 9],
        "10,0,0,2,1,2,a\u{FFFD}[31m\u{FFFD},1.125,0.96875"
    );
    assert_eq!(rows[191], "1,2,1,3,2,3,3,23.75,0");
}

#[test]
fn optional_arrays_have_axes_only_where_they_are() {
    let names = |d_ff, masked| {
        let axes = axes(
            Dims {
                d_ff,
                ..common::DIMS
            },
            masked,
        );
        let optional = [
            "attention_mask",
            "feed_forward_hidden",
            "feed_forward_residual",
        ];
        (axes.len(), optional.map(|name| axes.contains_key(name)))
    };
    assert_eq!(names(0, false), (13, [false, false, false]));
    assert_eq!(names(0, true), (14, [true, false, false]));
    assert_eq!(names(1, false), (15, [false, true, true]));
    assert_eq!(names(6, true), (16, [true, true, true]));
    let axes = axes(common::DIMS, true);
    assert_eq!(axes["attention_mask"], ["sample", "query", "key"]);
    assert_eq!(
        axes["feed_forward_hidden"],
        ["sample", "layer", "position", "d_ff"]
    );
}

#[test]
fn heads_are_found_by_their_indices() {
    let dump = dump();
    let cells = |sample, layer, head| ((sample * 3 + layer) * 2 + head) * 16;
    for (sample, layer, head) in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 2, 1)] {
        let cells = cells(sample, layer, head)..cells(sample, layer, head) + 16;
        assert_eq!(
            dump.scores(sample, layer, head),
            &dump.arrays[Array::Scores][cells.clone()]
        );
        assert_eq!(
            dump.weights(sample, layer, head),
            &dump.arrays[Array::Weights][cells]
        );
    }
    for (sample, layer, head) in [(2, 0, 0), (0, 3, 0), (0, 0, 2)] {
        assert!(std::panic::catch_unwind(|| dump.scores(sample, layer, head).len()).is_err());
    }
}

#[test]
fn tokens_are_shown_as_the_meta_data_say() {
    let dump = dump();
    assert_eq!(dump.tokens(0), [0, 4, 2, 7]);
    assert_eq!(dump.tokens(1), [0, 1, 3, 3]);
    assert_eq!(dump.token_string(0), "[CLS]");
    assert_eq!(dump.token_string(4), "a\u{FFFD}[31m\u{FFFD}");
    assert_eq!(dump.token_string(2), "2");
    assert_eq!(dump.token_string(-4), "-4");
}
