//! What is shown of models with other poolings, logits and attention rates: it says what the model does.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::sweeps::rows;
use crate::common::{asked, folder, mentions, metrics, printed, read_dump, typed};
use serde_json::Value;

/// Samples of two to six tokens without `[CLS]`: does one of them have token 3? Token 8 fills them up.
const PADDED: &str = "\
data = { file = \"d.jsonl\", cls = \"none\" }
model = { d_model = 8, n_heads = 2, pooling = \"mean\", attention = { padding_token = 8 } }
training = { epochs = 2, learning_rate = 0.03 }
";

const POSITIONS: usize = 6;

const ONE_EPOCH: &str = "--set training.epochs=1";

fn padded(name: &str) -> PathBuf {
    let folder = folder(name);
    let mut samples = String::new();
    for index in 0..120_usize {
        let length = 2 + index % 5;
        let tokens: Vec<usize> = (0..length)
            .map(|at| (index * 5 + at * at * 3) % 8)
            .collect();
        let label = u8::from(tokens.contains(&3));
        writeln!(samples, "{{\"tokens\":{tokens:?},\"label\":{label}}}").unwrap();
    }
    fs::write(folder.join("d.jsonl"), samples).unwrap();
    fs::write(folder.join("c.toml"), PADDED).unwrap();
    folder
}

/// What a command prints. Words stand together also where a line is broken between them.
fn shown(folder: &Path, line: &str) -> String {
    let text = printed(folder, line);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const DUMP: &str = "dump run/config.toml --weights run/model.safetensors";

/// With mean pooling, all texts say so, and no padding position stands for the others.
#[test]
fn the_mean_of_all_positions_is_named() {
    let folder = padded("keys_mean");
    let mean = "mean of all positions";
    let screen = shown(&folder, "train c.toml --run run");
    let looks = screen.contains("the last token looks");
    assert!(screen.contains(mean) && looks, "{screen}");
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    assert!(report.contains(mean), "{report}");
    assert!(shown(&folder, "compare run").contains(mean));

    let predict = "predict run --tokens '3 2 1'";
    let told = shown(&folder, predict);
    let looks = mentions(&told, "position 2");
    assert!(told.contains(mean) && looks, "{told}");
    let explained = shown(&folder, &format!("{predict} --explain"));
    assert!(explained.contains(mean), "{explained}");
    let json = asked(&folder, predict);
    fs::write(folder.join("s.txt"), "3 2 1\n").unwrap();
    typed(&folder, &format!("{DUMP} --samples s.txt --out d.npz")).done();
    let dump = read_dump(folder.join("d.npz"));
    for head in 0..2 {
        let row = json["attention_of_readout"][0][head].clone();
        let row: Vec<f32> = serde_json::from_value(row).unwrap();
        assert_eq!(row, dump.weights(0, 0, head)[2 * POSITIONS..3 * POSITIONS]);
    }

    // With [CLS], its attention is shown.
    let screen = shown(&folder, "train quick --run cls --set model.pooling=mean");
    let looks = screen.contains("[CLS] looks");
    assert!(screen.contains(mean) && looks, "{screen}");
}

/// Both engines measure the last position of each sample that is not padding.
#[test]
#[cfg(feature = "burn")]
fn engines_measure_the_last_token_of_each_sample() {
    let folder = padded("keys_mean_engines");
    let [fused, burn] = ["fused", "burn"].map(|engine| {
        let sweep = format!("sweep c.toml --seeds 0..1 --out {engine}.jsonl --engine {engine}");
        let told = shown(
            &folder,
            &format!("{sweep} --set model.attention.mask=causal"),
        );
        assert!(told.contains("Attention of the last token"), "{told}");
        rows(&folder.join(format!("{engine}.jsonl"))).remove(0)
    });
    let train = "train c.toml --run run --set seed=0 --set model.attention.mask=causal";
    typed(&folder, train).done();
    typed(&folder, &format!("{DUMP} --samples d.jsonl --out all.npz")).done();
    let dump = read_dump(folder.join("all.npz"));
    // The mean over heads and the samples of a class of the row of the last token, or of the row at the end.
    let mean_row = |label: f32, query: &dyn Fn(usize) -> usize| {
        let of_class = (0..dump.dims.samples).filter(|&sample| dump.labels[sample] == label);
        let rows: Vec<&[f32]> = of_class
            .flat_map(|sample| (0..2).map(move |head| (sample, head)))
            .map(|(sample, head)| {
                &dump.weights(sample, 0, head)[query(sample) * POSITIONS..][..POSITIONS]
            })
            .collect();
        let mean = |key: usize| {
            let sum: f64 = rows.iter().map(|row| f64::from(row[key])).sum();
            sum / rows.len() as f64
        };
        (0..POSITIONS).map(mean).collect::<Vec<f64>>()
    };
    let last = |sample: usize| dump.tokens(sample).iter().rposition(|&token| token != 8);
    for (key, label) in [("attention_positive", 1.0), ("attention_negative", 0.0)] {
        let [fused, burn]: [Vec<f64>; 2] =
            [&fused, &burn].map(|row| serde_json::from_value(row[key].clone()).unwrap());
        let is_close = |other: &[f64]| fused.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-4);
        let expected = mean_row(label, &|sample| last(sample).unwrap());
        assert!(is_close(&burn), "{key}: {fused:?} {burn:?}");
        assert!(is_close(&expected), "{key}: {fused:?} {expected:?}");
        let at_end = mean_row(label, &|_| POSITIONS - 1);
        assert!(!is_close(&at_end), "{key}: padding has the same attention");
    }
}

/// A logit for each of two classes gives the metrics and the columns of one logit.
#[test]
fn two_logits_are_reported_as_one() {
    let folder = folder("keys_two_logits");
    for (run, logits) in [("one", "log-odds"), ("two", "per-class")] {
        let logits = format!("--set model.logits={logits}");
        typed(
            &folder,
            &format!("train quick --run {run} {logits} {ONE_EPOCH}"),
        )
        .done();
    }
    let last = metrics(&folder.join("two")).pop().unwrap();
    for key in ["min_positive", "max_negative"] {
        for key in [key.to_owned(), format!("held_out_{key}")] {
            let value = last[&key].as_f64();
            let is_share = value.is_some_and(|value| (0.0..=1.0).contains(&value));
            assert!(is_share, "{key}: {value:?}");
        }
    }
    let samples = ["1 2 42 3 4 5", "1 2 3 4 5 6"];
    fs::write(folder.join("t.txt"), samples.join("\n")).unwrap();
    let csv = ["one", "two"].map(|run| {
        let csv = printed(&folder, &format!("predict {run} t.txt"));
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        csv.lines().map(cells).collect::<Vec<_>>()
    });
    assert_eq!(csv[0][0], csv[1][0]);
    for (cells, sample) in csv[1][1..].iter().zip(samples) {
        assert_eq!(cells.len(), csv[1][0].len(), "{cells:?}");
        let json = asked(&folder, &format!("predict two --tokens '{sample}'"));
        let probability: f64 = cells[2].parse().unwrap();
        let expected = json["probabilities"][1].as_f64().unwrap();
        assert!((probability - expected).abs() < 1e-6, "{cells:?}");
    }
    // The report has one probability of a sample, that of class 1.
    let report = fs::read_to_string(folder.join("two/report.md")).unwrap();
    let (_, predictions) = report.split_once("## Predictions").unwrap();
    let mut rows = predictions.lines().filter(|line| line.starts_with("| "));
    assert!(rows.next().unwrap().contains("probability"));
    assert!(rows.all(|row| !row.contains(',')), "{predictions}");

    // The Brier score is that of one probability, half of that of both.
    typed(&folder, "data quick --out q.csv").done();
    let found = asked(&folder, "evaluate two q.csv");
    let all = printed(&folder, "predict two q.csv");
    let square = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: &str| cell.parse::<f64>().unwrap();
        (number(cells[cells.len() - 1]) - number(cells[1])).powi(2)
    };
    let squares: Vec<f64> = all.lines().skip(1).map(square).collect();
    let brier = squares.iter().sum::<f64>() / squares.len() as f64;
    let theirs = found["brier"].as_f64().unwrap();
    assert!((theirs - brier).abs() < 1e-6, "{theirs} {brier}");
}

