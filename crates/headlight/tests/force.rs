//! `--force` replaces no input: each output of each command as a link to each file that the command reads.
#![cfg(all(unix, feature = "burn"))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{contents, folder, refuses_in, run_in};

/// What a run names, and of its own files those that a link could lead to.
const RUN: [&str; 3] = ["run/config.toml", "run/model.safetensors", "samples.csv"];
const CONFIG: [&str; 2] = ["mine.toml", "samples.csv"];
const RESULTS: [&str; 3] = ["seeds.jsonl", "seeds.config.toml", "samples.csv"];

/// Each command with its output at the end, and what it reads.
const CASES: [(&str, &[&str]); 16] = [
    ("data mine.toml --out new.csv", &CONFIG),
    (
        "data quick --set data.file=data.csv --out new.csv",
        &["data.csv"],
    ),
    ("init data.csv --out new.toml", &["data.csv"]),
    ("lab mine.toml --html new.html", &CONFIG),
    (
        "dump mine.toml --weights own.safetensors --tokens one.txt --out new.npz",
        &["mine.toml", "own.safetensors", "one.txt"],
    ),
    ("evaluate run data.csv --html new.html", &["data.csv"]),
    ("evaluate run --svg new.svg", &RUN),
    ("predict run data.csv --out new.csv", &["data.csv"]),
    (
        "predict run --tokens 3 --patch embeddings:1=one.npz --svg new.svg",
        &["one.npz"],
    ),
    ("inspect run one.npz --html new.html", &["one.npz"]),
    ("inspect run --svg new.svg", &RUN),
    ("inspect one.npz --svg new.svg", &["one.npz"]),
    ("merge seeds.jsonl --out new.csv", &RESULTS),
    ("report seeds.jsonl --html new.html", &RESULTS),
    ("sweep mine.toml --seeds 0..2 --out new.jsonl", &CONFIG),
    ("walkthrough walk.toml --html new.html", &["walk.toml"]),
];

fn prepare(folder: &Path) {
    let samples = "label,token_0,token_1\n".to_owned() + &"0,3,1\n1,5,2\n".repeat(12);
    for name in ["samples.csv", "data.csv"] {
        fs::write(folder.join(name), &samples).unwrap();
    }
    symlink("samples.csv", folder.join("named.csv")).unwrap();
    let config = "data.file = \"named.csv\"\nmodel.d_model = 4\ntraining.epochs = 1\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    fs::write(folder.join("one.txt"), "3 1\n").unwrap();
    let done = |line: &str| {
        let arguments: Vec<&str> = line.split(' ').collect();
        run_in(folder, &arguments).done();
    };
    done("train mine.toml --run run");
    done("sweep mine.toml --seeds 0..2 --out seeds.jsonl");
    done("init she-did-not --out walk.toml");
    let weights = folder.join("run/model.safetensors");
    fs::copy(weights, folder.join("own.safetensors")).unwrap();
    done("dump mine.toml --weights own.safetensors --tokens one.txt --out one.npz");
}

#[test]
fn force_replaces_no_input() {
    let folder = folder("force");
    prepare(&folder);
    let before = contents(&folder);
    for (line, reads) in CASES {
        let arguments: Vec<&str> = line.split(' ').chain(["--force"]).collect();
        let output = folder.join(arguments[arguments.len() - 2]);
        for input in reads {
            symlink(input, &output).unwrap();
            refuses_in(&folder, &arguments, &["new."]);
            fs::remove_file(&output).unwrap();
            assert!(contents(&folder) == before, "{line}, {input}");
        }
    }
}
