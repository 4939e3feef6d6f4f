//! What a model says at each position of a sample.

use std::fmt::Write;

use headlight_data::{DatasetConfig, Task};
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::{cross_entropy, predicted_class};
use headlight_report::Table;
use serde_json::{Value, json};

use super::predictions;
use crate::terminal;

/// What the model says at a position.
struct Answer {
    /// The most probable class.
    class: u32,
    /// Its probability.
    probability: f64,
    /// The label, if it is known.
    label: Option<u32>,
    /// The logarithm of the label's probability.
    log_probability: Option<f64>,
}

/// The answers at all positions of the first sample.
fn answers(dump: &AttentionDump) -> Vec<Answer> {
    let logits = dump.logits.chunks(dump.dims.logits);
    let pairs = logits.zip(&dump.labels).take(dump.dims.positions);
    let answer = |(logits, label): (&[f32], &f32)| {
        let logits: Vec<f64> = logits.iter().map(|&logit| logit.into()).collect();
        let class = predicted_class(&logits);
        let label = (!label.is_nan()).then_some(*label as u32);
        Answer {
            class,
            probability: (-cross_entropy(&logits, class)).exp(),
            label,
            log_probability: label.map(|label| -cross_entropy(&logits, label)),
        }
    };
    pairs.map(answer).collect()
}

/// The positions that are answered: those without padding, and `[CLS]` only where it asks for the first token.
fn answered(dump: &AttentionDump, data: &DatasetConfig) -> Vec<usize> {
    let cls = dump.cls().filter(|_| data.task != Task::NextToken);
    let held = dump.unpadded(0).into_iter();
    held.filter(|&position| Some(position) != cls).collect()
}

/// The predicted class of each position, or null where none is answered.
pub(super) fn as_json(dump: &AttentionDump, data: &DatasetConfig) -> Value {
    let answered = answered(dump, data);
    let all = answers(dump).into_iter().enumerate().map(|(index, one)| {
        if !answered.contains(&index) {
            return Value::Null;
        }
        let class = |class| predictions::class_value(data, class);
        json!({
            "predicted": class(one.class),
            "probability": one.probability,
            "label": one.label.map(class),
            "log_probability": one.log_probability,
        })
    });
    all.collect()
}

/// A row for each position that holds no padding; `names` are the texts of the tokens.
pub(super) fn describe(
    dump: &AttentionDump,
    config: &ExperimentConfig,
    names: &[String],
) -> String {
    let data = &config.data;
    let all = answers(dump);
    let held = answered(dump, data);
    let is_labelled = all.iter().any(|one| one.label.is_some());
    let asks_next = data.task == Task::NextToken;
    let label = if asks_next { "next token" } else { "label" };
    let header = [
        "position",
        "token",
        "answer",
        "probability",
        label,
        "log-probability",
    ];
    let columns = if is_labelled { 6 } else { 4 };
    let mut rows = Vec::new();
    for position in held {
        let one = &all[position];
        let mut row = vec![
            position.to_string(),
            names[position].clone(),
            data.class_name(one.class),
            format!("{:.4}", one.probability),
        ];
        if is_labelled {
            row.push(
                one.label
                    .map_or_else(String::new, |label| data.class_name(label)),
            );
            let log = one.log_probability;
            row.push(log.map_or_else(String::new, |log| format!("{log:.4}")));
        }
        rows.push(row);
    }
    let mut text = Table::of_rows(&header[..columns], rows).text(terminal::options());
    let logs: Vec<f64> = all.iter().filter_map(|one| one.log_probability).collect();
    if asks_next && !logs.is_empty() {
        let sum: f64 = logs.iter().sum();
        let bits = -sum / logs.len() as f64 / std::f64::consts::LN_2;
        let _ = writeln!(
            text,
            "\nlog-probability of all: {sum:.4}; {bits:.4} bits per token"
        );
    }
    text
}
