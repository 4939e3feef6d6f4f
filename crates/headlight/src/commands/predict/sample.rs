//! What a model says of one sample: its prediction, and where the readout position looks.

use std::fmt::Write;

use console::measure_text_width;
use headlight_data::Dataset;
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::predicted_class;
use headlight_report::{counted, shorten_apart};
use headlight_trainer::Failure;
use headlight_trainer::session::dumping::{self, DumpModel, DumpSamples, Origin};
use headlight_trainer::session::opening::open_device;
use serde_json::{Value, json};

use super::{positions, predictions};
use crate::interventions::Interventions;
use crate::model::RunModel;

/// The length of the bar of 1, in characters, where there is room.
const BAR: f32 = 40.0;

/// The columns of a terminal, those of the widest name of a class, and those between it and its bar.
const COLUMNS: usize = 80;
const MAX_NAME_COLUMNS: usize = 24;
const NUMBERS: usize = "  probability 0.000000  logit   -0.0000  ".len();

/// The most rows of attention that are printed, and the fewest of one head.
const MAX_ROWS: usize = 200;
const MIN_ROWS: usize = 4;

/// What the model computes for the sample.
pub(super) fn dump(
    model: &RunModel,
    dataset: &Dataset,
    labelled: bool,
) -> Result<AttentionDump, Failure> {
    let samples = DumpSamples {
        dataset,
        indices: vec![0],
        numbered: false,
        labelled,
    };
    let origin = Origin {
        step: model.step(),
        ..Origin::default()
    };
    let one = DumpModel {
        config: &model.config,
        parameters: &model.parameters,
    };
    let device = open_device(&model.config.compute.device)?;
    let interventions = model.interventions.engine(1)?;
    dumping::dump(one, &samples, origin, &device, &interventions)
}

/// What the model says of the sample, and the weights of the readout position by layer, head and key.
pub(super) fn as_json(
    dump: &AttentionDump,
    config: &ExperimentConfig,
    label: Option<u32>,
) -> Value {
    let class = |class| predictions::class_value(&config.data, class);
    let predicted = if dump.dims.per_position {
        positions::as_json(dump, &config.data)
    } else {
        class(predicted_class(&dump.logits))
    };
    let heads = |layer| {
        let heads = 0..dump.dims.heads;
        heads
            .map(move |head| row_of_reader(dump, layer, head))
            .collect()
    };
    let attention: Vec<Vec<&[f32]>> = (0..dump.dims.layers).map(heads).collect();
    json!({
        "step": dump.meta.step,
        "tokens": dump.tokens(0),
        "words": config.data.words.as_ref().map(|_| words(dump)),
        "class_names": config.data.classes,
        "predicted": predicted,
        "label": label.map(class),
        "logits": dump.logits,
        "probabilities": dump.probabilities,
        "attention_of_readout": attention,
    })
}

/// The attention of the readout position. `[key]`
fn row_of_reader(dump: &AttentionDump, layer: usize, head: usize) -> &[f32] {
    let positions = dump.dims.positions;
    &dump.weights(0, layer, head)[dump.readout_position(0) * positions..][..positions]
}

/// The texts of the sample's tokens.
fn words(dump: &AttentionDump) -> Vec<String> {
    let tokens = dump.tokens(0).iter();
    tokens.map(|&token| dump.token_string(token)).collect()
}

/// What the model predicts, and the answer of the rule.
pub(super) fn describe(
    dump: &AttentionDump,
    config: &ExperimentConfig,
    label: Option<u32>,
) -> String {
    let data = &config.data;
    if dump.dims.per_position {
        return positions::describe(dump, config, &words(dump));
    }
    let logits = &dump.logits;
    let predicted = data.answer(predicted_class(logits) as usize);
    let mut text = String::new();
    if let ([logit], [probability]) = (&dump.logits[..], &dump.probabilities[..]) {
        let _ = writeln!(
            text,
            "answer: {predicted} (probability of {} {probability:.6}, logit {logit:.4})",
            data.answer(1)
        );
    } else {
        let _ = writeln!(text, "answer: {predicted}\n");
        let names: Vec<String> = (0..logits.len()).map(|class| data.answer(class)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let names = shorten_apart(&names, MAX_NAME_COLUMNS);
        let width = names.iter().map(|name| measure_text_width(name)).max();
        let width = width.unwrap_or(0).max("class 000".len());
        let room = COLUMNS.saturating_sub(width + NUMBERS) as f32;
        for ((name, logit), probability) in names.iter().zip(logits).zip(&dump.probabilities) {
            let bar = bar(*probability, room.min(BAR));
            let gap = " ".repeat(width - measure_text_width(name));
            let _ = writeln!(
                text,
                "{name}{gap}  probability {probability:.6}  logit {logit:>9.4}  {bar}"
            );
        }
        text.push('\n');
    }
    if let (Some(rule), Some(label)) = (&config.data.rule, label) {
        let _ = writeln!(
            text,
            "rule: {} ({})",
            data.answer(label as usize),
            rule.describe()
        );
    }
    text
}

/// The attention of the readout position in each head that is not removed.
pub(super) fn heads(dump: &AttentionDump, interventions: &Interventions) -> String {
    let mut text = String::new();
    let (names, reader) = (words(dump), dump.readout_name(0));
    let note = dump.mean_note();
    let all =
        (0..dump.dims.layers).flat_map(|layer| (0..dump.dims.heads).map(move |head| (layer, head)));
    let heads: Vec<(usize, usize)> = all.collect();
    let rows = (MAX_ROWS / heads.len()).clamp(MIN_ROWS, dump.dims.positions.max(MIN_ROWS));
    for &(layer, head) in heads.iter().take(MAX_ROWS / MIN_ROWS) {
        let removal = interventions.removal((layer, head));
        let _ = writeln!(
            text,
            "\nattention of {reader}, layer {layer}, head {head}{note}{removal}"
        );
        if removal.is_empty() {
            text += &attention(dump, layer, head, &names, rows);
        }
    }
    if heads.len() > MAX_ROWS / MIN_ROWS {
        let more = counted(heads.len() - MAX_ROWS / MIN_ROWS, "more head");
        let _ = writeln!(text, "\n{more}: --json has the attention of all");
    }
    if !dump.meta.label_positions[0].is_empty() {
        text.push_str("\n*: a position that decides the label\n");
    }
    text
}

/// The attention of the readout position on the positions with the largest weights, `rows` of them, and how much the others have.
fn attention(
    dump: &AttentionDump,
    layer: usize,
    head: usize,
    names: &[String],
    rows: usize,
) -> String {
    let weights = row_of_reader(dump, layer, head);
    let mut shown = dump.unpadded(0);
    shown.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let others = shown.split_off(rows.min(shown.len()));
    shown.sort_unstable();
    let width = names
        .iter()
        .map(|name| measure_text_width(name))
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for position in shown {
        let decides = dump.meta.label_positions[0].contains(&position);
        let star = if decides { '*' } else { ' ' };
        let (name, weight) = (&names[position], weights[position]);
        let (bar, gap) = (
            bar(weight, BAR),
            " ".repeat(width - measure_text_width(name)),
        );
        let _ = writeln!(text, "{position:>4}{star} {name}{gap}  {weight:.4}  {bar}");
    }
    if !others.is_empty() {
        let sum: f32 = others.iter().map(|&position| weights[position]).sum();
        let others = counted(others.len(), "other position");
        let _ = writeln!(text, "{others} together: {sum:.4}");
    }
    text
}

/// A bar for a number from 0 to 1, at which it has this length.
fn bar(share: f32, most: f32) -> String {
    "█".repeat((share * most).round() as usize)
}
