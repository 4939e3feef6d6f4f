//! The page holds the dumps' numbers, runs its own script only, and asks for nothing.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::DeflateDecoder;
use headlight_dump::{AttentionDump, Dims, Meta, VERSION, axes};
use sha2::{Digest, Sha256};

use super::series::{expected, predicted, units};
use super::{OwnRow, Recording, SeedRow, Seeds, Viewer, text85};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const POSITIONS: usize = 3;
const SAMPLES: usize = 2;

/// A dump of scores that are a bit different at each step, with a causal mask.
fn dump(step: usize) -> AttentionDump {
    let dims = Dims {
        samples: SAMPLES,
        layers: 1,
        heads: 2,
        positions: POSITIONS,
        d_head: 2,
        d_model: 4,
        d_ff: 0,
    };
    let row = |row: usize, allowed: usize| -> (Vec<f32>, Vec<f32>) {
        let score = |key: usize| ((row * 7 + key * 3 + step * 5) % 11) as f32 * 0.317 - 1.5;
        let scores: Vec<f32> = (0..POSITIONS).map(score).collect();
        let sum: f32 = scores[..allowed].iter().map(|score| score.exp()).sum();
        let weight = |(key, score): (usize, &f32)| {
            if key < allowed {
                score.exp() / sum
            } else {
                0.0
            }
        };
        let weights = scores.iter().enumerate().map(weight).collect();
        (scores, weights)
    };
    let rows: Vec<_> = (0..SAMPLES * 2 * POSITIONS)
        .map(|index| row(index, index % POSITIONS + 1))
        .collect();
    let vectors = |seed: usize| -> Vec<f32> {
        let count = SAMPLES * POSITIONS * 4;
        (0..count)
            .map(|index| ((index + seed) as f32).sin())
            .collect()
    };
    let causal = (0..SAMPLES * POSITIONS * POSITIONS)
        .map(|index| index % POSITIONS <= index / POSITIONS % POSITIONS);
    let names = [
        (0, "[CLS]"),
        (1, "</script><script>alert(1)</script>"),
        (2, "שלום"),
        (3, "👩‍💻 & \"x\""),
    ];
    AttentionDump {
        dims,
        meta: Meta {
            version: VERSION,
            axes: axes(dims, true),
            step: Some(step),
            epoch: Some(0),
            seed: Some(7),
            samples: vec![Some(10), Some(12)],
            token_strings: names
                .map(|(id, name)| (id, name.to_owned()))
                .into_iter()
                .collect::<BTreeMap<_, _>>(),
            label_positions: vec![vec![2], vec![1, 99]],
            config: serde_json::json!({"model": {"attention": {"scale": true, "temperature": 2.0}}}),
        },
        tokens: vec![0, 1, 2, 0, 3, 1],
        labels: vec![1.0, f32::NAN],
        logits: vec![0.5 + step as f32, -0.25],
        probabilities: vec![0.9, 0.437_823_5],
        attention_scores: rows.iter().flat_map(|row| row.0.clone()).collect(),
        attention_weights: rows.iter().flat_map(|row| row.1.clone()).collect(),
        query: vectors(1),
        key: vectors(2),
        value: vectors(3),
        context: vectors(4),
        embeddings: vectors(5),
        residual: vectors(6 + step),
        attention_mask: Some(causal.collect()),
        feed_forward: None,
    }
}

fn recording(name: &str, dumps: &[AttentionDump]) -> Recording {
    let mut run = Recording::new(name.to_owned(), &dumps[dumps.len() - 1], dumps.len(), 1);
    for dump in dumps {
        run.add(dump).unwrap();
    }
    run
}

fn viewer() -> (Viewer, Vec<AttentionDump>) {
    let dumps: Vec<AttentionDump> = (0..12).map(dump).collect();
    let mut viewer = Viewer::default();
    viewer.add(recording("a <b>run</b>", &dumps)).unwrap();
    (viewer, dumps)
}

fn head(viewer: &Viewer) -> serde_json::Value {
    let html = viewer.html().unwrap();
    serde_json::from_str(between(&html, "id=\"head\">", "</script>")).unwrap()
}

