//! Rows, and the files that they are merged into.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use crate::common::{FIELDS, file, folder, whole};
use headlight_analysis::measures::MeasureValue;
use headlight_experiment::config::MeasureName;
use headlight_experiment::evaluate::Evaluation;
use headlight_experiment::metrics::Tally;
use headlight_sweep::{MergeResult, ReportChoices, Row, RunOutcome, Summary};
use headlight_trainer::Failure;
use headlight_trainer::files::config;
use headlight_trainer::files::outputs::{Destination, Output};
use serde_json::{Value, json};

/// A row of seed and point, of config `a`.
fn row(seed: u64, point: usize) -> String {
    row_with(seed, point, r#""final_loss":0.5"#)
}

fn row_with(seed: u64, point: usize, field: &str) -> String {
    whole(&format!(
        r#"{{"seed":{seed},"point":{point},"model.d_model":{point},{field},"config_sha256":"a"}}"#
    ))
}

fn failed(seed: u64) -> String {
    format!(
        r#"{{"seed":{seed},"point":0,"model.d_model":0,"error":"diverged","config_sha256":"a"}}"#
    )
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn merge(paths: &[PathBuf], out: &Path) -> Result<MergeResult, Failure> {
    headlight_sweep::merge(
        paths,
        Output::new(&Destination::from(out.to_owned()), true)?,
    )
}

/// The message that refuses to merge these files.
fn refused(paths: &[PathBuf], out: &Path) -> String {
    let failure = merge(paths, out).unwrap_err();
    assert!(!out.exists() && matches!(failure, Failure::Input(_)));
    failure.to_string()
}

#[test]
fn a_row_has_all_fields_in_order() {
    let metrics = |loss: f64, probability: f64| {
        let mut tally = Tally::new(2);
        tally.add(&[1.0], &[probability], loss, 1);
        tally.add_attention(1, 0.75, Some(0.5));
        tally.metrics().unwrap()
    };
    let outcome = RunOutcome {
        tests: Vec::new(),
        epoch_loss: vec![0.5, 0.25],
        train: metrics(0.125, 0.75),
        held_out: Some(metrics(0.375, 0.5)),
        attended: Evaluation {
            metrics: metrics(0.125, 0.75),
            attention_positive: Some(vec![0.25, 0.75]),
            attention_negative: None,
        },
        learned_at_step: Some(7),
        measures: vec![
            (MeasureName::DecidingUniform, MeasureValue::Number(0.5)),
            (
                MeasureName::DecidingAttention,
                MeasureValue::PerHead(vec![vec![0.25, 0.5]]),
            ),
            (MeasureName::KendallRemoval, MeasureValue::Undefined),
        ],
        weights_sha256: "w".to_owned(),
    };
    let mut config = config::load(Path::new("quick"), &[]).unwrap();
    config.report.measures = outcome.measures.iter().map(|(name, _)| *name).collect();
    let mut row = Row {
        seed: 3,
        point: Some(1),
        values: vec![("model.d_model".to_owned(), json!(4))],
        config: config.into(),
        outcome: Ok(outcome),
        config_sha256: "a".to_owned(),
    };
    let expected = r#"{"seed":3,"point":1,"model.d_model":4,"epoch_loss":[0.5,0.25],"final_loss":0.125,"accuracy":1.0,"precision":1.0,"recall":1.0,"f1":1.0,"held_out_final_loss":0.375,"held_out_accuracy":1.0,"held_out_precision":1.0,"held_out_recall":1.0,"held_out_f1":1.0,"min_positive":0.75,"max_negative":null,"attention_positive":[0.25,0.75],"attention_negative":null,"deciding_attention_positive":0.75,"deciding_attention_negative":null,"deciding_uniform_positive":0.5,"deciding_uniform_negative":null,"learned_at_step":7,"deciding_attention":[[0.25,0.5]],"deciding_uniform":0.5,"kendall_removal":null,"weights_sha256":"w","config_sha256":"a"}"#;
    assert_eq!(serde_json::to_string(&row).unwrap(), expected);
    row.outcome = Err("diverged".to_owned());
    (row.point, row.values) = (None, Vec::new());
    let expected = r#"{"seed":3,"error":"diverged","config_sha256":"a"}"#;
    assert_eq!(serde_json::to_string(&row).unwrap(), expected);
}

#[test]
fn rows_are_sorted_and_counted() {
    let folder = folder("merge sorted");
    let first = [row(3, 1), row(0, 1), failed(5), row(1, 0)];
    let second = [row(12, 0), row(0, 0), row(3, 1), failed(5), failed(6)];
    let paths = [
        file(&folder, "1.jsonl", &first),
        file(&folder, "2.jsonl", &second),
    ];
    let out = folder.join("all.jsonl");
    let merged = merge(&paths, &out).unwrap();
    let expected = MergeResult {
        rows: 7,
        duplicates: 2,
        failed: 2,
        points: 2,
        missing: (19, vec![(1, 1), (2, 0), (2, 1), (3, 0), (4, 0)]),
    };
    assert_eq!(merged, expected);
    let sorted = [
        row(0, 0),
        row(0, 1),
        row(1, 0),
        row(3, 1),
        failed(5),
        failed(6),
        row(12, 0),
    ];
    assert_eq!(read(&out), sorted.join("\n") + "\n");

    let whole = folder.join("whole.jsonl");
    let merged = merge(
        &[file(&folder, "3.jsonl", &[failed(5), failed(6), failed(7)])],
        &whole,
    );
    let merged = merged.unwrap();
    assert_eq!((merged.rows, merged.failed), (3, 3));
    assert_eq!((merged.duplicates, merged.missing), (0, (0, Vec::new())));
    let gap = merge(&[file(&folder, "4.jsonl", &[failed(5), failed(7)])], &whole).unwrap();
    assert_eq!(gap.missing, (1, vec![(6, 0)]));
}

#[test]
fn a_last_line_that_was_cut_short_is_left_out() {
    let folder = folder("merge cut");
    let path = file(&folder, "cut.jsonl", &[row(0, 0)]);
    let last = row(1, 0);
    let out = folder.join("out.jsonl");
    let cut = format!("{}\n{}", row(0, 0), &last[..last.len() - 1]);
    fs::write(&path, cut).unwrap();
    assert_eq!(merge(slice::from_ref(&path), &out).unwrap().rows, 1);
    assert_eq!(read(&out), row(0, 0) + "\n");
    // Only its line break is missing.
    let whole = [last, row(0, 0)].join("\n");
    fs::write(&path, whole).unwrap();
    assert_eq!(merge(&[path], &out).unwrap().rows, 2);
    assert_eq!(read(&out), row(0, 0) + "\n" + &row(1, 0) + "\n");
}

#[test]
fn values_that_no_sweep_writes_are_refused() {
    let folder = folder("merge values");
    let refuses = |rows: &[String], part: &str| {
        let path = file(&folder, "rows.jsonl", rows);
        let report = Summary::read(&path, &ReportChoices::default()).unwrap_err();
        let merges =
            ["out.jsonl", "out.csv"].map(|out| refused(slice::from_ref(&path), &folder.join(out)));
        for message in [&report.to_string(), &merges[0], &merges[1]] {
            assert!(
                message.contains("line 2") && message.contains(part),
                "{message}"
            );
        }
    };
    let other = row(1, 0).replace("\"model.d_model\":0", "\"model.d_model\":8");
    refuses(&[row(0, 0), other], "point 0");
    for (field, value) in [
        ("f1", "\"x\""),
        ("f1", "1.5"),
        ("epoch_loss", "0.5"),
        ("attention_positive", "[\"a\"]"),
        ("learned_at_step", "1.5"),
        ("learned_at_step", "-1"),
        ("tests", "[]"),
        ("tests", r#"{"longer":{"loss":"x"}}"#),
        ("gap", "[0.5]"),
        ("deciding_attention", "[0.5]"),
        ("weights_sha256", "3"),
    ] {
        let text = row_with(1, 0, &format!("\"{field}\":{value}"));
        refuses(&[row(0, 0), text], &format!("`{field}`"));
    }
    for field in FIELDS {
        let nothing = format!(",\"{field}\":null");
        let text = row_with(1, 0, "\"x\":0").replace(&nothing, "");
        refuses(&[row(0, 0), text], &format!("`{field}`"));
    }
    for (part, named) in [
        ("\"model.d_model\":0,", "no value of a grid"),
        ("\"point\":0,", "no `point`"),
    ] {
        refuses(&[row(0, 0), row(1, 0).replace(part, "")], named);
    }
}

#[test]
fn files_that_contradict_each_other_are_refused() {
    let folder = folder("merge refused");
    let out = folder.join("out.jsonl");
    let good = file(&folder, "good.jsonl", &[row(0, 0), row(4, 1)]);
    let other = row(9, 0).replace("\"a\"", "\"b\"");
    let foreign = file(&folder, "foreign.jsonl", slice::from_ref(&other));
    let message = refused(&[good.clone(), foreign], &out);
    assert!(
        message.contains("foreign.jsonl, line 1") && message.contains("good.jsonl"),
        "{message}"
    );
    let mixed = file(&folder, "mixed.jsonl", &[row(0, 0), other]);
    assert!(refused(&[mixed], &out).contains("line 2"));

    let wider = row(9, 0).replace("\"model.d_model\":0", "\"model.d_model\":8");
    let wider = file(&folder, "wider.jsonl", &[wider]);
    let message = refused(&[good.clone(), wider], &out);
    assert!(message.contains("wider.jsonl: line 1"), "{message}");

    let changed = row(4, 1).replace("0.5", "0.25");
    let conflict = file(&folder, "conflict.jsonl", &[changed]);
    let message = refused(&[good, conflict], &out);
    for part in ["seed 4 point 1", "good.jsonl", "conflict.jsonl"] {
        assert!(message.contains(part), "{message}");
    }
    let first = file(&folder, "first.jsonl", &[failed(0)]);
    let second = file(
        &folder,
        "second.jsonl",
        &[failed(0).replace("diverged", "lost")],
    );
    assert!(refused(&[first.clone(), second], &out).contains("seed 0 has"));

    let empty = file(&folder, "empty.jsonl", &[]);
    assert!(refused(&[empty], &out).contains("empty.jsonl"));
    let message = refused(&[first], &folder.join("out.txt"));
    assert!(message.contains(".jsonl or .csv"), "{message}");
}

#[test]
fn what_is_not_a_row_is_refused() {
    let folder = folder("merge no row");
    let out = folder.join("out.jsonl");
    for (line, part) in [
        ("hello", "not a row of a sweep"),
        ("\u{feff}{}", "byte order mark"),
        ("[1]", "not a row of a sweep"),
        ("[1]", "a JSON object"),
        ("{} {}", "not a row of a sweep"),
        (r#"{"config_sha256":"a"}"#, "`seed`"),
        (r#"{"seed":-1,"config_sha256":"a"}"#, "`-1`"),
        (r#"{"seed":1}"#, "`config_sha256`"),
        (r#"{"seed":1,"point":"x","config_sha256":"a"}"#, "\"x\""),
        (
            r#"{"seed":1,"point":100000,"config_sha256":"a"}"#,
            "`point` is 100000",
        ),
    ] {
        let message = refused(&[file(&folder, "x.jsonl", &[line.to_owned()])], &out);
        assert!(
            message.contains("line 1") && message.contains(part),
            "{message}"
        );
        assert!(message.contains("headlight sweep"), "{message}");
        let message = refused(
            &[file(&folder, "x.jsonl", &[row(0, 0), line.to_owned()])],
            &out,
        );
        assert!(
            message.contains("line 2") && message.contains(part),
            "{message}"
        );
        assert!(!message.contains("headlight sweep"), "{message}");
    }
    let last = row(0, 99_999);
    let merged = merge(&[file(&folder, "x.jsonl", &[last])], &out).unwrap();
    assert_eq!(merged.missing.0, 99_999);
}

#[test]
fn more_files_than_can_be_open_are_merged() {
    let folder = folder("merge many");
    let paths: Vec<PathBuf> = (0..300)
        .map(|index| {
            file(
                &folder,
                &format!("{index}.jsonl"),
                &[row(index, 0), row(index + 300, 0)],
            )
        })
        .collect();
    let out = folder.join("out.jsonl");
    let merged = merge(&paths, &out).unwrap();
    assert_eq!((merged.rows, merged.missing.0), (600, 0));
    let expected: String = (0..600).map(|seed| row(seed, 0) + "\n").collect();
    assert_eq!(read(&out), expected);
}

#[test]
fn a_table_has_a_column_for_each_element() {
    let folder = folder("merge csv");
    let lines = [
        json!({ "seed": 0, "point": 0, "model.d_model": 2, "model.mask": [[1], [0]], "epoch_loss": [0.5], "final_loss": 0.25,
                "attention_positive": [0.1, 0.9], "weights_sha256": "w", "config_sha256": "a" }),
        json!({ "later": true, "seed": 0, "point": 1, "model.d_model": 4, "model.mask": "none", "epoch_loss": [0.5, 0.25],
                "final_loss": null, "attention_positive": null, "learned_at_step": 3,
                "weights_sha256": "x,y", "config_sha256": "a" }),
        json!({ "seed": 1, "point": 0, "model.d_model": 2, "model.mask": [[1], [0]], "error": "no", "config_sha256": "a" }),
    ];
    let lines = lines.map(|line| match line.get("error") {
        Some(_) => line.to_string(),
        None => whole(&line.to_string()),
    });
    let path = file(&folder, "rows.jsonl", &lines);
    let out = folder.join("out.csv");
    merge(&[path], &out).unwrap();
    let expected = "\
seed,point,model.d_model,model.mask,model.mask_0_0,model.mask_1_0,epoch_loss_1,epoch_loss_2,final_loss,accuracy,precision,recall,f1,held_out_final_loss,held_out_accuracy,held_out_precision,held_out_recall,held_out_f1,min_positive,max_negative,attention_positive_0,attention_positive_1,attention_negative,learned_at_step,weights_sha256,config_sha256,error,later
0,0,2,,1,0,0.5,,0.25,,,,,,,,,,,,0.1,0.9,,,w,a,,
0,1,4,none,,,0.5,0.25,,,,,,,,,,,,,,,,3,\"x,y\",a,,true
1,0,2,,1,0,,,,,,,,,,,,,,,,,,,,a,no,
";
    assert_eq!(read(&out), expected);
}

#[test]
fn a_table_has_at_most_65536_columns() {
    let folder = folder("merge wide");
    let wide = |count: usize| {
        let row =
            json!({ "seed": 0, "error": "no", "epoch_loss": vec![1; count], "config_sha256": "a" });
        file(&folder, "wide.jsonl", &[row.to_string()])
    };
    let out = folder.join("out.csv");
    let message = refused(&[wide(65_534)], &out);
    assert!(
        message.contains("more than 65536 columns; merge to .jsonl"),
        "{message}"
    );
    merge(&[wide(65_533)], &out).unwrap();
    let header = read(&out);
    let header = header.lines().next().unwrap();
    assert_eq!(header.split(',').count(), 65_536);
    assert!(header.ends_with("epoch_loss_65533,config_sha256,error"));

    let mut row = serde_json::Map::new();
    row.insert("seed".to_owned(), json!(0));
    row.insert("config_sha256".to_owned(), json!("a"));
    row.insert("error".to_owned(), json!("no"));
    row.extend((0..65_535).map(|index| (format!("x{index}"), Value::Null)));
    let path = file(&folder, "fields.jsonl", &[Value::Object(row).to_string()]);
    let message = refused(&[path], &folder.join("fields.csv"));
    assert!(message.contains("65536 columns"), "{message}");
}
