//! The files that commands write: what they replace, and what they never do.
#![cfg(all(unix, feature = "burn"))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::common::{QUICK, contents, fed, folder, mentions, refused, refuses_typed, typed};

/// What a run names, and of its own files those that a link could lead to.
const RUN: [&str; 3] = ["run/config.toml", "run/model.safetensors", "samples.csv"];
const CONFIG: [&str; 2] = ["mine.toml", "samples.csv"];
const RESULTS: [&str; 3] = ["seeds.jsonl", "seeds.config.toml", "samples.csv"];

/// Each command with its output at the end, and what it reads.
const CASES: [(&str, &[&str]); 17] = [
    ("data mine.toml --out new.csv", &CONFIG),
    (
        "data quick --set data.file=data.csv --out new.csv",
        &["data.csv"],
    ),
    ("init data.csv --out new.toml", &["data.csv"]),
    ("lab mine.toml --html new.html", &CONFIG),
    (
        "dump mine.toml --weights own.safetensors --samples one.txt --out new.npz",
        &["mine.toml", "own.safetensors", "one.txt"],
    ),
    ("evaluate run data.csv --html new.html", &["data.csv"]),
    ("evaluate run --svg new.svg", &RUN),
    ("predict run data.csv --out new.csv", &["data.csv"]),
    (
        "predict run one.txt --patch embeddings:1=one.npz --out new.csv",
        &["one.txt", "one.npz"],
    ),
    ("inspect run one.npz --html new.html", &["one.npz"]),
    ("inspect run --svg new.svg", &RUN),
    ("inspect one.npz --svg new.svg", &["one.npz"]),
    ("merge seeds.jsonl --out new.csv", &RESULTS),
    ("merge seeds.jsonl --out new.jsonl", &RESULTS),
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
    let done = |line: &str| typed(folder, line).done();
    done("train mine.toml --run run");
    done("sweep mine.toml --seeds 0..2 --out seeds.jsonl");
    done("init she-did-not --out walk.toml");
    let weights = folder.join("run/model.safetensors");
    fs::copy(weights, folder.join("own.safetensors")).unwrap();
    done("dump mine.toml --weights own.safetensors --samples one.txt --out one.npz");
}

/// No command replaces a file, unless it is told to; and never what it reads, not through a link either.
#[test]
fn outputs_replace_nothing() {
    let folder = folder("outputs");
    prepare(&folder);
    let before = contents(&folder);
    for (line, reads) in CASES {
        let output = line.rsplit(' ').next().unwrap();
        let at = folder.join(output);
        let forced = format!("{line} --force");
        for input in reads {
            symlink(input, &at).unwrap();
            refuses_typed(&folder, &forced, &["new."]);
            fs::remove_file(&at).unwrap();
            assert!(contents(&folder) == before, "{line}, {input}");
        }
        // A sweep adds to its file, and the config cannot have this one.
        if line.starts_with("sweep") || line.contains("data.file=") {
            continue;
        }
        typed(&folder, line).done();
        let written = fs::read(&at).unwrap();
        refuses_typed(&folder, line, &[output, "--force"]);
        fs::write(&at, "other").unwrap();
        typed(&folder, &forced).done();
        assert!(fs::read(&at).unwrap() == written, "{line}");
        fs::remove_file(&at).unwrap();
        // A merge writes the config of its rows beside them.
        let _ = fs::remove_file(folder.join("new.config.toml"));
    }
    // A sweep replaces its own picture, and no other.
    fs::write(folder.join("other.svg"), "a picture").unwrap();
    let other = "sweep mine.toml --seeds 0..2 --out other.jsonl";
    refuses_typed(&folder, other, &["other.svg", "--force"]);
    typed(&folder, &format!("{other} --force")).done();
    typed(&folder, other).done();
    for other in ["x", "./x", "run/../x"] {
        let twice = format!("report seeds.jsonl --svg x --html {other}");
        refuses_typed(&folder, &twice, &[other]);
    }
    fs::create_dir(folder.join("folder.csv")).unwrap();
    let to_folder = "data quick --force --out folder.csv";
    refuses_typed(&folder, to_folder, &["folder.csv"]);
}

