//! Uniform attention over the keys of each query, and the head that is shown first, through the binary.
#![allow(clippy::format_push_string, missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{folder, last_dump, mentions, metrics, run, text};

/// Trains a config with changes.
fn train(path: &Path, config: &str, sets: &[&str]) {
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let start = ["train", config, "--run", text(path)];
    run(&start.into_iter().chain(sets).collect::<Vec<_>>()).done();
}

fn inspected(path: &Path, more: &[&str]) -> String {
    run(&[&["inspect", text(path)], more].concat())
        .done()
        .stdout
}

/// Texts of 3 to 7 words; those with "good" are yes.
fn texts(folder: &Path) -> PathBuf {
    let path = folder.join("texts.csv");
    let mut csv = "text,label\n".to_owned();
    for sample in 0..120 {
        let words = "the film was a long one by".split(' ').cycle();
        let words: Vec<&str> = words.skip(sample).take(2 + sample % 5).collect();
        let (word, label) = [("bad", "no"), ("good", "yes")][sample % 2];
        csv.push_str(&format!("{} {word},{label}\n", words.join(" ")));
    }
    fs::write(&path, csv).unwrap();
    path
}

/// A text of n words in 12 positions: [CLS] may look at n + 1 keys, and so may each query.
#[test]
fn padding_is_no_key() {
    let folder = folder("keys-padding");
    let file = folder.join("texts.toml");
    let data = format!("[data]\nfile = {:?}\nseq_len = 11\n", text(&texts(&folder)));
    let model = "[model]\nd_model = 8\nn_heads = 1\n[training]\nepochs = 1\n";
    fs::write(&file, data + model).unwrap();
    let path = folder.join("run");
    train(&path, text(&file), &["dump.positives=8"]);
    let dump = last_dump(&path);
    for row in 0..dump.dims.samples {
        let words = dump.tokens(row).iter().filter(|&&token| token > 1).count();
        assert!(words < 8, "{:?}", dump.tokens(row));
        let number = dump.meta.samples[row].unwrap().to_string();
        let uniform = format!("uniform: {:.4}", 1.0 / (words + 1) as f64);
        let told = inspected(&path, &["--sample", &number, "--query", "0"]);
        assert!(told.contains(&uniform), "{uniform}: {told}");
    }
}

#[test]
fn a_mask_leaves_each_query_its_keys() {
    let folder = folder("keys-mask");
    let causal = folder.join("causal");
    train(
        &causal,
        "configs/quick.toml",
        &[
            "model.attention.mask=causal",
            "data.cls=last",
            "training.epochs=1",
        ],
    );
    for query in 0..7 {
        let told = inspected(&causal, &["--query", &query.to_string()]);
        let uniform = format!("uniform: {:.4}", 1.0 / f64::from(query + 1));
        assert!(told.contains(&uniform), "{uniform}: {told}");
    }
    // The rule asks for position 3 of the tokens, which all seven keys of [CLS] are equally near to.
    let last = metrics(&causal).pop().unwrap();
    let uniform = last["uniform_positive"].as_f64().unwrap();
    assert!((uniform - 1.0 / 7.0).abs() < 1e-6, "{uniform}");

    // Query 1 may look at no key: it has no multiple of uniform attention.
    let rows: Vec<String> = (0..7)
        .map(|query| format!("[{}]", [if query == 1 { "0" } else { "1" }; 7].join(",")))
        .collect();
    let mask = format!("model.attention.mask=[{}]", rows.join(","));
    let none = folder.join("none");
    train(&none, "configs/quick.toml", &[&mask, "training.epochs=1"]);
    let told = inspected(&none, &["--query", "1"]);
    assert!(
        told.contains("no key") && !told.contains("uniform"),
        "{told}"
    );
}

/// Terminal, pictures, report and page show the same head first: that of the last layer which gives most to what decides.
#[test]
fn all_open_on_the_strongest_head_of_the_last_block() {
    let folder = folder("keys-strongest");
    let mut seen = [false; 2];
    for seed in 0..6 {
        let path = folder.join(format!("run{seed}"));
        train(
            &path,
            "configs/quick.toml",
            &[
                "model.n_layers=2",
                "model.n_heads=2",
                &format!("seed={seed}"),
            ],
        );
        let dump = last_dump(&path);
        let positions = dump.dims.positions;
        let paid = |head: usize| -> f32 {
            let positive = (0..dump.dims.samples).filter(|&sample| dump.labels[sample] > 0.5);
            let decided = |sample: usize| {
                let row = &dump.weights(sample, 1, head)[..positions];
                let decides = dump.meta.label_positions[sample].iter();
                decides.map(|&key| row[key]).sum::<f32>()
            };
            positive.map(decided).sum()
        };
        let head = usize::from(paid(1) > paid(0));
        seen[head] = true;
        let named = head.to_string();
        let chosen = ["--layer", "1", "--head", &named];
        assert_eq!(inspected(&path, &[]), inspected(&path, &chosen));
        assert_eq!(
            inspected(&path, &["--layer", "1"]),
            inspected(&path, &chosen)
        );
        assert_eq!(
            inspected(&path, &["--head", &named]),
            inspected(&path, &chosen)
        );
        let other = ["--layer", "0", "--head", "0"];
        assert_ne!(inspected(&path, &[]), inspected(&path, &other));
        let [svg, own] = ["svg", "own"].map(|name| folder.join(format!("{seed}-{name}.svg")));
        inspected(&path, &["--svg", text(&svg)]);
        inspected(&path, &[&chosen[..], &["--svg", text(&own)]].concat());
        assert_eq!(fs::read(svg).unwrap(), fs::read(own).unwrap());

        let report = fs::read_to_string(path.join("report.md")).unwrap();
        let first = report.split("Attention weights (").nth(1).unwrap();
        let place = format!("layer 1 · head {head})");
        assert!(
            first
                .split_once(')')
                .is_some_and(|(name, _)| format!("{name})").ends_with(&place))
        );
        let page = fs::read_to_string(path.join("inspector.html")).unwrap();
        assert!(page.contains(&format!("\"strongest\":{head}")));
        let tokens = ["--tokens", "1 2 3 42 5 6", "--explain", "--json"];
        let explain = [&["predict", text(&path)], &tokens[..]].concat();
        let found: Value = serde_json::from_str(&run(&explain).done().stdout).unwrap();
        assert_eq!(found["explanation"]["head"], head);
        // The first screen and the report name it, too.
        let shown = format!("layer 1, head {head} is shown");
        assert!(mentions(&report, &shown), "{report}");
    }
    assert_eq!(seen, [true; 2], "some seeds have the other head");
}

/// Before training the scores are near 0, and so all weights near uniform attention.
#[test]
fn a_uniform_head_says_so() {
    let path = folder("keys-uniform").join("run");
    train(&path, "configs/quick.toml", &["training.epochs=12"]);
    let says = |more: &[&str]| mentions(&inspected(&path, more), "close to uniform");
    assert!(says(&["--step", "0"]));
    assert!(says(&["--step", "0", "--query", "2"]));
    let step = last_dump(&path).meta.step.unwrap().to_string();
    assert!(!says(&["--step", &step]));
    assert!(!says(&["--step", "0", "--scores"]));
    let svg = path.with_file_name("uniform.svg");
    inspected(&path, &["--step", "0", "--svg", text(&svg)]);
    assert!(
        fs::read_to_string(svg)
            .unwrap()
            .contains("close to uniform")
    );
}
