//! Rows of any numbers and names are read back as they were: by `merge`, whose files are the same rows, as JSONL and as CSV.
//!
//! `PROPTEST_CASES` sets the number of cases.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{file, folder};
use headlight_analysis::measures::MeasureValue;
use headlight_experiment::config::{ExperimentConfig, MeasureName};
use headlight_experiment::evaluate::Evaluation;
use headlight_experiment::metrics::{Tally, TestMetrics};
use headlight_sweep::{Row, RunOutcome};
use headlight_trainer::files::config;
use headlight_trainer::files::outputs::Output;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Fewer cases than proptest has by default.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if is_set { config.cases } else { 24 },
        ..config
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1.0_f64, any::<f64>(), Just(5e-324), Just(-0.0)]
        .prop_filter("finite", |number| number.is_finite())
}

/// Up to two measures: a number, and lists of two heads.
fn measures() -> impl Strategy<Value = Vec<(MeasureName, MeasureValue)>> {
    let number = prop_oneof![
        Just(MeasureValue::Undefined),
        number().prop_map(MeasureValue::Number)
    ];
    let heads = prop::collection::vec(prop::array::uniform2(self::number()), 1..3);
    (prop::option::of(number), prop::option::of(heads)).prop_map(|(number, heads)| {
        let heads = heads.map(|heads| heads.into_iter().map(Vec::from).collect());
        let heads =
            heads.map(|heads| (MeasureName::DecidingAttention, MeasureValue::PerHead(heads)));
        let number = number.map(|number| (MeasureName::Gap, number));
        heads.into_iter().chain(number).collect()
    })
}

fn outcome() -> impl Strategy<Value = RunOutcome> {
    let numbers = || prop::collection::vec(number(), 1..4);
    let samples = prop::collection::vec((-9.0..9.0_f64, 0.0..1.0_f64, 0_u32..2), 1..5);
    let drawn = (
        numbers(),
        samples,
        prop::option::of(numbers()),
        any::<Option<usize>>(),
        "[0-9a-f]{0,8}",
        measures(),
    );
    drawn.prop_map(
        |(epoch_loss, samples, attention_positive, learned_at_step, weights_sha256, measures)| {
            let mut tally = Tally::new(2);
            for (logit, loss, label) in samples {
                tally.add(&[logit], &[1.0 / (1.0 + (-logit).exp())], loss, label);
            }
            let train = tally.metrics().unwrap();
            RunOutcome {
                epoch_loss,
                tests: attention_positive
                    .iter()
                    .map(|_| TestMetrics {
                        name: "longer".to_owned(),
                        metrics: train.clone(),
                    })
                    .collect(),
                held_out: learned_at_step.map(|_| train.clone()),
                attended: Evaluation {
                    metrics: train.clone(),
                    attention_positive,
                    attention_negative: None,
                },
                train,
                learned_at_step,
                measures,
                weights_sha256,
            }
        },
    )
}

/// A config whose rows have a measure and a test set only if the outcome has them, and sometimes no rule.
fn config_of(outcome: &Result<RunOutcome, String>) -> ExperimentConfig {
    let mut config = config::load(Path::new("quick"), &[]).unwrap();
    if let Ok(outcome) = outcome {
        config.report.measures = outcome.measures.iter().map(|(name, _)| *name).collect();
        let sets = outcome.tests.iter().map(|set| json!({"name": set.name}));
        config.tests = serde_json::from_value(sets.collect()).unwrap();
        config.data.rule = config.data.rule.filter(|_| outcome.held_out.is_some());
    }
    config
}

/// A key's value in a grid, or the message of a run that failed.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(Value::from),
        number().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<String>().prop_map(Value::from)
    ]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let outcome = prop_oneof![4 => outcome().prop_map(Ok), 1 => any::<String>().prop_map(Err)];
    let outcomes = prop::collection::btree_map(any::<u64>(), outcome, 1..6);
    (value(), value(), outcomes).prop_map(|(rate, width, outcomes)| {
        let row = |(seed, outcome)| Row {
            config: config_of(&outcome).into(),
            seed,
            point: Some(0),
            values: vec![
                ("training.learning_rate".to_owned(), rate.clone()),
                ("model.d_model".to_owned(), width.clone()),
            ],
            outcome,
            config_sha256: "a".to_owned(),
        };
        outcomes.into_iter().map(row).collect()
    })
}

/// A cell of a table as the value that JSON has; a text is itself.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn rows_are_read_back(rows in rows(), order in any::<prop::sample::Index>()) {
        let folder = folder("rows come back");
        let lines: Vec<String> = rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        let (first, second) = lines.split_at(order.index(lines.len()));
        let mut paths = vec![file(&folder, "1.jsonl", second)];
        if !first.is_empty() {
            paths.push(file(&folder, "2.jsonl", first));
        }
        let out = folder.join("all.jsonl");
        headlight_sweep::merge(&paths, Output::new(&out.clone().into(), true).unwrap()).unwrap();
        prop_assert_eq!(fs::read_to_string(&out).unwrap(), lines.join("\n") + "\n");
        let table = folder.join("all.csv");
        headlight_sweep::merge(&paths, Output::new(&table.clone().into(), true).unwrap()).unwrap();
        let mut table = csv::Reader::from_path(&table).unwrap();
        let header = table.headers().unwrap().clone();
        let records: Vec<csv::StringRecord> = table.records().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(records.len(), rows.len());
        for (line, record) in lines.iter().zip(&records) {
            let row: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
            for (name, found) in header.iter().zip(record) {
                if let Some((layer, head)) = name.strip_prefix("deciding_attention_").and_then(|places| places.split_once('_')) {
                    let pointer = format!("/deciding_attention/{layer}/{head}");
                    let row: Value = serde_json::from_str(line).unwrap();
                    prop_assert_eq!(found, cell(row.pointer(&pointer)));
                    continue;
                }
                if name.starts_with("tests.") {
                    let pointer = format!("/{}", name.replace('.', "/"));
                    let row: Value = serde_json::from_str(line).unwrap();
                    prop_assert_eq!(found, cell(row.pointer(&pointer)));
                    continue;
                }
                let listed = name.rsplit_once('_').and_then(|(field, index)| Some((row.get(field)?.as_array()?, index.parse::<usize>().ok()?, field)));
                let expected = match listed {
                    Some((list, index, field)) => cell(list.get(index - usize::from(field == "epoch_loss"))),
                    None => cell(row.get(name)),
                };
                prop_assert_eq!(found, expected, "{}", name);
            }
        }
    }
}