/// No command writes into a run, not even with `--force`; a folder with a config alone is no run.
#[test]
fn runs_are_spared() {
    let folder = folder("outputs_runs");
    typed(&folder, &format!("train {QUICK} --run run")).done();
    let refuses = |out: &str| {
        let data = format!("data quick --force --out {out}");
        refuses_typed(&folder, &data, &["run"]);
    };
    // A dump that is a link to a file elsewhere is a file of the run as well.
    let dump = folder.join("run/attention/step-000000.npz");
    fs::rename(&dump, folder.join("elsewhere.npz")).unwrap();
    symlink("../../elsewhere.npz", &dump).unwrap();
    refuses("run/attention/step-000000.npz");
    assert!(dump.is_symlink());
    for out in [
        "attention/new.npz",
        "checkpoint/new.npz",
        "samples.npz",
        "mine/new.npz",
    ] {
        fs::create_dir_all(folder.join("run/mine")).unwrap();
        refuses(&format!("run/{out}"));
    }
    for line in [
        "init quick --force --out run/weights/step-000100.safetensors",
        "init quick --force --out run/mine.toml",
        "sweep quick --seeds 0..1 --force --out run/rows.jsonl",
        "reproduce second-way --quick --out run",
        "train quick --run run/inner",
    ] {
        refuses_typed(&folder, line, &[line.rsplit(' ').next().unwrap()]);
    }
    refuses_typed(&folder, "reproduce second-way --quick --out -", &["--out"]);
    let page = "evaluate run --force --html run/inspector.html";
    refuses_typed(&folder, page, &["run/inspector.html"]);
    // A damaged run is spared, too.
    for damaged in ["config.toml", "environment.json"] {
        fs::remove_file(folder.join("run").join(damaged)).unwrap();
        refuses("run/attention/new.npz");
    }
    fs::write(folder.join("config.toml"), "").unwrap();
    fs::write(folder.join("mine.csv"), "").unwrap();
    typed(&folder, "data quick --force --out mine.csv").done();
    // What is no run can be neither trained into nor resumed.
    fs::create_dir(folder.join("notes")).unwrap();
    fs::write(folder.join("notes/thesis.txt"), "mine").unwrap();
    symlink("absent", folder.join("dangling")).unwrap();
    for name in ["notes", "notes/thesis.txt", "dangling", "/dev/null"] {
        for resume in ["", " --resume"] {
            let line = format!("train quick --run {name}{resume}");
            refuses_typed(&folder, &line, &[name, "--run"]);
            let told = typed(&folder, &line).stderr;
            assert!(!mentions(&told, "--resume"), "{told}");
        }
    }
}

/// Links are followed, permissions kept, pipes and devices written to.
#[test]
fn outputs_keep_what_they_are() {
    let folder = folder("outputs_kinds");
    let at = |name: &str| folder.join(name);
    let data = |out: &str| typed(&folder, &format!("data quick --out {out}"));
    data("plain.csv").done();
    let written = fs::read(at("plain.csv")).unwrap();

    fs::write(at("target.csv"), "before").unwrap();
    fs::set_permissions(at("target.csv"), Permissions::from_mode(0o600)).unwrap();
    symlink("target.csv", at("link.csv")).unwrap();
    symlink("absent.csv", at("dangling.csv")).unwrap();
    refused(&data("link.csv"), &["link.csv", "--force"]);
    data("link.csv --force").done();
    data("dangling.csv").done();
    for (link, target) in [("link.csv", "target.csv"), ("dangling.csv", "absent.csv")] {
        assert!(at(link).is_symlink());
        assert!(fs::read(at(target)).unwrap() == written, "{target}");
    }
    let mode = fs::metadata(at("target.csv")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);

    let pipe = at("pipe.csv");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::read(pipe).unwrap())
    };
    data("pipe.csv").done();
    assert!(reader.join().unwrap() == written);
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    // A device stays one: here a link to it.
    symlink("/dev/null", at("null.csv")).unwrap();
    data("null.csv").done();
    let null = fs::metadata(at("null.csv")).unwrap();
    assert!(null.file_type().is_char_device());
}

/// What goes to standard output is the file alone.
#[test]
fn standard_output_is_one_file() {
    let folder = folder("outputs_standard");
    typed(&folder, &format!("train {QUICK} --run run")).done();
    let sweep = format!("sweep {QUICK} --seeds 0..3 --out seeds.jsonl");
    typed(&folder, &sweep).done();
    for (command, formats) in [
        ("lab", &["html"][..]),
        ("evaluate run", &["svg", "html"]),
        ("report seeds.jsonl", &["svg", "html"]),
        ("inspect run", &["svg", "html"]),
    ] {
        for format in formats {
            let line = format!("{command} --{format} -");
            let piped = typed(&folder, &line).done();
            let end = format!("</{format}>");
            assert!(piped.stdout.trim_end().ends_with(&end), "{line}");
            assert!(!piped.stderr.is_empty());
            assert!(!piped.stderr.contains("standard input"), "{line}");
            if !command.starts_with("inspect") {
                refuses_typed(&folder, &format!("{line} --json"), &["--json"]);
            }
        }
    }
    for line in [
        "evaluate run --svg - --html -",
        "report seeds.jsonl --svg - --html -",
        "walkthrough she-did-not --html - --json",
    ] {
        refuses_typed(&folder, line, &["standard output"]);
    }
    let predict = ["predict", "run", "-", "--json", "--out", "-"];
    refused(&fed(&folder, &predict, "0 1 2 3 4 5 6\n"), &["--json"]);
    let rows = fs::read_to_string(folder.join("seeds.jsonl")).unwrap();
    let merged = fed(&folder, &["merge", "-", "--out", "-"], &rows).done();
    assert_eq!(merged.stdout, rows);
}

/// Any text may be the name of a class or of a run; XML allows few control characters, and neither U+FFFE nor U+FFFF.
#[test]
fn pictures_are_xml_whatever_they_name() {
    let folder = folder("outputs_xml");
    let samples = "label,token_0\na\u{ffff}<&,3\n\u{fffe}b,4\na\u{ffff}<&,5\n\u{fffe}b,6\n";
    fs::write(folder.join("mine.csv"), samples).unwrap();
    let sets = "--set model.d_model=4 --set training.epochs=2";
    let run = "r\u{1}\u{ffff}";
    typed(&folder, &format!("train mine.csv --run {run} {sets}")).done();
    for output in ["evaluate --svg", "evaluate --html", "inspect --svg"] {
        let (command, flag) = output.split_once(' ').unwrap();
        let printed = typed(&folder, &format!("{command} {run} {flag} -"));
        let forbidden = |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
        assert!(!printed.done().stdout.contains(forbidden), "{output}");
    }
}
