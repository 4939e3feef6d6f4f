//! Measures in rows, and how a report compares them between settings.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use std::path::{Path, PathBuf};

use crate::common::{file, folder, whole};
use headlight_report::Plot;
use headlight_sweep::{ReportChoices, Summary};
use serde_json::{Value, json};

/// Three widths, two activations, and two seeds of each point; width 8 has runs of one activation alone. The gap is the
/// width over 100, plus half for silu, plus or minus 0.01 by seed.
fn rows(change: impl Fn(&mut Value)) -> Vec<String> {
    let mut rows = Vec::new();
    for seed in [0, 1] {
        for (point, (width, activation)) in [
            (4, "relu"),
            (4, "silu"),
            (8, "relu"),
            (32, "relu"),
            (32, "silu"),
        ]
        .into_iter()
        .enumerate()
        {
            let more = if activation == "silu" { 0.5 } else { 0.0 };
            let seeded = if seed == 0 { -0.01 } else { 0.01 };
            let mut row = json!({
                "seed": seed,
                "point": point,
                "model.d_model": width,
                "model.activation": activation,
                "final_loss": 0.5,
                "f1": 0.75 + f64::from(seed) / 8.0,
                "deciding_attention": [[0.25, 0.5], [0.125, more]],
                "gap": f64::from(width) / 100.0 + more + seeded,
                "kendall_gradient": Value::Null,
                "config_sha256": "a",
            });
            change(&mut row);
            rows.push(whole(&row.to_string()));
        }
    }
    rows
}

fn results(name: &str, change: impl Fn(&mut Value)) -> PathBuf {
    file(&folder(name), "rows.jsonl", &rows(change))
}

fn summary(path: &Path, by: &[&str], metrics: &[&str]) -> Result<Summary, String> {
    let owned = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let choices = ReportChoices {
        by: owned(by),
        metrics: owned(metrics),
        ..ReportChoices::default()
    };
    Summary::read(path, &choices).map_err(|failure| failure.to_string())
}

fn values(summary: &Summary) -> Value {
    serde_json::to_value(summary.values()).unwrap()
}

#[test]
fn each_measure_and_each_head_has_its_figures() {
    let path = results("measures figures", |_| ());
    let values = values(&summary(&path, &[], &[]).unwrap());
    let means = |name: &str| values["samples"][name]["mean"].clone();
    assert_eq!(means("deciding_attention_0_1"), 0.5);
    assert_eq!(means("deciding_attention_1_1"), 0.2);
    let gap = means("gap").as_f64().unwrap();
    assert!((gap - 0.36).abs() < 1e-12, "{gap}");
    // No run has a value.
    assert_eq!(values["samples"]["kendall_gradient"], Value::Null);
    let document = summary(&path, &[], &[]).unwrap().document("").markdown(120);
    assert!(document.contains("| deciding_attention_0_1") && document.contains("| gap"));
    assert!(!document.contains("kendall"), "{document}");
}

#[test]
fn two_keys_have_a_map_of_each_compared_number() {
    let path = results("measures map", |_| ());
    // Both keys vary, so both are compared.
    let whole = summary(&path, &[], &[]).unwrap();
    let found = values(&whole);
    let grids = found["grids"].as_array().unwrap();
    // F1 on training samples, since none are held out; measures by head are too many.
    let names: Vec<&Value> = grids.iter().map(|grid| &grid["metric"]).collect();
    assert_eq!(names, ["f1", "gap"]);
    assert_eq!(
        grids[1]["keys"],
        json!(["model.activation", "model.d_model"])
    );
    assert_eq!(grids[1]["values"], json!([["relu", "silu"], [4, 8, 32]]));
    let cell = |row: usize, column: usize| &grids[1]["cells"][row][column];
    assert_eq!(cell(1, 1), &Value::Null);
    assert_eq!(cell(2, 1)["runs"], 2);
    let mean = cell(2, 1)["mean"].as_f64().unwrap();
    assert!((mean - 0.82).abs() < 1e-12, "{mean}");
    // Table and plot have the same numbers; the user's order of keys decides which one is across.
    let turned = summary(&path, &["model.d_model", "model.activation"], &["gap"]).unwrap();
    let document = turned.document("");
    let text = document.markdown(120);
    let title = "gap by model.activation and model.d_model";
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with(title))
        .skip(2)
        .take(4)
        .collect();
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    assert_eq!(
        cells(lines[0]),
        ["model.activation", "4", "8", "32"],
        "{text}"
    );
    assert_eq!(
        cells(lines[2]),
        ["relu", "0.040 (2)", "0.080 (2)", "0.320 (2)"]
    );
    assert_eq!(cells(lines[3]), ["silu", "0.540 (2)", "–", "0.820 (2)"]);
    let grids: Vec<_> = document.sections[0]
        .plots
        .iter()
        .filter_map(|plot| match plot {
            Plot::Grid(grid) => Some(grid),
            _ => None,
        })
        .collect();
    assert_eq!((grids.len(), grids[0].cells[1][1]), (1, None));
    assert_eq!(grids[0].cells[0][2], Some((0.32, 2)));
}

