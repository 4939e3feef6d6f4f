//! What a new user does in a folder with nothing but the binary. The output of each command is kept as a snapshot.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::folder;
use insta::assert_snapshot;

/// Each command by the name of its snapshot, and the files that it writes.
const COMMANDS: [(&str, &str, &[&str]); 9] = [
    ("init", "init quick", &["quick.toml"]),
    (
        "train",
        "train quick.toml",
        &["runs/quick-1/report.md", "runs/quick-1/inspector.html"],
    ),
    ("evaluate", "evaluate runs/quick-1", &[]),
    (
        "data",
        "data quick.toml --out samples.csv",
        &["samples.csv"],
    ),
    (
        "predict",
        "predict runs/quick-1 samples.csv --out predictions.csv",
        &["predictions.csv"],
    ),
    (
        "picture",
        "inspect runs/quick-1 --svg picture.svg",
        &["picture.svg"],
    ),
    (
        "page",
        "inspect runs/quick-1 --html page.html",
        &["page.html"],
    ),
    (
        "sweep",
        "sweep quick.toml --seeds 0..8 --out seeds.jsonl",
        &["seeds.jsonl", "seeds.svg"],
    ),
    (
        "report",
        "report seeds.jsonl --html seeds.html",
        &["seeds.html"],
    ),
];

#[test]
fn each_step_tells_what_it_did() {
    let folder = folder("new_user");
    let binary = folder.join(format!("headlight{}", std::env::consts::EXE_SUFFIX));
    fs::copy(env!("CARGO_BIN_EXE_headlight"), &binary).unwrap();
    for (name, command, files) in COMMANDS {
        let output = Command::new(&binary)
            .args(command.split(' '))
            .current_dir(&folder)
            .env_clear()
            .output()
            .unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{command}: {errors}");
        for file in files {
            assert!(folder.join(file).metadata().unwrap().len() > 0, "{file}");
        }
        // The size of a page depends on the commit that it names.
        let told = told
            .split(" KB")
            .next()
            .unwrap()
            .trim_end_matches(char::is_numeric);
        assert_snapshot!(
            format!("new_user_{name}"),
            format!("$ headlight {command}\n{told}")
        );
        if name == "init" {
            edit(&folder.join("quick.toml"));
        }
    }
    let rows = |file: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        text.lines().count()
    };
    assert_eq!(rows("predictions.csv"), rows("samples.csv"));
    assert_eq!(rows("seeds.jsonl"), 8);
}

/// The token that the user looks for.
fn edit(config: &Path) {
    let text = fs::read_to_string(config).unwrap();
    let edited = text.replace("token = 42, position = 3", "token = 7, position = 5");
    assert_ne!(edited, text);
    fs::write(config, edited).unwrap();
}
