//! Bad input: one clear message with place and remedy, exit code 2, nothing written.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::{Finished, folder, headlight, quick_run, run, text};

/// Asserts exit code 2 and a message that holds all parts.
fn refused(finished: &Finished, parts: &[&str]) {
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    for part in parts {
        assert!(
            finished.stderr.contains(part),
            "`{part}` is not in:\n{}",
            finished.stderr
        );
    }
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

#[test]
#[allow(clippy::too_many_lines)] // A table.
fn overrides_are_checked_like_the_file() {
    let folder = folder("overrides");
    let cases: [(&str, &[&str]); 22] = [
        (
            "training.epoch=5",
            &[
                "unknown key `epoch` in [training]",
                "did you mean `epochs`?",
            ],
        ),
        (
            "dataa.seed=1",
            &["unknown key `dataa` at the top", "did you mean `data`?"],
        ),
        (
            "compute.gpu=1",
            &["unknown key `gpu` in [compute]; it can hold engine, device"],
        ),
        (
            "training.epochs=\"three\"",
            &["`training.epochs`", "expected a whole number"],
        ),
        (
            "training.epochs=-3",
            &["`training.epochs`", "-3", "expected a whole number"],
        ),
        ("training.epochs=0", &["epochs is 0"]),
        (
            "training.batch_size=0",
            &["batch_size is 0; training needs at least 1"],
        ),
        (
            "training.beta_1=1",
            &["beta_1 is 1; it must be at least 0 and below 1"],
        ),
        (
            "training.learning_rate=nan",
            &["learning_rate is NaN; it must be a positive number"],
        ),
        (
            "data.rule.position=7",
            &["position 7 is outside the sample; tokens stand at 1 to 6"],
        ),
        (
            "data.rule.token=51",
            &["token 51 is outside the vocabulary", "1 to 50"],
        ),
        (
            "data.rule.kind=\"nowhere\"",
            &["unknown variant `nowhere`", "token-at-position"],
        ),
        (
            "data.rule.token=-5",
            &["`data.rule.token`: invalid value: integer `-5`"],
        ),
        (
            "training.epsilon=1e-60",
            &["it must be a positive number, in float32 too"],
        ),
        (
            "data.positive_rate=1.5",
            &["the numpy generator leaves the share of positives to chance"],
        ),
        ("data.vocab_size=1", &["vocab_size is 1"]),
        (
            "data.seed=4294967296",
            &["np.random.seed takes 0 to 4294967295"],
        ),
        (
            "model.n_heads=3",
            &["3 heads do not divide d_model = 8 evenly"],
        ),
        ("model.d_model=0", &["d_model is 0; it can be 1 to 4096"]),
        (
            "dump.samples=[9000]",
            &["`dump.samples`: there is no sample 9000"],
        ),
        (
            "dump.formats=[\"pickle\"]",
            &["unknown variant `pickle`", "npz"],
        ),
        ("compute.device=\"tpu\"", &["unknown variant `tpu`", "flex"]),
    ];
    for (set, parts) in cases {
        let path = folder.join("run");
        let finished = run(&["train", "--set", set, "--run", text(&path)]);
        refused(&finished, parts);
        if !set.starts_with("dump.samples") {
            assert!(
                finished.stderr.contains(&format!("--set {set}: ")),
                "{}",
                finished.stderr
            );
        }
        assert!(!path.exists(), "{set}");
    }
    refused(
        &run(&["train", "--set", "epochs"]),
        &["--set epochs: write KEY=VALUE"],
    );
    refused(
        &run(&["train", "--set", "seed.x=1"]),
        &["`seed` is a value, not a section"],
    );
}

/// Each case edits the notebook's config; the message points at the line.
#[test]
fn mistakes_in_a_file_are_pointed_at() {
    let folder = folder("file");
    let notebook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/notebook.toml");
    let notebook = fs::read_to_string(notebook).unwrap();
    let cases: [(&str, &str, &str); 8] = [
        (
            "epochs = 3",
            "epoch = 3",
            "unknown key `epoch` in [training]; did you mean `epochs`?",
        ),
        (
            "epochs = 3",
            "epochs = true",
            "`training.epochs`: invalid type: boolean `true`",
        ),
        ("batch_size = 16", "batch_size = 0", "batch_size is 0"),
        (
            "token = 42",
            "token = 420",
            "token 420 is outside the vocabulary",
        ),
        (
            "token = 42",
            "tokens = 42",
            "unknown key `tokens` in [data.rule]; did you mean `token`?",
        ),
        ("epochs = 3", "epochs = 3 3", "string values must be quoted"),
        (
            "[training]",
            "[trainin]",
            "unknown key `trainin` at the top; did you mean `training`?",
        ),
        ("samples = 8000", "", "missing field `samples`"),
    ];
    for (from, to, message) in cases {
        let path = folder.join("config.toml");
        let edited = notebook.replacen(from, to, 1);
        fs::write(&path, &edited).unwrap();
        let finished = run(&["train", text(&path), "--run", text(&folder.join("run"))]);
        refused(&finished, &[message]);
        // The line shown is one of the file's, and its number is right.
        let place = finished.stderr.split("config.toml:").nth(1).unwrap();
        let number: usize = place.split(':').next().unwrap().parse().unwrap();
        let line = edited.lines().nth(number - 1).unwrap();
        assert!(
            finished.stderr.contains(&format!("{number} | {line}\n")),
            "{}",
            finished.stderr
        );
        assert!(finished.stderr.contains('^'), "{}", finished.stderr);
        if !to.is_empty() {
            assert!(line.contains(to), "{message} points at `{line}`");
        }
        assert!(!folder.join("run").exists());
    }
}

/// Sizes that no machine should be asked for are refused before memory is.
#[test]
fn sizes_beyond_reason_are_refused() {
    let path = folder("sizes").join("run");
    let cases: [(&[&str], &str); 3] = [
        (&["data.vocab_size=4294967295"], "more than 268435456"),
        (
            &["data.seq_len=5000", "data.samples=1", "data.held_out=0"],
            "a sample's attention would have",
        ),
        (
            &["data.seq_len=600", "training.batch_size=1000"],
            "`training.batch_size`: a batch of 1000",
        ),
    ];
    for (sets, part) in cases {
        let mut arguments = vec!["train", "--run", text(&path)];
        arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
        refused(&run(&arguments), &[part]);
        assert!(!path.exists(), "{sets:?}");
    }
}

#[test]
fn missing_files_are_named() {
    refused(
        &run(&["train", "configs/nowhere.toml"]),
        &["cannot read configs/nowhere.toml"],
    );
    refused(
        &run(&["inspect", "nowhere.npz"]),
        &["cannot read nowhere.npz"],
    );
    refused(
        &run(&["predict", "runs/nowhere", "--tokens", "0"]),
        &["runs/nowhere", "no run directory"],
    );
    refused(
        &run(&["compare", "configs"]),
        &["configs", "no run directory"],
    );
    let tokens = [
        "dump",
        "--weights",
        "nowhere.safetensors",
        "--tokens",
        "x.parquet",
        "--out",
        "d.npz",
    ];
    refused(&run(&tokens), &["x.parquet", "use .npz, .csv or .jsonl"]);
    refused(
        &run(&["data", "--out", "data.xlsx"]),
        &["use .npz, .csv or .jsonl"],
    );
}

#[test]
fn more_positives_than_samples_are_refused() {
    let finished = run(&[
        "train",
        "configs/quick.toml",
        "--set",
        "data.positive_rate=1.5",
    ]);
    refused(
        &finished,
        &["1.5 asks for more positives than there are samples (1600)"],
    );
}

#[test]
fn tokens_that_are_no_sample_are_refused() {
    let path = folder("predict").join("run");
    quick_run(&path, &[]);
    let cases = [
        ("0 45 48 one 4 4 40", "`one` is no token id"),
        ("0 45 48", "3 tokens; this model takes 7"),
        (
            "0 45 48 1 4 4 51",
            "token 51 is outside the vocabulary; beside [CLS] = 0 tokens are 1 to 50",
        ),
        ("0 45 48 0 4 4 40", "token 0 is outside"),
        (
            "7 45 48 1 4 4 40",
            "the first token is 7; it must be [CLS] = 0",
        ),
        ("0 45 48 -1 4 4 40", "`-1` is no token id"),
    ];
    for (tokens, part) in cases {
        refused(
            &run(&["predict", text(&path), "--tokens", tokens]),
            &["--tokens: ", part],
        );
    }
}

#[test]
fn damaged_and_foreign_weights_are_refused() {
    let folder = folder("weights");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let weights = path.join("model.safetensors");
    fs::write(folder.join("tokens.txt"), "0 45 48 1 4 4 40\n").unwrap();
    let out = folder.join("dump.npz");
    let dump = |weights: &Path, set: &str| {
        run(&[
            "dump",
            "configs/quick.toml",
            "--set",
            set,
            "--weights",
            text(weights),
            "--tokens",
            text(&folder.join("tokens.txt")),
            "--out",
            text(&out),
        ])
    };
    refused(
        &dump(&weights, "model.d_model=16"),
        &[
            "`token_embedding` has shape [51, 8], not [51, 16]",
            "`classifier.weight` has shape [8, 1], not [16, 1]",
        ],
    );
    refused(
        &dump(&weights, "model.n_layers=2"),
        &["`blocks.1.norm.gamma` [8] is missing"],
    );
    let bytes = fs::read(&weights).unwrap();
    let cut = folder.join("cut.safetensors");
    for keep in [0, 7, 100, bytes.len() - 1] {
        fs::write(&cut, &bytes[..keep]).unwrap();
        refused(
            &dump(&cut, "seed=0"),
            &["cut.safetensors", "it was cut short"],
        );
    }
    let mut spoiled = bytes.clone();
    let end = spoiled.len();
    spoiled[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&cut, &spoiled).unwrap();
    refused(&dump(&cut, "seed=0"), &["holds NaN or infinity"]);
    assert!(!out.exists());
}

#[test]
fn damaged_dumps_are_refused() {
    let folder = folder("dumps");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let bytes = fs::read(path.join("attention/step-000300.npz")).unwrap();
    let cut = folder.join("cut.npz");
    for keep in [0, 10, 1000, bytes.len() - 1] {
        fs::write(&cut, &bytes[..keep]).unwrap();
        refused(
            &run(&["inspect", text(&cut)]),
            &["cut.npz", "not an npz archive, or it was cut short"],
        );
    }
    refused(
        &run(&["inspect", text(&path), "--step", "7"]),
        &["no dump is of step 7; there are 0, 50, 100"],
    );
    refused(
        &run(&["inspect", text(&path), "--sample", "9999"]),
        &["--sample 9999: the dump holds samples 0,"],
    );
    refused(
        &run(&["inspect", text(&path), "--head", "1"]),
        &["--head 1: the dump has 1, counted from 0"],
    );
}

#[test]
fn devices_that_the_build_lacks_name_the_feature() {
    for (device, built) in [
        ("ndarray", cfg!(feature = "ndarray")),
        ("wgpu", cfg!(feature = "wgpu")),
        ("metal", cfg!(feature = "metal")),
    ] {
        if !built {
            let part = format!("cargo run --release --features {device}");
            refused(
                &run(&["train", "configs/quick.toml", "--device", device]),
                &[&part],
            );
        }
    }
}

/// A file-size limit makes writes fail as a full disk does, whoever runs the test.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_half_file() {
    for name in ["data.csv", "data.npz", "data.jsonl"] {
        let folder = folder("full");
        let binary = headlight();
        let out = folder.join(name);
        let command = format!(
            "trap '' XFSZ; ulimit -f 8; exec '{}' data --out '{}'",
            binary.get_program().to_str().unwrap(),
            text(&out)
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &command])
            .current_dir(binary.get_current_dir().unwrap())
            .output()
            .unwrap();
        let finished = Finished::from(output);
        assert_eq!(finished.code, Some(1), "{}", finished.stderr);
        assert!(
            finished.stderr.starts_with("error: cannot write"),
            "{}",
            finished.stderr
        );
        assert!(finished.stderr.contains(name), "{}", finished.stderr);
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            0,
            "nothing is left behind"
        );
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let folder = folder("unwritable");
    fs::write(folder.join("file"), "").unwrap();
    let inside = folder.join("file/run");
    let finished = run(&["train", "configs/quick.toml", "--run", text(&inside)]);
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("cannot write"),
        "{}",
        finished.stderr
    );
}
