//! `headlight predict` for one sample and for files of samples.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{ended, folder, mentions, quick_run, refuses, run, text};
use serde_json::Value;

/// A run of `configs/quick.toml`, and its dataset as a file.
fn run_and_data(name: &str, format: &str) -> (PathBuf, PathBuf, PathBuf) {
    let folder = folder(name);
    let (path, data) = (folder.join("run"), folder.join(format!("data.{format}")));
    quick_run(&path, &[]);
    run(&["data", "quick", "--out", text(&data)]).done();
    (folder, path, data)
}

/// The numbers of a CSV file by column name.
fn columns(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let names = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        row.iter().map(|cell| cell.parse().unwrap()).collect()
    });
    (names, rows.collect())
}

#[test]
fn a_file_of_samples_gets_a_row_each() {
    for format in ["npz", "jsonl"] {
        let (folder, path, data) = run_and_data(&format!("predict_{format}"), format);
        let out = folder.join("predictions.csv");
        let arguments = ["predict", text(&path), text(&data), "--out", text(&out)];
        let printed = run(&arguments).done().stdout;
        assert!(mentions(&printed, "2000"), "{printed}");
        let (names, rows) = columns(&out);
        let tokens = (0..7).map(|position| format!("token_{position}"));
        let expected = ["sample", "predicted", "probability", "label"].map(str::to_owned);
        assert_eq!(
            names,
            expected.into_iter().chain(tokens).collect::<Vec<_>>()
        );
        assert_eq!(rows.len(), 2000);
        for (index, row) in rows.iter().enumerate() {
            assert_eq!(row[0], index as f64);
            assert_eq!(row[1], f64::from(u8::from(row[2] > 0.5)));
            // The rule of the config: token 42 at position 3.
            assert_eq!(row[3], f64::from(u8::from(row[4 + 3] == 42.0)));
        }
        let wrong = rows.iter().filter(|row| row[1] != row[3]).count();
        assert!(wrong < 20, "{wrong}");

        // One sample gets the same probability.
        let tokens: Vec<String> = rows[5][4..].iter().map(f64::to_string).collect();
        for separator in [" ", ",", ", "] {
            let sample = tokens.join(separator);
            let printed = run(&["predict", text(&path), "--tokens", &sample])
                .done()
                .stdout;
            let shown = printed
                .split([' ', ','])
                .find_map(|word| word.parse::<f64>().ok());
            assert!((shown.unwrap() - rows[5][2]).abs() < 1e-6);
        }
    }
}

#[test]
fn predictions_are_csv_or_jsonl_in_a_file_or_csv_on_standard_output() {
    let (folder, path, data) = run_and_data("predict_formats", "npz");
    let command = ["predict", text(&path), text(&data)];
    let (csv, jsonl) = (folder.join("p.csv"), folder.join("p.jsonl"));
    for out in [&csv, &jsonl] {
        run(&[&command[..], &["--out", text(out)]].concat()).done();
    }
    assert_eq!(
        run(&command).done().stdout,
        fs::read_to_string(&csv).unwrap()
    );
    let (_, rows) = columns(&csv);
    let lines = fs::read_to_string(&jsonl).unwrap();
    assert_eq!(lines.lines().count(), rows.len());
    for (line, row) in lines.lines().zip(&rows) {
        let line: Value = serde_json::from_str(line).unwrap();
        let keys = ["sample", "predicted", "probability", "label"];
        for (key, cell) in keys.iter().zip(row) {
            assert_eq!(line[key].as_f64(), Some(*cell), "{key}");
        }
        let tokens: Vec<f64> = serde_json::from_value(line["tokens"].clone()).unwrap();
        assert_eq!(tokens, row[4..]);
    }
    // With the weights of another run.
    let other = folder.join("other");
    quick_run(&other, &["--set", "seed=5"]);
    let weights = other.join("model.safetensors");
    let given = ["--weights", text(&weights)];
    let printed = run(&[&command[..], &given].concat()).done().stdout;
    assert_eq!(printed.lines().count(), rows.len() + 1);
    assert_ne!(printed, fs::read_to_string(&csv).unwrap());

    let to = |out| [&command[..], &["--out", out]].concat();
    refuses(&folder, &to(text(&csv)), &["p.csv", "--force"]);
    refuses(&folder, &to(text(&data)), &["data.npz"]);
    refuses(
        &folder,
        &to(text(&folder.join("p.txt"))),
        &[".csv", ".jsonl"],
    );
    refuses(
        &folder,
        &["predict", text(&path), "--tokens", "0 1", "--out", "x.csv"],
        &["--out"],
    );
    ended(
        &run(&["predict", text(&path), "missing.csv"]),
        2,
        &["missing.csv"],
    );
}

#[test]
fn several_classes_get_a_probability_each() {
    let folder = folder("predict_classes");
    let (path, data, out) = (
        folder.join("run"),
        folder.join("d.npz"),
        folder.join("p.csv"),
    );
    run(&["train", "count", "--run", text(&path)]).done();
    run(&["data", "count", "--out", text(&data)]).done();
    run(&["predict", text(&path), text(&data), "--out", text(&out)]).done();
    let (names, rows) = columns(&out);
    assert_eq!(
        names[2..6],
        ["probability_0", "probability_1", "probability_2", "label"]
    );
    for row in rows {
        assert!((row[2..5].iter().sum::<f64>() - 1.0).abs() < 1e-6);
        let best = (2..5).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        assert_eq!(row[1], (best - 2) as f64);
        assert_eq!(row[1], row[5]);
    }
}

/// Weights that compute no number are wrong input of each command that applies them.
#[test]
fn weights_that_compute_nothing_end_all_commands_alike() {
    let (folder, path, data) = run_and_data("predict_infinite", "csv");
    let weights = folder.join("large.safetensors");
    let mut bytes = fs::read(path.join("model.safetensors")).unwrap();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for value in bytes[header..].chunks_exact_mut(4) {
        value.copy_from_slice(&1e38_f32.to_le_bytes());
    }
    fs::write(&weights, bytes).unwrap();
    let (path, data, weights) = (text(&path), text(&data), text(&weights));
    let (sample, dump) = ("0 16 5 42 43 32 2", folder.join("dump.npz"));
    for arguments in [
        &["evaluate", path][..],
        &["predict", path, data],
        &["predict", path, "--tokens", sample],
        &["predict", path, "--tokens", sample, "--explain"],
        &["dump", "quick", "--samples", data, "--out", text(&dump)],
    ] {
        ended(&run(&[arguments, &["--weights", weights]].concat()), 2, &[]);
    }
}
