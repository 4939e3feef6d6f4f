//! The metrics, their table, and lines of `metrics.jsonl`.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use headlight_experiment::metrics::{
    Criterion, METRICS, Metric, MetricKind, StepMetrics, Tally, cross_entropy, probabilities,
};
use serde_json::{Value, from_str, from_value, json, to_value};

/// 3 positives found and 2 missed, 1 negative called positive and 4 not.
fn tally() -> Tally {
    let mut tally = Tally::new(2);
    for (logit, probability, loss, label) in [
        (2.0, 0.9, 0.25, 1),
        (1.0, 0.7, 0.25, 1),
        (3.0, 0.95, 0.25, 1),
        (-1.0, 0.2, 1.0, 1),
        (0.0, 0.5, 0.75, 1),
        (0.5, 0.6, 1.0, 0),
        (0.0, 0.5, 0.5, 0),
        (-1.0, 0.3, 0.5, 0),
        (-2.0, 0.1, 0.25, 0),
        (-3.0, 0.05, 0.25, 0),
    ] {
        tally.add(&[logit], &[probability], loss, label);
    }
    tally
}

#[test]
fn the_table_names_every_metric() {
    let table = METRICS.map(|info| (info.name, info.decimals, info.row[0], info.kind));
    let expected = [
        ("loss", 5, "final_loss", MetricKind::Ratio),
        ("accuracy", 5, "accuracy", MetricKind::Ratio),
        ("precision", 4, "precision", MetricKind::Ratio),
        ("recall", 4, "recall", MetricKind::Ratio),
        ("f1", 4, "f1", MetricKind::Ratio),
        ("min_positive", 4, "min_positive", MetricKind::Extreme),
        ("max_negative", 4, "max_negative", MetricKind::Extreme),
        (
            "attention_positive",
            3,
            "deciding_attention_positive",
            MetricKind::Attention,
        ),
        (
            "attention_negative",
            3,
            "deciding_attention_negative",
            MetricKind::Attention,
        ),
        (
            "uniform_positive",
            3,
            "deciding_uniform_positive",
            MetricKind::Attention,
        ),
        (
            "uniform_negative",
            3,
            "deciding_uniform_negative",
            MetricKind::Attention,
        ),
    ];
    assert_eq!(table, expected);
    assert!(METRICS.iter().all(|info| !info.label.is_empty()));
}

#[test]
fn counts_and_means() {
    let mut tally = tally();
    for (label, paid, uniform) in [
        (1, 0.25, 0.125),
        (1, 0.75, 0.375),
        (0, 0.5, 0.25),
        (0, 0.5, 0.25),
        (0, 0.875, 0.625),
    ] {
        tally.add_attention(label, paid, Some(uniform));
    }
    let metrics = tally.metrics().unwrap();
    let found: Vec<_> = metrics
        .entries()
        .map(|(info, value)| (info.name, value))
        .collect();
    let expected = [
        ("loss", 0.5),
        ("accuracy", 0.7),
        ("precision", 0.75),
        ("recall", 0.6),
        ("f1", 2.0 / 3.0),
        ("min_positive", 0.2),
        ("max_negative", 0.6),
        ("attention_positive", 0.5),
        ("attention_negative", 0.625),
        ("uniform_positive", 0.25),
        ("uniform_negative", 0.375),
    ];
    assert_eq!(found, expected.map(|(name, value)| (name, Some(value))));
    assert_eq!(metrics[Metric::F1], Some(2.0 / 3.0));
    assert_eq!(metrics[Metric::MaxNegative], Some(0.6));
}

#[test]
fn a_metric_without_samples_is_none() {
    assert_eq!(Tally::new(2).metrics(), None);
    let mut tally = Tally::new(2);
    tally.add(&[-1.0], &[0.3], 0.5, 0);
    let metrics = tally.metrics().unwrap();
    for metric in [
        Metric::Precision,
        Metric::Recall,
        Metric::F1,
        Metric::MinPositive,
        Metric::AttentionPositive,
        Metric::AttentionNegative,
        Metric::UniformPositive,
    ] {
        assert_eq!(metrics[metric], None, "{metric:?}");
    }
    assert_eq!(metrics[Metric::Accuracy], Some(1.0));
    assert_eq!(metrics[Metric::MaxNegative], Some(0.3));
}

#[test]
fn losses_of_log_odds() {
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-13, "{found}");
    let sigmoid = |logit: f64| probabilities(&[logit])[0];
    close(sigmoid(0.0), 0.5);
    close(sigmoid(2.0), 1.0 / (1.0 + (-2.0_f64).exp()));
    close(sigmoid(-2.0) + sigmoid(2.0), 1.0);
    for logit in [-3.0_f64, -0.5, 0.0, 0.5, 3.0] {
        close(cross_entropy(&[logit], 1), -sigmoid(logit).ln());
        close(cross_entropy(&[logit], 0), -(1.0 - sigmoid(logit)).ln());
    }
}

fn criterion(name: &str) -> Criterion {
    from_value(json!(name)).unwrap()
}

#[test]
fn criteria_are_named_and_compared() {
    for (name, held_out, less_is_better) in [
        ("loss", false, true),
        ("accuracy", false, false),
        ("f1", false, false),
        ("held_out_loss", true, true),
        ("held_out_accuracy", true, false),
        ("held_out_f1", true, false),
    ] {
        let criterion = criterion(name);
        assert_eq!(criterion.name(), name);
        assert_eq!(to_value(criterion).unwrap(), json!(name));
        assert_eq!(criterion.is_held_out(), held_out);
        assert_eq!(criterion.is_better(0.25, 0.5), less_is_better);
        assert_eq!(criterion.is_better(0.5, 0.25), !less_is_better);
        assert!(!criterion.is_better(0.5, 0.5));
    }
    let message = from_value::<Criterion>(json!("precision"))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("`precision`") && message.contains("loss, accuracy, f1, held_out_loss")
    );
}

#[test]
fn a_line_has_both_splits() {
    let line = StepMetrics {
        epoch: 1,
        step: 3,
        train_loss: Some(0.625),
        train: tally().metrics().unwrap(),
        held_out: Some({
            let mut tally = Tally::new(2);
            tally.add(&[1.0], &[0.75], 0.125, 1);
            tally.metrics().unwrap()
        }),
        tests: Vec::new(),
        weight_norm: None,
        gradient_norm: None,
    };
    let written = serde_json::to_string(&line).unwrap();
    let start = r#"{"epoch":1,"step":3,"train_loss":0.625,"loss":0.5,"accuracy":0.7,"#;
    assert!(written.starts_with(start), "{written}");
    let value: Value = from_str(&written).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 3 + 2 * METRICS.len());
    assert_eq!(value["held_out_loss"], json!(0.125));
    assert_eq!(value["held_out_max_negative"], Value::Null);
    for (name, expected) in [
        ("loss", 0.5),
        ("accuracy", 0.7),
        ("held_out_loss", 0.125),
        ("held_out_f1", 1.0),
    ] {
        assert_eq!(line.judged_by(criterion(name)), Some(expected));
    }
    let read = StepMetrics::read(&value).unwrap();
    assert_eq!(read, line);
    let alone = StepMetrics {
        held_out: None,
        ..line
    };
    assert_eq!(alone.judged_by(criterion("held_out_loss")), None);
    for key in ["epoch", "step", "train_loss", "loss", "accuracy"] {
        let mut less = value.clone();
        less.as_object_mut().unwrap().remove(key);
        assert_eq!(StepMetrics::read(&less), None, "{key}");
    }
}
