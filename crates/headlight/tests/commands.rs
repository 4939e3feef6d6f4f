//! The commands around training: `data`, `predict`, `dump`, `compare`, `devices`, and the help.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::Cursor;

use crate::common::{folder, mentions, printed, quick_run, read_dump, run, text, typed};
use headlight_dump::Array;
use headlight_npz::NpzReader;
use headlight_trainer::devices::DEVICES;

#[test]
fn data_writes_what_numpy_draws() {
    let out = folder("data").join("d.npz");
    let printed = run(&["data", "--out", text(&out)]).done().stdout;
    for part in [text(&out), "8000", "168", "2000"] {
        assert!(mentions(&printed, part), "{part}: {printed}");
    }
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
fn predict_shows_the_answer_and_the_attention_behind_it() {
    let folder = folder("predict_says");
    typed(&folder, "train quick --run run").done();
    let output = printed(&folder, "predict run --tokens '0 16 5 42 43 32 2'");
    assert!(output.contains("probability of yes 0.99"), "{output}");
    assert!(output.contains("   3* 42"), "{output}");
    let weights: f64 = output
        .lines()
        .filter(|line| line.contains('█'))
        .filter_map(|line| line.split_whitespace().nth(2)?.parse::<f64>().ok())
        .sum();
    assert!((weights - 1.0).abs() < 4e-4, "{output}");
}

/// `dump` computes the values that a run recorded from the weights of the run.
#[test]
fn dump_repeats_what_a_run_recorded() {
    let folder = folder("dump_repeats");
    typed(&folder, "train quick --run run").done();
    let recorded = read_dump(folder.join("run/attention/step-000300.npz"));
    let mut lines = String::new();
    for sample in 0..recorded.dims.samples {
        let tokens: Vec<String> = recorded.tokens(sample).iter().map(i64::to_string).collect();
        lines += &(tokens.join(" ") + "\n");
    }
    fs::write(folder.join("tokens.txt"), lines).unwrap();
    let dump = "dump quick --weights run/model.safetensors --samples tokens.txt --out again.npz";
    typed(&folder, dump).done();
    let again = read_dump(folder.join("again.npz"));
    for array in [Array::Weights, Array::Residual] {
        assert_eq!(again.arrays[array], recorded.arrays[array]);
    }
    assert_eq!(again.labels, recorded.labels);
    assert_eq!(again.meta.samples, vec![None; recorded.dims.samples]);
}

#[test]
fn compare_shows_where_runs_differ() {
    let folder = folder("compare");
    let (first, second) = (folder.join("a"), folder.join("b"));
    quick_run(&first, &[]);
    let many: Vec<String> = (0..40).map(|sample| sample.to_string()).collect();
    let many = format!("dump.samples=[{}]", many.join(","));
    let sets = ["seed=5", "training.epochs=2", &many].map(|set| ["--set", set]);
    quick_run(&second, sets.as_flattened());
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
    // Long values are cut.
    let widest = table.lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(200), "{table}");
    // Equal settings are left out.
    assert!(!table.contains("data.seq_len"), "{table}");
}

#[test]
fn devices_lists_each_device_with_its_feature() {
    let list = run(&["devices"]).done().stdout;
    for device in DEVICES {
        let line = list.lines().find(|line| line.starts_with(device.name));
        let line = line.unwrap_or_else(|| panic!("{}: {list}", device.name));
        let feature = format!("--features {}", device.name);
        assert_eq!(mentions(line, &feature), !device.is_built, "{line}");
    }
}

#[test]
fn help_of_each_command_has_an_example() {
    let program = headlight::command();
    let commands: Vec<&str> = program
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    assert!(commands.len() >= 11, "{commands:?}");
    for command in commands {
        let help = run(&[command, "--help"]).done().stdout;
        let example = format!("Example: headlight {command}");
        assert!(help.contains(&example), "{help}");
    }
}