/// What stands between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The bytes of a page's numbers.
fn unpacked(html: &str) -> Vec<u8> {
    let element = between(html, "id=\"numbers\" data-bytes=\"", "</script>");
    let (length, text) = element.split_once("\">").unwrap();
    let packed = text85::decode(text);
    let mut bytes = Vec::new();
    DeflateDecoder::new(&packed[..length.parse().unwrap()])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// Whole numbers back from planes.
fn unplane(bytes: &mut &[u8], count: usize) -> Vec<i64> {
    let planes = usize::from(bytes[0]);
    let folded = |index: usize| {
        let byte = |plane: usize| u64::from(bytes[1 + plane * count + index]) << (8 * plane);
        (0..planes).map(byte).sum::<u64>()
    };
    let unfolded = |index| (folded(index) >> 1).cast_signed() ^ -(folded(index) & 1).cast_signed();
    let values = (0..count).map(unfolded).collect();
    *bytes = &bytes[1 + planes * count..];
    values
}

/// `[cell, step]` surprises to values. `[step][cell]`
fn followed(surprises: &[i64], steps: usize) -> Vec<Vec<i64>> {
    let mut out: Vec<Vec<i64>> = vec![Vec::new(); steps];
    for cell in surprises.chunks(steps) {
        for (step, surprise) in cell.iter().enumerate() {
            let past = |back: usize| out[step - back].last().copied().unwrap_or(0);
            let value = match step {
                0 => *surprise,
                1 => past(1) + surprise,
                _ => expected(past(1), past(2)) + surprise,
            };
            out[step].push(value);
        }
    }
    out
}

#[test]
fn the_numbers_are_those_of_the_dumps() {
    let (viewer, dumps) = viewer();
    let html = viewer.html().unwrap();
    let bytes = unpacked(&html);
    let mut rest = &bytes[..];
    let (steps, cells) = (dumps.len(), dumps[0].attention_scores.len());
    let scores = followed(&unplane(&mut rest, steps * cells), steps);
    let corrections = unplane(&mut rest, steps * cells);
    let logits = followed(&unplane(&mut rest, steps * SAMPLES), steps);
    let probabilities = followed(&unplane(&mut rest, steps * SAMPLES), steps);
    let all = |values: &[f32]| {
        values
            .iter()
            .map(|&value| units(value))
            .collect::<Vec<i64>>()
    };
    for (step, dump) in dumps.iter().enumerate() {
        assert_eq!(scores[step], all(&dump.attention_scores));
        assert_eq!(logits[step], all(&dump.logits));
        assert_eq!(probabilities[step], all(&dump.probabilities));
        let weights: Vec<i64> = scores[step]
            .chunks(POSITIONS)
            .enumerate()
            .flat_map(|(row, scores)| predicted(scores, |key| key <= row % POSITIONS))
            .zip(&corrections[step * cells..])
            .map(|(predicted, correction)| predicted + correction)
            .collect();
        assert_eq!(weights, all(&dump.attention_weights));
    }
    let mask = dumps[0].attention_mask.as_ref().unwrap();
    let (packed_mask, floats) = rest.split_at(mask.len());
    assert!(
        packed_mask
            .iter()
            .zip(mask)
            .all(|(&byte, &may)| byte == u8::from(may))
    );
    let floats: Vec<f32> = floats
        .chunks(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let expected = [&dumps[0], &dumps[11]].map(|dump| {
        [
            &dump.query,
            &dump.key,
            &dump.value,
            &dump.context,
            &dump.embeddings,
            &dump.residual,
        ]
        .map(Clone::clone)
        .concat()
    });
    assert_eq!(floats, expected.concat());
}

#[test]
fn the_head_says_what_is_there() {
    let head = &head(&viewer().0)["runs"][0];
    assert_eq!(head["vectors"], serde_json::json!([0, 11]));
    assert_eq!(head["samples"][1]["label"], serde_json::Value::Null);
    assert_eq!(head["samples"][1]["marked"], serde_json::json!([1]));
    assert_eq!(head["factor_text"], "1 / √2 / temperature 2");
    assert!((head["factor"].as_f64().unwrap() - 0.5_f64.sqrt() / 2.0).abs() < 1e-12);
    assert_eq!(
        head["token_strings"]["1"],
        "</script><script>alert(1)</script>"
    );
    assert!(
        head["notes"]
            .to_string()
            .contains("for steps 0 and 11 only")
    );
}

#[test]
fn the_page_runs_its_own_script_only_and_loads_nothing() {
    let html = viewer().0.html().unwrap();
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    let script = between(&html, "<script>", "</script>");
    let style = between(&html, "<style>", "</style>");
    for (kind, text) in [("script", script), ("style", style)] {
        let hash = STANDARD.encode(Sha256::digest(text.as_bytes()));
        assert!(
            policy.contains(&format!("{kind}-src 'sha256-{hash}'")),
            "{kind}"
        );
    }
    assert_eq!(html.matches("<script").count(), 3);
    assert_eq!(html.matches("</script").count(), 3);
    let without_name = html.replace("http://www.w3.org/2000/svg", "");
    for forbidden in [
        "http:",
        "https:",
        "eval(",
        "innerHTML",
        "fetch(",
        "XMLHttpRequest",
        "@import",
        "url(",
        " style=\"",
        " onclick=\"",
    ] {
        assert!(!without_name.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("<title>Attention of a &lt;b&gt;run&lt;/b&gt;</title>"));
}

#[test]
fn without_a_script_there_is_a_table() {
    let (viewer, dumps) = viewer();
    let html = viewer.html().unwrap();
    let table = between(&html, "<noscript>", "</noscript>");
    for weight in dumps[11].weights(0, 0, 0) {
        assert!(table.contains(&format!("<td>{weight:.4}</td>")));
    }
    assert!(table.contains("<bdi>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"));
}

#[test]
fn dumps_of_other_samples_are_refused() {
    let mut run = recording("run", &[dump(0)]);
    let mut other = dump(3);
    other.tokens[1] = 2;
    assert!(run.add(&other).unwrap_err().contains("other samples"));
}

#[test]
fn runs_stand_one_after_the_other() {
    let (mut viewer, dumps) = viewer();
    let single = unpacked(&viewer.html().unwrap());
    viewer.add(recording("other", &dumps[3..5])).unwrap();
    let both = unpacked(&viewer.html().unwrap());
    assert!(both.starts_with(&single) && both.len() > single.len());
    let head = head(&viewer);
    assert_eq!(head["runs"][1]["name"], "other");
    assert_eq!(head["runs"][1]["steps"], serde_json::json!([3, 4]));
    assert_eq!(head["apart"], "their recorded steps differ");
    assert!(viewer.extent().contains("2 runs of 12, 2 steps"));
}

#[test]
fn a_mean_is_of_runs_that_saw_the_same() {
    let (mut viewer, dumps) = viewer();
    viewer.add(recording("same", &dumps)).unwrap();
    assert_eq!(head(&viewer)["apart"], serde_json::Value::Null);
    for (reason, change) in [
        (
            "their samples differ",
            (|dump| dump.tokens[1] = 2) as fn(&mut AttentionDump),
        ),
        ("their masks differ", |dump| dump.attention_mask = None),
    ] {
        let mut viewer = viewer.clone();
        let mut others = dumps.clone();
        others.iter_mut().for_each(change);
        viewer.add(recording("other", &others)).unwrap();
        assert_eq!(head(&viewer)["apart"], reason);
    }
}

#[test]
fn runs_of_another_shape_are_refused() {
    let (mut viewer, _) = viewer();
    let mut wide = dump(0);
    wide.dims.heads = 1;
    wide.dims.layers = 2;
    let refused = viewer.add(recording("wide", &[wide])).unwrap_err();
    assert_eq!(
        refused,
        "it has 2 blocks of 1 head over 3 positions, and a <b>run</b> has 1 block of 2 heads over 3 \
         positions; runs of one page have attention of one shape"
    );
}

#[test]
fn seeds_are_summed_up() {
    let row = |positive: [f64; 3], negative: [f64; 3]| SeedRow {
        positive: Some(positive.to_vec()),
        negative: Some(negative.to_vec()),
    };
    let rows = [
        row([0.2, 0.3, 0.5], [0.3, 0.3, 0.4]),
        row([0.4, 0.3, 0.3], [0.1, 0.5, 0.4]),
    ];
    let mut seeds = Seeds::of("s.jsonl".to_owned(), &rows, 1).unwrap();
    seeds.own.push(OwnRow {
        name: "run".to_owned(),
        over: "all".to_owned(),
        positive: None,
        negative: None,
    });
    let (mut viewer, _) = viewer();
    viewer.seeds = Some(seeds);
    let seeds = &head(&viewer)["seeds"];
    assert_eq!(seeds["count"], 2);
    assert_eq!(seeds["failed"], 1);
    assert_eq!(seeds["positive"]["most"], serde_json::json!([1, 0, 1]));
    assert_eq!(seeds["harder"], serde_json::json!([1, 0, 1]));
    let near = |key: &str, expected: [f64; 3]| {
        for (value, expected) in seeds["positive"][key]
            .as_array()
            .unwrap()
            .iter()
            .zip(expected)
        {
            assert!(
                (value.as_f64().unwrap() - expected).abs() < 1e-12,
                "{key}: {value}"
            );
        }
    };
    near("mean", [0.3, 0.3, 0.4]);
    // numpy.std([0.2, 0.4], ddof=1), and so on.
    near(
        "deviation",
        [0.141_421_356_237_309_5, 0.0, 0.141_421_356_237_309_5],
    );
    let alone = Seeds::of("s.jsonl".to_owned(), &rows[..1], 0);
    assert!(serde_json::to_value(alone).unwrap()["positive"]["deviation"].is_null());
    assert_eq!(Seeds::of("s.jsonl".to_owned(), &[], 3), None);
}
