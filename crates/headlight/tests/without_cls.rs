//! Samples without `[CLS]`, wrong labels on purpose, and all possible samples.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use serde_json::Value;

use crate::common::{
    asked, config_of, folder, mentions, metrics, printed, read_dump, refuses_each, refuses_typed,
    set, typed, weights,
};

/// Is token 0, which would be `[CLS]`, anywhere?
const CONFIG: &str = "\
data = { generator = \"chacha\", samples = 200, held_out = 50, positive_rate = 0.5, vocab_size = 6, seq_len = 4, cls = \"none\", \
rule = { kind = \"token-anywhere\", token = 0 } }
model = { d_model = 8, n_heads = 2 }
training = { epochs = 2 }
";

fn with_config(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::write(folder.join("c.toml"), CONFIG).unwrap();
    folder
}

/// Where the notebook's model reads no `[CLS]`, both engines train it to the same loss.
#[test]
fn plain_models_read_other_positions() {
    let folder = with_config("without_cls_plain");
    let mut plain = CONFIG.replace("token = 0", "token = 1");
    for key in [", n_heads = 2", ", positive_rate = 0.5", ", cls = \"none\""] {
        plain = plain.replace(key, "");
    }
    fs::write(folder.join("plain.toml"), plain).unwrap();
    let histogram = "data.cls=last data.task=token-classification data.rule={kind=\"histogram\"}";
    for (name, sets) in [
        ("first", "data.cls=none model.pooling=0"),
        ("before", "data.cls=last model.pooling=0"),
        ("one", "data.cls=none data.seq_len=1 data.held_out=0"),
        ("histogram", histogram),
        (
            "double",
            &histogram.replace("histogram", "double-histogram"),
        ),
    ] {
        let losses = ["fused", "burn"].map(|engine| {
            let run = format!("{name}-{engine}");
            let train = format!(
                "train plain.toml --engine {engine} --run {run} {}",
                set(sets)
            );
            typed(&folder, &train).done();
            let last = metrics(&folder.join(run)).pop().unwrap();
            last["loss"].as_f64().unwrap()
        });
        assert!((losses[0] - losses[1]).abs() < 1e-5, "{name}: {losses:?}");
    }
}

/// Reports, dumps and predictions show the attention of the readout position.
#[test]
fn the_position_that_the_class_is_read_from_is_shown() {
    let folder = with_config("without_cls");
    for (pooling, read_position) in [("last", 3), ("1", 1)] {
        let run = format!("run-{read_position}");
        let train = format!("train c.toml --run {run} --set model.pooling={pooling}");
        let mut shown = vec![printed(&folder, &train)];
        shown.push(fs::read_to_string(folder.join(&run).join("report.md")).unwrap());

        fs::write(folder.join("s.txt"), "0 5 0 1").unwrap();
        let dump = format!("dump {run}/config.toml --weights {run}/model.safetensors");
        typed(
            &folder,
            &format!("{dump} --samples s.txt --out d.npz --force"),
        )
        .done();
        let dump = read_dump(folder.join("d.npz"));
        assert_eq!(dump.tokens(0), [0, 5, 0, 1]);
        assert_eq!(dump.read_position(), read_position);
        assert_eq!(dump.token_string(0), "0");
        assert_eq!(dump.meta.label_positions, [[0, 2]]);

        let predict = format!("predict {run} --tokens '0 5 0 1'");
        shown.push(printed(&folder, &predict));
        shown.push(printed(&folder, &format!("{predict} --explain")));
        let found = asked(&folder, &predict)["attention_of_readout"][0][1].take();
        let found: Vec<f32> = serde_json::from_value(found).unwrap();
        assert_eq!(found, dump.weights(0, 0, 1)[read_position * 4..][..4]);
        for text in shown {
            let is_named = mentions(&text, &format!("position {read_position}"));
            assert!(is_named && !text.contains("[CLS]"), "{text}");
        }
    }
}

