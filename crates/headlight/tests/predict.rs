//! `headlight predict` for one sample and for files of samples.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{ended, folder, mentions, printed, refuses_each, typed};
use serde_json::Value;

/// A folder with a run of the quick config, and its dataset as `data.FORMAT`.
fn run_and_data(name: &str, format: &str) -> PathBuf {
    let folder = folder(name);
    typed(&folder, "train quick --run run").done();
    typed(&folder, &format!("data quick --out data.{format}")).done();
    folder
}

/// The numbers of a CSV file by column name.
fn columns(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let names = reader.headers().unwrap().iter();
    let names = names.map(str::to_owned).collect();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        row.iter().map(|cell| cell.parse().unwrap()).collect()
    });
    (names, rows.collect())
}

#[test]
fn a_file_of_samples_gets_a_row_each() {
    for format in ["npz", "jsonl"] {
        let folder = run_and_data(&format!("predict_{format}"), format);
        let told = printed(&folder, &format!("predict run data.{format} --out p.csv"));
        assert!(mentions(&told, "2000"), "{told}");
        let (names, rows) = columns(&folder.join("p.csv"));
        assert_eq!(names[..4], ["sample", "predicted", "probability", "label"]);
        let tokens = (0..7).map(|position| format!("token_{position}"));
        assert!(tokens.eq(names[4..].iter().cloned()));
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
            let told = printed(&folder, &format!("predict run --tokens '{sample}'"));
            let mut words = told.split([' ', ',']);
            let shown = words.find_map(|word| word.parse::<f64>().ok());
            assert!((shown.unwrap() - rows[5][2]).abs() < 1e-6);
        }
    }
}

#[test]
fn predictions_are_csv_or_jsonl_in_a_file_or_csv_on_standard_output() {
    let folder = run_and_data("predict_formats", "npz");
    for out in ["p.csv", "p.jsonl"] {
        typed(&folder, &format!("predict run data.npz --out {out}")).done();
    }
    let csv = fs::read_to_string(folder.join("p.csv")).unwrap();
    assert_eq!(printed(&folder, "predict run data.npz"), csv);
    let (_, rows) = columns(&folder.join("p.csv"));
    let lines = fs::read_to_string(folder.join("p.jsonl")).unwrap();
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
    typed(&folder, "train quick --run other --set seed=5").done();
    let other = printed(
        &folder,
        "predict run data.npz --weights other/model.safetensors",
    );
    assert_eq!(other.lines().count(), rows.len() + 1);
    assert_ne!(other, csv);
    let refused = "
data.npz --out p.csv         | p.csv | --force
data.npz --out data.npz      | data.npz
data.npz --out p.txt         | .csv | .jsonl
--tokens '0 1' --out x.csv   | --out
missing.csv                  | missing.csv
";
    refuses_each(&folder, "predict run", refused);
}

#[test]
fn several_classes_get_a_probability_each() {
    let folder = folder("predict_classes");
    for line in [
        "train count --run run",
        "data count --out d.npz",
        "predict run d.npz --out p.csv",
    ] {
        typed(&folder, line).done();
    }
    let (names, rows) = columns(&folder.join("p.csv"));
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
    let folder = run_and_data("predict_infinite", "csv");
    let mut bytes = fs::read(folder.join("run/model.safetensors")).unwrap();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for value in bytes[header..].chunks_exact_mut(4) {
        value.copy_from_slice(&1e38_f32.to_le_bytes());
    }
    fs::write(folder.join("large.safetensors"), bytes).unwrap();
    for line in [
        "evaluate run",
        "predict run data.csv",
        "predict run --tokens '0 16 5 42 43 32 2'",
        "predict run --tokens '0 16 5 42 43 32 2' --explain",
        "dump quick --samples data.csv --out dump.npz",
    ] {
        let line = format!("{line} --weights large.safetensors");
        ended(&typed(&folder, &line), 2, &[]);
    }
}
