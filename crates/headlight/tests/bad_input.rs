//! Bad input: one message with place and remedy, exit code 2, nothing written.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{
    ended, folder, limited, mentions, refused, refuses, refuses_each, refuses_typed, run, table,
    text, typed,
};
use headlight_experiment::config::ExperimentConfig;
use headlight_schema::{ConfigSection, paths};
use headlight_trainer::devices::DEVICES;

#[test]
fn overrides_are_checked_like_the_file() {
    let folder = folder("overrides");
    let path = folder.join("run");
    let cases: [(&str, &[&str]); 8] = [
        ("training.epoch=5", &["`epoch`", "[training]", "`epochs`"]),
        ("training.lr=3", &["`lr`", "`training.learning_rate`"]),
        (
            "data.rule.kind=\"nowhere\"",
            &["`nowhere`", "token-at-position"],
        ),
        ("training.epsilon=1e-60", &["epsilon", "float32"]),
        ("data.positive_rate=1.5", &["positive_rate", "numpy"]),
        ("dump.samples=[9000]", &["dump.samples", "9000"]),
        ("dump.formats=[\"pickle\"]", &["`pickle`", "npz"]),
        ("compute.device=\"tpu\"", &["`tpu`", "flex"]),
    ];
    for (set, parts) in cases {
        let train = ["train", "--set", set, "--run", text(&path)];
        let finished = refuses(&folder, &train, parts);
        // Which samples there are is known only once the dataset is.
        if !set.starts_with("dump.samples") {
            let place = format!("error: --set {set}: ");
            assert!(finished.stderr.starts_with(&place), "{}", finished.stderr);
        }
    }
    let train = ["train", "--run", text(&path), "--set"];
    for (set, parts) in [
        ("epochs", &["'epochs'", "KEY=VALUE"][..]),
        ("seed.x=1", &["`seed`"]),
        ("seed=1 --unset seed=2", &["'seed=2'"]),
        (
            "seed=1 --unset training.patience",
            &["--unset training.patience: notebook"],
        ),
        (
            "seed=1 --unset training.epochs",
            &["--unset training.epochs: "],
        ),
        (
            "seed=1 --unset training.epoch",
            &["did you mean `training.epochs`?"],
        ),
        ("seed=1 --unset trainin", &["did you mean `training`?"]),
        (
            "data.samples=fresh --unset training.epochs --unset data.generator --set training.steps=20",
            &["--set data.samples=fresh: ", "remove dump.every_epochs"],
        ),
        (
            "data.samples=fresh --unset data.generator",
            &["training.epochs"],
        ),
    ] {
        let sets: Vec<&str> = set.split(' ').collect();
        refuses(&folder, &[&train[..], &sets].concat(), parts);
    }
    // What goes together, and sizes that no machine should be asked for: refused before memory is allocated.
    let cases: [(&str, &[&str]); 6] = [
        ("data.vocab_size=4294967295", &["268435456"]),
        (
            "training.patience=3",
            &["training.patience", "training.keep_best"],
        ),
        (
            "training.keep_best=held_out_f1 --set data.held_out=0",
            &["training.keep_best", "held_out_f1"],
        ),
        (
            "data.positive_rate=1.5 --set data.generator=chacha",
            &["1.5", "positive_rate", "share"],
        ),
        (
            "data.seq_len=5000 --set data.samples=1 --set data.held_out=0",
            &["25010001", "16777216", "data.seq_len"],
        ),
        (
            "data.seq_len=600 --set training.batch_size=1000",
            &["training.batch_size", "1000"],
        ),
    ];
    for (sets, parts) in cases {
        let train = format!("train quick --run run --set {sets}");
        refuses_typed(&folder, &train, parts);
    }
}

const EDITS: &str = "
epochs = 3      | epoch = 3      | `epoch` | [training] | `epochs`
epochs = 3      | epochs = true  | training.epochs | `true`
batch_size = 16 | batch_size = 0 | batch_size | 0
token = 42      | token = 420    | token | 420
token = 42      | tokens = 42    | `tokens` | [data.rule] | `token`
epochs = 3      | epochs = 3 3
[training]      | [trainin]      | `trainin` | `training`
samples = 8000  |                | `samples`
";

