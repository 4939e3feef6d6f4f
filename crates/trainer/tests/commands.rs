//! The commands around training.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Cursor;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use common::{folder, headlight, quick_run, run, text};
use headlight_dump::AttentionDump;
use headlight_npz::NpzReader;

#[test]
fn data_writes_what_numpy_draws() {
    let out = folder("data").join("d.npz");
    let printed = run(&["data", "--out", text(&out)]).done().stdout;
    assert!(
        printed.contains("8000 training samples (168 positive), 2000 held out"),
        "{printed}"
    );
    let mut npz = NpzReader::new(Cursor::new(fs::read(&out).unwrap())).unwrap();
    let tokens = npz.integers("tokens").unwrap();
    assert_eq!(tokens.shape, [8000, 7]);
    // Both samples are printed in the notebook.
    assert_eq!(tokens.values[..7], [0, 45, 48, 1, 4, 4, 40]);
    assert_eq!(tokens.values[70..77], [0, 16, 5, 42, 43, 32, 2]);
    let labels = npz.floats("labels").unwrap().values;
    assert_eq!(labels.iter().filter(|&&label| label > 0.5).count(), 168);
}

#[test]
fn predict_says_what_and_why() {
    let path = folder("predict_says").join("run");
    quick_run(&path, &[]);
    let output = run(&["predict", text(&path), "--tokens", "0 16 5 42 43 32 2"])
        .done()
        .stdout;
    assert!(
        output.contains("rule: token 42 stands at position 3: positive"),
        "{output}"
    );
    assert!(output.contains("probability 0.99"), "{output}");
    assert!(output.contains("   3* 42"), "{output}");
    let weights: f64 = output
        .lines()
        .filter(|line| line.contains('█'))
        .filter_map(|line| line.split_whitespace().nth(2)?.parse::<f64>().ok())
        .sum();
    assert!((weights - 1.0).abs() < 4e-4, "{output}");
}