/// Three widths are numbers, and have curves; two activations stand side by side.
#[test]
fn numbers_have_curves_with_intervals() {
    let path = results("measures curves", |_| ());
    let whole = summary(&path, &[], &["gap", "deciding_attention_1_1"]).unwrap();
    let document = whole.document("");
    let mut trends = document.sections[0]
        .plots
        .iter()
        .filter_map(|plot| match plot {
            Plot::Ranges {
                labels,
                groups,
                numbers,
                sets,
                ..
            } if !numbers.is_empty() && labels[1].contains("gap") => {
                Some((numbers.clone(), groups.clone(), sets[0].1.clone()))
            }
            _ => None,
        });
    let (values, names, ranges) = trends.next().unwrap();
    assert_eq!(values, [4.0, 8.0, 32.0]);
    assert_eq!(names, ["4", "8", "32"]);
    // Of 0.07 and 0.09: scipy.stats.t.interval(0.95, 1, 0.08, 0.01).
    let [low, mean, high] = ranges[1].unwrap();
    assert!((mean - 0.08).abs() < 1e-12 && (high + low - 0.16).abs() < 1e-12);
    assert!((high - 0.207_062_047_361_747).abs() < 1e-9, "{high}");
    assert!(trends.next().is_none());
    let is_side_by_side = document.sections[0].plots.iter().any(|plot| match plot {
        Plot::Ranges {
            labels, numbers, ..
        } => labels[0] == "model.activation" && labels[1].contains("gap") && numbers.is_empty(),
        _ => false,
    });
    assert!(is_side_by_side);
    // The groups' table and JSON have them, too.
    let text = document.markdown(200);
    assert!(
        text.contains("| gap |") || text.contains(" gap |"),
        "{text}"
    );
    let found = serde_json::to_value(whole.values()).unwrap();
    assert_eq!(
        found["groups"][0]["deciding_attention_1_1"]["runs"], 6,
        "{}",
        found["groups"][0]
    );
}

#[test]
fn an_unknown_number_is_refused_with_those_there_are() {
    let path = results("measures unknown", |_| ());
    let message = summary(&path, &[], &["roundness"]).unwrap_err();
    for part in ["--metric roundness", "f1", "deciding_attention_1_0", "gap"] {
        assert!(message.contains(part), "{message}");
    }
    // A number that no row has is not among them.
    assert!(
        !message.contains("held_out_f1") && !message.contains("kendall"),
        "{message}"
    );
}

#[test]
fn measures_of_another_form_are_refused() {
    for value in [json!("x"), json!([[0.5]])] {
        let path = results("measures form", |row| row["gap"] = value.clone());
        let message = summary(&path, &[], &[]).unwrap_err();
        assert!(
            message.contains("line 1: its `gap` does not have the form"),
            "{message}"
        );
    }
    for value in [json!([0.5]), json!([["x"]])] {
        let path = results("measures lists", |row| {
            row["deciding_attention"] = value.clone();
        });
        let message = summary(&path, &[], &[]).unwrap_err();
        assert!(
            message.contains("line 1: its `deciding_attention` does not have the form"),
            "{message}"
        );
    }
    // Runs without a measure, and those of fewer heads, have no value there.
    let path = results("measures some", |row| {
        if row["seed"] == 1 {
            row.as_object_mut().unwrap().remove("gap");
            row["deciding_attention"] = json!([[1.0]]);
        }
    });
    let found = values(&summary(&path, &[], &[]).unwrap());
    let runs = |name: &str| found["samples"][name]["runs"].clone();
    assert_eq!(
        (runs("gap"), runs("deciding_attention_0_0")),
        (json!(5), json!(10))
    );
    assert_eq!(runs("deciding_attention_1_1"), 5);
}