/// Each case edits the notebook's config; the message points at the line.
#[test]
fn mistakes_in_a_config_are_pointed_at() {
    let folder = folder("file");
    let notebook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/notebook.toml");
    let notebook = fs::read_to_string(notebook).unwrap();
    for cells in table(EDITS) {
        let (from, to) = (cells[0], cells[1]);
        let edited = notebook.replacen(from, to, 1);
        fs::write(folder.join("config.toml"), &edited).unwrap();
        let stderr = refuses_typed(&folder, "train config.toml --run run", &cells[2..]).stderr;
        // The line shown is one of the file's, and its number is right.
        let place = stderr.split("config.toml:").nth(1).unwrap();
        let number: usize = place.split(':').next().unwrap().parse().unwrap();
        let line = edited.lines().nth(number - 1).unwrap();
        let excerpt = format!("{number} | {line}\n");
        assert!(
            stderr.contains(&excerpt) && stderr.contains('^'),
            "{stderr}"
        );
        assert!(line.contains(to), "`{to}`: points at `{line}`");
    }
}

#[test]
fn keys_of_the_config_are_no_options() {
    for (option, key) in [
        ("--epochs", "training.epochs"),
        ("--learning-rate", "training.learning_rate"),
        ("--lr", "training.learning_rate"),
    ] {
        let finished = run(&["train", option, "5"]);
        refused(&finished, &["--set", key]);
        assert!(!finished.stderr.contains("tip:"), "{}", finished.stderr);
    }
    for (key, _) in paths(ExperimentConfig::keys()) {
        let name = key.rsplit('.').next().unwrap();
        // `train` has options for these.
        if !["engine", "device", "text", "label", "start"].contains(&name) {
            let option = format!("--{}", name.replace('_', "-"));
            let told = run(&["train", &option, "x"]);
            refused(&told, &[&format!("--set {key}=VALUE")]);
        }
    }
}

#[test]
fn missing_files_and_unknown_extensions_are_named() {
    let folder = folder("no_config");
    for (name, bytes) in [
        ("x.txt", &b"a"[..]),
        ("x.xlsx", b"PK\x03\x04\xff\xfe"),
        ("run/config.toml", b""),
    ] {
        fs::create_dir_all(folder.join("run")).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    }
    let refused = "
train nowhere.toml                   | nowhere.toml
inspect nowhere.npz                  | nowhere.npz
predict runs/nowhere --tokens 0      | runs/nowhere
compare .                            | config.toml
dump --weights nowhere.safetensors --samples x.parquet --out d.npz | x.parquet | .npz | .csv | .jsonl
data --out data.xlsx                 | data.xlsx | .npz | .csv | .jsonl
train x.txt                          | x.txt | .csv
train x.xlsx                         | x.xlsx | .csv
lab run                              | run/config.toml
";
    refuses_each(&folder, "", refused);
}

#[test]
fn invalid_samples_are_refused() {
    let folder = folder("predict");
    typed(&folder, "train quick --run run").done();
    let refused = "
'0 45 48 one 4 4 40' | --tokens | `one`
'0 45 48'            | --tokens | 2 | 6
'0 45 48 1 4 4 51'   | --tokens | 51 | 1 | 50
'0 45 48 0 4 4 40'   | --tokens | 0 | [CLS]
'7 45 48 1 4 4 40'   | --tokens | 7 | 6
'0 45 48 -1 4 4 40'  | --tokens | -1
";
    refuses_each(&folder, "predict run --tokens", refused);
}