/// Written as a file and read again, samples without `[CLS]` train to the same weights, wrong labels among them.
#[test]
fn a_file_without_cls_trains_to_the_same_weights() {
    let folder = with_config("without_cls_file");
    let noise = "--set data.label_noise=0.2";
    typed(&folder, &format!("train c.toml --run a {noise}")).done();
    for format in ["npz", "csv", "jsonl"] {
        let (file, run) = (format!("d.{format}"), format!("b-{format}"));
        let told = typed(&folder, &format!("data c.toml --out {file} {noise}")).done();
        assert!((told.stdout + &told.stderr).contains("data.cls=none"));
        let keys = format!("data = {{ file = \"{file}\", cls = \"none\" }}");
        let rest = CONFIG.split_once('\n').unwrap().1;
        fs::write(folder.join("file.toml"), format!("{keys}\n{rest}")).unwrap();
        typed(&folder, &format!("train file.toml --run {run}")).done();
        assert!(weights(&folder, "a") == weights(&folder, &run), "{format}");
    }
    // With [CLS], token 0 would be one.
    let with_cls = "train file.toml --run c --set data.cls=first";
    let parts = ["line", "[CLS]", "data.cls = \"none\""];
    refuses_typed(&folder, with_cls, &parts);
}

/// With wrong labels and dropout the model is trained on others, and judged by the true ones, whole. The report says so.
#[test]
fn what_steps_alone_have_is_not_judged() {
    let folder = with_config("label_noise");
    let of = |name: &str, noise: &str| -> Value {
        let train = format!("train c.toml --run {name} --set data.label_noise={noise}");
        typed(&folder, &train).done();
        // Before the first step, both have the same model.
        metrics(&folder.join(name))[0].clone()
    };
    let dropout = "0.3 --set training.dropout.preset=pytorch";
    let (plain, noisy) = (of("plain", "0"), of("noisy", dropout));
    assert_eq!(plain["held_out_loss"], noisy["held_out_loss"]);
    assert_ne!(plain["loss"], noisy["loss"]);
    for (run, is_noisy) in [("plain", false), ("noisy", true)] {
        let report = fs::read_to_string(folder.join(run).join("report.md")).unwrap();
        let dropout = "attention 0.1, hidden 0.1, residual 0.1 (preset pytorch)";
        for part in ["data.label_noise", dropout] {
            assert_eq!(report.contains(part), is_noisy, "{report}");
        }
    }
}

#[test]
fn half_of_all_sums_are_held_out() {
    let folder = folder("grokking");
    let short = "--set training.steps=4 --set dump.positives=0 --set dump.negatives=0";
    typed(&folder, &format!("train grokking --run run {short}")).done();
    let config = config_of(&folder.join("run"));
    assert_eq!(config["data"]["n_classes"].as_integer(), Some(59));
    typed(&folder, "data grokking --out all.csv").done();
    let text = fs::read_to_string(folder.join("all.csv")).unwrap();
    let mut seen = std::collections::HashSet::new();
    let mut held_out = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        held_out += usize::from(cells[0] == "held_out");
        let [sum, a, b] = [1, 2, 3].map(|cell| cells[cell].parse::<u32>().unwrap());
        assert_eq!((a + b) % 59, sum);
        assert!(a < 59 && b < 59 && seen.insert((a, b)));
    }
    assert_eq!((seen.len(), held_out), (3481, 1741));
}

#[test]
fn what_needs_cls_is_refused() {
    let folder = with_config("without_cls_refused");
    let refused = "
c.toml --set model.pooling=cls       | model.pooling | mean
negation --set data.cls=none         | data.cls | [CLS] | model.pooling
grokking --set data.held_out=1742    | data.held_out | 3481
grokking --set data.seq_len=5        | generator | 16777216
grokking --set data.n_classes=58     | n_classes | 59
c.toml --set data.label_noise=1      | label_noise
";
    refuses_each(&folder, "train --run x", refused);
}