/// Uniform attention follows the attention rate, at each point of a grid.
#[test]
fn runs_look_towards_the_target_by_their_rate() {
    let folder = folder("keys_rate");
    let sweep = |file: &str, change: &str| {
        let small = format!("--set data.samples=200 {ONE_EPOCH}");
        let sweep = format!("sweep quick --seeds 0..4 --out {file} {small} {change}");
        (
            shown(&folder, &sweep),
            asked(&folder, &format!("report {file}")),
        )
    };
    // At rate 0 all weights are 1, so that no run looks anywhere.
    let (_, still) = sweep("still.jsonl", "--set model.attention.rate=0.0");
    let looks = (&still["looks_towards"], &still["looks_away"]);
    assert_eq!(looks, (&0.into(), &0.into()));

    let (_, found) = sweep("grid.jsonl", "--grid model.attention.rate=0.3,1.0");
    let mut expected = [0_u64; 2];
    for row in rows(&folder.join("grid.jsonl")) {
        let point = row["point"].as_u64().unwrap() as usize;
        let rate = [0.3, 1.0][point];
        let paid = row["attention_positive"][3].as_f64().unwrap();
        expected[point] += u64::from(paid > rate / 7.0 + 1.0 - rate);
    }
    let groups = found["groups"].as_array().unwrap();
    let towards = [0, 1].map(|point: usize| groups[point]["looks_towards"].as_u64().unwrap());
    assert_eq!(towards, expected);

    // What is no softmax has no uniform attention.
    let (told, none) = sweep("none.jsonl", "--set model.attention.softmax=false");
    assert!(told.contains("without a softmax"), "{told}");
    assert_eq!(none["looks_towards"], Value::Null);
}

/// A head that is removed is named, and not drawn.
#[test]
fn a_removed_head_is_not_drawn() {
    let folder = folder("keys_removed");
    let parts = "--set model.n_heads=2 --set model.n_layers=2";
    typed(
        &folder,
        &format!("train quick --run run {ONE_EPOCH} {parts}"),
    )
    .done();
    let predict = "predict run --tokens '1 2 42 3 4 5'";
    let drawn = |more: &str| {
        let printed = printed(&folder, &format!("{predict} {more}"));
        let count = |what| printed.matches(what).count();
        (count("   0  [CLS]"), count("removed"))
    };
    assert_eq!(drawn(""), (4, 0));
    assert_eq!(drawn("--without-head 1.0"), (3, 1));
    assert_eq!(drawn("--without-layer 0"), (2, 2));
}

/// Means over a part of the samples say which part.
#[test]
fn means_name_their_samples() {
    let folder = folder("keys_samples");
    let screen = |held_out: &str, name: &str| {
        let train = format!("train quick --run {name} --set {held_out} {ONE_EPOCH}");
        shown(&folder, &train)
    };
    let all = screen("data.held_out=100", "all");
    assert!(all.contains("mean of 100 held-out samples ("), "{all}");
    let some = screen("data.held_out=1000", "some");
    let part = "mean of 400 of 1000 held-out samples: up to 200 of each class (";
    assert!(some.contains(part), "{some}");
}