/// A run's weights, given back to `dump`, compute what the run recorded.
#[test]
fn dump_repeats_what_a_run_recorded() {
    let folder = folder("dump_repeats");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let read = |path: &std::path::Path| {
        AttentionDump::read_npz(Cursor::new(fs::read(path).unwrap())).unwrap()
    };
    let recorded = read(&path.join("attention/step-000300.npz"));
    let lines: Vec<String> = (0..recorded.dims.samples)
        .map(|sample| {
            recorded
                .tokens(sample)
                .iter()
                .map(i64::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    fs::write(folder.join("tokens.txt"), lines.join("\n")).unwrap();
    let out = folder.join("again.npz");
    run(&[
        "dump",
        "configs/quick.toml",
        "--weights",
        text(&path.join("model.safetensors")),
        "--tokens",
        text(&folder.join("tokens.txt")),
        "--out",
        text(&out),
    ])
    .done();
    let again = read(&out);
    assert_eq!(again.attention_weights, recorded.attention_weights);
    assert_eq!(again.residual, recorded.residual);
    assert_eq!(again.labels, recorded.labels);
    assert_eq!(again.meta.samples, vec![None; recorded.dims.samples]);
}

/// A run's page has its loss and its evidence, a dump's only the dump; neither writes over a dump.
#[test]
fn inspect_writes_a_page_of_a_run_and_of_a_dump() {
    let path = folder("inspect-html").join("run");
    quick_run(&path, &[]);
    let html = path.join("page.html");
    run(&["inspect", text(&path), "--html", text(&html)]).done();
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("\"loss\":[{\"step\":0,"), "{}", &page[..400]);
    assert!(page.contains("SHA-256 of model.safetensors"));
    let dump = path.join("attention/step-000000.npz");
    let said = run(&["inspect", text(&dump), "--html", text(&html)]).done();
    assert!(said.stdout.contains("1 steps, "), "{}", said.stdout);
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("\"loss\":[]"));
    let before = fs::read(&dump).unwrap();
    let refused = run(&["inspect", text(&path), "--html", text(&dump)]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert_eq!(fs::read(&dump).unwrap(), before);
}

#[test]
fn inspect_draws_a_run_and_a_dump() {
    let path = folder("inspect").join("run");
    quick_run(&path, &[]);
    let last = run(&["inspect", text(&path)]).done().stdout;
    assert!(
        last.contains("attention weights · sample 0 · head 0") && last.contains("step 300"),
        "{last}"
    );
    assert!(
        last.contains("[CLS]") && last.contains("* decides the label"),
        "{last}"
    );
    assert!(!last.contains('\x1b'), "no colour without a terminal");
    let dump = path.join("attention/step-000300.npz");
    assert_eq!(run(&["inspect", text(&dump)]).done().stdout, last);
    let first = run(&["inspect", text(&path), "--step", "0", "--scores"])
        .done()
        .stdout;
    assert!(
        first.contains("attention scores") && first.contains("step 0"),
        "{first}"
    );
}

/// Each dump is drawn once, in order, and the command ends when the run has.
#[test]
fn inspect_follows_a_run_while_it_trains() {
    let path = folder("watch").join("run");
    // Long enough to be under way when the other starts to look.
    let long = ["--set", "training.epochs=12", "--engine", "burn"];
    let start = ["train", "configs/quick.toml", "--run", text(&path)];
    let mut training = headlight();
    training
        .args(start.iter().chain(&long))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut training = training.spawn().unwrap();
    while !path.join("attention/step-000000.npz").exists() {
        assert!(training.try_wait().unwrap().is_none(), "it trains");
        sleep(Duration::from_millis(5));
    }
    let followed = run(&["inspect", text(&path), "--watch"]).done().stdout;
    assert!(training.wait().unwrap().success());
    let steps: Vec<usize> = followed
        .lines()
        .filter_map(|line| line.split("step ").nth(1)?.parse().ok())
        .collect();
    let expected: Vec<usize> = (0..=1200).step_by(50).collect();
    assert_eq!(steps, expected);
}

#[test]
fn inspect_writes_pictures() {
    let folder = folder("pictures");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let [svg, png] = ["a.svg", "a.png"].map(|name| folder.join(name));
    let both = ["--svg", text(&svg), "--png", text(&png)];
    let told = run(&[&["inspect", text(&path), "--sample", "0"][..], &both].concat()).done();
    assert!(told.stdout.contains("a.svg: attention weights · sample 0"));
    let drawn = run(&["inspect", text(&path), "--sample", "0"])
        .done()
        .stdout;
    let picture = fs::read_to_string(&svg).unwrap();
    // The numbers of the terminal's first row are in the picture.
    let row = drawn.lines().find(|line| line.contains("0 [CLS]")).unwrap();
    let numbers: Vec<&str> = row
        .split_whitespace()
        .filter(|part| part.contains('.'))
        .collect();
    assert_eq!(numbers.len(), 7);
    assert!(numbers.iter().all(|number| picture.contains(number)));
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));

    // What is read is not written over, and one file does not become two.
    let dump = path.join("attention/step-000000.npz");
    let before = fs::read(&dump).unwrap();
    let refused = run(&["inspect", text(&dump), "--svg", text(&dump)]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("is what is read"),
        "{}",
        refused.stderr
    );
    assert!(fs::read(&dump).unwrap() == before);
    let refused = run(&[
        "inspect",
        text(&dump),
        "--svg",
        text(&svg),
        "--png",
        text(&svg),
    ]);
    assert!(
        refused.stderr.contains("is named twice"),
        "{}",
        refused.stderr
    );
}

#[test]
fn compare_shows_where_runs_differ() {
    let folder = folder("compare");
    let (first, second) = (folder.join("a"), folder.join("b"));
    quick_run(&first, &[]);
    quick_run(&second, &["--set", "seed=5", "--set", "training.epochs=2"]);
    let table = run(&["compare", text(&first), text(&second)]).done().stdout;
    let row = |name: &str| -> Vec<&str> {
        let line = table
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap();
        line.split_whitespace().collect()
    };
    assert_eq!(row("seed"), ["seed", "0", "5"]);
    assert_eq!(row("training.epochs"), ["training.epochs", "3", "2"]);
    assert_eq!(row("step"), ["step", "300", "200"]);
    assert!(
        !table.contains("data.seq_len"),
        "what is equal is left out:\n{table}"
    );
}

#[test]
fn devices_lists_what_can_be_built() {
    let list = run(&["devices"]).done().stdout;
    assert!(
        list.contains("flex ") && list.contains("in this build"),
        "{list}"
    );
    assert!(list.contains("GPU adapters"), "{list}");
    if !cfg!(feature = "ndarray") {
        assert!(list.contains("build with --features ndarray"), "{list}");
    }
}

#[test]
fn help_of_each_command_has_an_example() {
    for command in [
        "train", "data", "predict", "dump", "inspect", "compare", "devices",
    ] {
        let help = run(&[command, "--help"]).done().stdout;
        assert!(
            help.contains(&format!("Example: headlight {command}")),
            "{help}"
        );
    }
}
