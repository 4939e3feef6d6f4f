//! Samples without `[CLS]`, wrong labels on purpose, and all possible samples.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use serde_json::Value;

use crate::common::{
    config_of, folder, json, mentions, metrics, read_dump, refuses_in, run_in, typed,
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
    for (name, sets) in [
        ("first", "data.cls=none model.pooling=0"),
        ("before", "data.cls=last model.pooling=0"),
        ("one", "data.cls=none data.seq_len=1 data.held_out=0"),
        (
            "histogram",
            "data.cls=last data.task=token-classification data.rule={kind=\"histogram\"}",
        ),
        (
            "double",
            "data.cls=last data.task=token-classification data.rule={kind=\"double-histogram\"}",
        ),
    ] {
        let losses = ["fused", "burn"].map(|engine| {
            let run = format!("{name}-{engine}");
            let mut arguments = vec!["train", "plain.toml", "--engine", engine, "--run", &run];
            arguments.extend(sets.split(' ').flat_map(|set| ["--set", set]));
            run_in(&folder, &arguments).done();
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
        let pooling = format!("model.pooling={pooling}");
        let run = format!("run-{read_position}");
        let train = ["train", "c.toml", "--run", &run, "--set", &pooling];
        let screen = run_in(&folder, &train).done().stdout;
        let name = format!("position {read_position}");
        assert!(
            mentions(&screen, &name) && !screen.contains("[CLS]"),
            "{screen}"
        );
        let report = fs::read_to_string(folder.join(&run).join("report.md")).unwrap();
        assert!(mentions(&report, &name) && !report.contains("[CLS]"));

        let tokens = "0 5 0 1";
        fs::write(folder.join("s.txt"), tokens).unwrap();
        let dump = [
            "dump",
            "c.toml",
            "--weights",
            &format!("{run}/model.safetensors"),
        ];
        let dump = [
            &dump[..],
            &[
                "--set",
                &pooling,
                "--samples",
                "s.txt",
                "--out",
                "d.npz",
                "--force",
            ],
        ];
        run_in(&folder, &dump.concat()).done();
        let dump = read_dump(folder.join("d.npz"));
        assert_eq!(
            (dump.tokens(0), dump.read_position()),
            (&[0, 5, 0, 1][..], read_position)
        );
        assert_eq!(dump.token_string(0), "0");
        assert_eq!(dump.meta.label_positions, [[0, 2]]);

        let predict = ["predict", &run, "--tokens", tokens];
        let printed = run_in(&folder, &predict).done().stdout;
        assert!(
            mentions(&printed, &name) && !printed.contains("[CLS]"),
            "{printed}"
        );
        let printed = run_in(&folder, &[&predict[..], &["--json"]].concat()).done();
        let found = json(&printed.stdout);
        let row = &dump.weights(0, 0, 1)[read_position * 4..][..4];
        let shown: Vec<f32> =
            serde_json::from_value(found["attention_of_readout"][0][1].clone()).unwrap();
        assert_eq!(shown, row);
        let explained = run_in(&folder, &[&predict[..], &["--explain"]].concat())
            .done()
            .stdout;
        assert!(
            mentions(&explained, &name) && !explained.contains("[CLS]"),
            "{explained}"
        );
    }
}

/// Written as a file and read again, samples without `[CLS]` train to the same weights, wrong labels among them.
#[test]
fn a_file_without_cls_trains_to_the_same_weights() {
    let folder = with_config("without_cls_file");
    let noise = ["--set", "data.label_noise=0.2"];
    run_in(
        &folder,
        &[&["train", "c.toml", "--run", "a"], &noise[..]].concat(),
    )
    .done();
    for format in ["npz", "csv", "jsonl"] {
        let (file, run) = (format!("d.{format}"), format!("b-{format}"));
        let data = ["data", "c.toml", "--out", &file];
        let told = run_in(&folder, &[&data[..], &noise].concat()).done();
        assert!((told.stdout + &told.stderr).contains("data.cls=none"));
        let keys = format!("data = {{ file = \"{file}\", cls = \"none\" }}");
        let rest = CONFIG.split_once('\n').unwrap().1;
        fs::write(folder.join("file.toml"), format!("{keys}\n{rest}")).unwrap();
        typed(&folder, &format!("train file.toml --run {run}")).done();
        let [a, b] =
            ["a", &run].map(|run| fs::read(folder.join(run).join("model.safetensors")).unwrap());
        assert!(a == b, "{format}");
    }
    // With [CLS], token 0 would be one.
    let with_cls = [
        "train",
        "file.toml",
        "--run",
        "c",
        "--set",
        "data.cls=first",
    ];
    refuses_in(
        &folder,
        &with_cls,
        &["line", "[CLS]", "data.cls = \"none\""],
    );
}

/// With wrong labels the model is trained on others, and judged by the true ones.
#[test]
fn held_out_labels_are_true() {
    let folder = with_config("label_noise");
    let of = |name: &str, noise: &str| -> Value {
        let noise = format!("data.label_noise={noise}");
        let train = ["train", "c.toml", "--run", name, "--set", &noise];
        run_in(&folder, &train).done();
        // Before the first step, both have the same model.
        metrics(&folder.join(name))[0].clone()
    };
    let (plain, noisy) = (of("plain", "0"), of("noisy", "0.3"));
    assert_eq!(plain["held_out_loss"], noisy["held_out_loss"]);
    assert_ne!(plain["loss"], noisy["loss"]);
    let report = |name: &str| fs::read_to_string(folder.join(name).join("report.md")).unwrap();
    assert!(
        report("noisy").contains("data.label_noise")
            && !report("plain").contains("data.label_noise")
    );
}

#[test]
fn half_of_all_sums_are_held_out() {
    let folder = folder("grokking");
    let short = [
        "--set",
        "training.steps=4",
        "--set",
        "dump.positives=0",
        "--set",
        "dump.negatives=0",
    ];
    let train = ["train", "grokking", "--run", "run"];
    run_in(&folder, &[&train[..], &short].concat()).done();
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
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("c.toml", &["model.pooling=cls"], &["model.pooling", "mean"]),
        (
            "negation",
            &["data.cls=none"],
            &["data.cls", "[CLS]", "model.pooling"],
        ),
        (
            "grokking",
            &["data.held_out=1742"],
            &["data.held_out", "3481"],
        ),
        ("grokking", &["data.seq_len=5"], &["generator", "16777216"]),
        ("grokking", &["data.n_classes=58"], &["n_classes", "59"]),
        ("c.toml", &["data.label_noise=1"], &["label_noise"]),
    ];
    for (config, changes, parts) in cases {
        let changes = changes.iter().flat_map(|change| ["--set", change]);
        let train: Vec<&str> = ["train", config, "--run", "x"]
            .into_iter()
            .chain(changes)
            .collect();
        refuses_in(&folder, &train, parts);
    }
}