#[test]
fn damaged_and_foreign_weights_are_refused() {
    let folder = folder("weights");
    typed(&folder, "train quick --run run").done();
    fs::write(folder.join("tokens.txt"), "0 45 48 1 4 4 40\n").unwrap();
    let check = |weights: &str, parts: &[&str]| {
        let dump = format!("dump quick --samples tokens.txt --out dump.npz --weights {weights}");
        refuses_typed(&folder, &dump, parts);
    };
    let wider = ["token_embedding", "[51, 8]", "[51, 16]"];
    check("run/model.safetensors --set model.d_model=16", &wider);
    let wider = ["classifier.weight", "[8, 1]", "[16, 1]"];
    check("run/model.safetensors --set model.d_model=16", &wider);
    let deeper = ["blocks.1.norm.gamma", "[8]"];
    check("run/model.safetensors --set model.n_layers=2", &deeper);
    let bytes = fs::read(folder.join("run/model.safetensors")).unwrap();
    let cut = folder.join("cut.safetensors");
    for keep in [0, 7, 100, bytes.len() - 1] {
        fs::write(&cut, &bytes[..keep]).unwrap();
        check("cut.safetensors", &["cut.safetensors"]);
    }
    let mut spoiled = bytes.clone();
    let end = spoiled.len();
    spoiled[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&cut, &spoiled).unwrap();
    check("cut.safetensors", &["cut.safetensors", "NaN"]);
}

#[test]
fn damaged_dumps_and_missing_heatmaps_are_refused() {
    let folder = folder("dumps");
    typed(&folder, "train quick --run run").done();
    let bytes = fs::read(folder.join("run/attention/step-000300.npz")).unwrap();
    let cut = folder.join("cut.npz");
    for keep in [0, 10, 1000, bytes.len() - 1] {
        fs::write(&cut, &bytes[..keep]).unwrap();
        refuses(&folder, &["inspect", text(&cut)], &["cut.npz"]);
    }
    let refused = "
--step 7      | 7 | 0 | 50 | 100
--sample 9999 | --sample 9999 | 0
--head 1      | --head 1 | 0
--query 7     | --query 7 | 0
";
    refuses_each(&folder, "inspect run", refused);
}

#[test]
fn devices_that_the_build_lacks_name_the_feature() {
    for (device, built) in [
        ("ndarray", cfg!(feature = "ndarray")),
        ("wgpu", cfg!(feature = "wgpu")),
        ("metal", cfg!(feature = "metal")),
    ] {
        if !built {
            let remedy = format!("--features {device}");
            let train = ["train", "configs/quick.toml", "--device", device];
            refused(&run(&train), &[&remedy]);
        }
    }
}

/// A file-size limit makes writes fail as a full disk does, whoever runs the test.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_half_file() {
    let folder = folder("full");
    for name in ["data.csv", "data.npz", "data.jsonl"] {
        let finished = limited(&folder, "-f 8", &["data", "--out", name]);
        ended(&finished, 1, &[name]);
        let left = fs::read_dir(&folder).unwrap().count();
        assert_eq!(left, 0, "nothing is left behind");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let folder = folder("unwritable");
    fs::write(folder.join("file"), "").unwrap();
    let finished = typed(&folder, "train quick --run file/run");
    refused(&finished, &["file", "not a folder"]);
}

/// A message does not repeat a huge argument or file, and still says what is wrong with it.
#[test]
fn messages_are_short() {
    let long = "x".repeat(100_000);
    let option = format!("--{long}");
    let change = format!("training.epochs={long}");
    for arguments in [
        &[&*long][..],
        &["train", &option],
        &["train", "--device", &long],
        &["train", "--set", &long],
        &["train", "--set", &change],
        &["sweep", "--out", "rows.jsonl", "--seeds", &long],
        &["evaluate", &long],
    ] {
        let finished = run(arguments);
        assert_eq!(finished.code, Some(2));
        assert!(finished.stderr.len() < 10_000, "{}", finished.stderr.len());
    }
    let device = run(&["train", "--device", &long]).stderr;
    assert!(device.contains("headlight devices"), "{device}");
}

/// A GPU that Headlight has no device for: the message names devices of this build, and else the feature to build.
#[test]
fn a_suggested_device_is_in_this_build() {
    for name in ["cuda", "mps", "gpu", "cpu", "tpu"] {
        let set = format!("compute.device={name}");
        let refused = run(&["data", "quick", "--out", "-", "--set", &set]);
        assert_eq!(refused.code, Some(2));
        let before_features = refused.stderr.split("--features").next().unwrap();
        for device in DEVICES.iter().filter(|device| !device.is_built) {
            let is_named = mentions(before_features, device.name);
            assert!(!is_named, "{}", refused.stderr);
        }
    }
}
