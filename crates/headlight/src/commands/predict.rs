//! `headlight predict`: classifies one sample with a run's model.

use std::fmt::Write;
use std::path::Path;

use console::measure_text_width;
use headlight_architecture::Parameter;
use headlight_data::Dataset;
use headlight_dump::AttentionDump;
use headlight_experiment::Predictions;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::predicted_class;
use headlight_trainer::Failure;
use headlight_trainer::dumping::{Model, Origin, Samples, dump};
use headlight_trainer::outputs::Output;
use headlight_trainer::printing::{print, print_json};
use headlight_trainer::samples;
use headlight_trainer::standard::{STANDARD, shown};
use serde_json::{Value, json};

use super::model::RunModel;
use super::predictions;
use crate::cli::PredictArguments;

/// The length of the bar of 1, in characters.
const BAR: f32 = 40.0;

/// The most rows of attention that are printed, and the fewest of one head.
const MOST_ROWS: usize = 200;
const LEAST_ROWS: usize = 4;

/// Prints the probabilities, and the attention of `[CLS]`.
///
/// # Errors
/// When the run or the tokens are invalid.
pub(crate) fn run(arguments: &PredictArguments) -> Result<(), Failure> {
    let weights = arguments.weights.as_deref();
    let model = RunModel::open(
        &arguments.run,
        weights,
        arguments.device.as_ref(),
        &arguments.swept,
    )?;
    let tokens = arguments.tokens.as_deref();
    if let Some(tokens) = tokens.filter(|tokens| !is_sample(tokens)) {
        let path = Path::new(tokens);
        if path != Path::new(STANDARD) && !path.exists() {
            return Err(Failure::Input(format!(
                "--tokens: there is no file {}; give token ids (\"3 7 4\"), a file .npz, .csv, .jsonl or .txt, or - for standard input",
                shown(path)
            )));
        }
        let inputs: Vec<&Path> = [path].into_iter().chain(weights).collect();
        let out = arguments.out.as_deref().unwrap_or(Path::new(STANDARD));
        let out = Output::new(out, &inputs, arguments.output.force)?;
        if arguments.form.json && out.is_standard() {
            let message = "--json prints one object, and a file has many samples; add --out predictions.jsonl";
            return Err(Failure::Input(message.to_owned()));
        }
        let count = predictions::write(model, path, out)?;
        return if arguments.form.json {
            print_json(&json!({"samples": count.samples, "correct": count.correct}))
        } else {
            out.tell(&count.to_string())
        };
    }
    if arguments.out.is_some() {
        let message = "--out needs a file of samples in --tokens";
        return Err(Failure::Input(message.to_owned()));
    }
    let (config, models) = (model.config.clone(), model.members.0.len());
    let dataset = match (&arguments.text, tokens) {
        (Some(text), _) => samples::parse_texts([text.as_str()], "--text", &config)?,
        (None, tokens) => {
            let ids: Vec<&str> = tokens.unwrap_or_default().split_whitespace().collect();
            samples::parse(ids.join(" ").as_bytes(), "--tokens", &config)?
        }
    };
    let rule = config.data.rule.as_ref();
    let label = rule.filter(|rule| rule.knows(dataset.tokens(0)));
    let label = label.map(|_| dataset.label(0));
    let dump = mean_dump(model, &dataset, label.is_some())?;
    if arguments.form.json {
        return print_json(&as_json(&dump, &config, label));
    }
    print(&describe(&dump, &config, label, models))
}

/// What the model computes for the sample. Of several models: the mean of their attention, and the prediction of the mean
/// of their probabilities.
fn mean_dump(model: RunModel, dataset: &Dataset, labelled: bool) -> Result<AttentionDump, Failure> {
    let samples = Samples {
        dataset,
        indices: vec![0],
        from_training: false,
        labelled,
    };
    let of = |parameters: &[Parameter]| {
        let one = Model {
            config: &model.config,
            parameters,
        };
        dump(one, &samples, Origin::default(), &model.device)
    };
    let [first, others @ ..] = &model.members.0[..] else {
        unreachable!("there is at least one model")
    };
    let mut mean = of(first)?;
    for parameters in others {
        let weights = of(parameters)?.attention_weights;
        let sums = mean.attention_weights.iter_mut().zip(weights);
        sums.for_each(|(sum, weight)| *sum += weight);
    }
    let count = model.members.0.len() as f32;
    if count > 1.0 {
        mean.attention_weights
            .iter_mut()
            .for_each(|sum| *sum /= count);
        let (session, members) = model.session(dataset.clone())?;
        let mut found = Predictions::default();
        members
            .predictor(&session)?
            .predict(dataset, &[0], &mut found);
        let narrow = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        (mean.logits, mean.probabilities) = (narrow(&found.logits), narrow(&found.probabilities));
    }
    Ok(mean)
}

/// What the model says of the sample, and the weights of `[CLS]` by layer, head and key.
fn as_json(dump: &AttentionDump, config: &ExperimentConfig, label: Option<u8>) -> Value {
    let logits: Vec<f64> = dump.logits.iter().map(|&logit| logit.into()).collect();
    let class = |class| predictions::class_value(&config.data, class);
    let cls = config.data.cls.position(config.data.seq_len);
    let of_cls = |layer, head| {
        let rows = dump.weights(0, layer, head);
        rows[cls * dump.dims.positions..][..dump.dims.positions].to_vec()
    };
    let attention = (0..dump.dims.layers)
        .map(|layer| (0..dump.dims.heads).map(move |head| (layer, head)))
        .map(|heads| heads.map(|(layer, head)| of_cls(layer, head)).collect())
        .collect::<Vec<Vec<Vec<f32>>>>();
    json!({
        "tokens": dump.tokens(0),
        "words": config.data.words.as_ref().map(|_| words(dump)),
        "predicted": class(predicted_class(&logits)),
        "label": label.map(class),
        "logits": dump.logits,
        "probabilities": dump.probabilities,
        "attention_of_cls": attention,
    })
}

/// Whether `--tokens` is a sample: numbers, blanks and commas. Anything else is a file, unless it has blanks and there is
/// no such file: then the message should be about the word that is no number.
fn is_sample(tokens: &str) -> bool {
    let mut characters = tokens.chars();
    let is_list = characters.all(|c| c.is_ascii_digit() || c.is_whitespace() || c == ',');
    is_list || tokens.contains(' ') && !Path::new(tokens).exists()
}

/// The texts of the sample's tokens.
fn words(dump: &AttentionDump) -> Vec<String> {
    let tokens = dump.tokens(0).iter();
    tokens.map(|&token| dump.token_string(token)).collect()
}

fn describe(
    dump: &AttentionDump,
    config: &ExperimentConfig,
    label: Option<u8>,
    models: usize,
) -> String {
    let data = &config.data;
    let class_name = |class: u8| match (data.classes.is_empty(), data.n_classes, class) {
        (false, ..) => data.class_name(class),
        (_, 2, 0) => "negative".to_owned(),
        (_, 2, _) => "positive".to_owned(),
        _ => format!("class {class}"),
    };
    let logits: Vec<f64> = dump.logits.iter().map(|&logit| logit.into()).collect();
    let predicted = class_name(predicted_class(&logits));
    let mut text = String::new();
    if let ([logit], [probability]) = (&dump.logits[..], &dump.probabilities[..]) {
        let of = data.classes.get(1);
        let of = of.map_or_else(String::new, |name| format!(" of {name}"));
        let _ = writeln!(
            text,
            "probability{of} {probability:.6} (logit {logit:.4}): {predicted}"
        );
    } else {
        let _ = writeln!(text, "{predicted}\n");
        let names: Vec<String> = (0..=u8::MAX).take(logits.len()).map(class_name).collect();
        let width = names.iter().map(|name| name.chars().count()).max();
        let width = width.unwrap_or(0).max("class 000".len());
        for ((name, logit), probability) in names.iter().zip(&logits).zip(&dump.probabilities) {
            let bar = bar(*probability);
            let _ = writeln!(
                text,
                "{name:<width$}  probability {probability:.6}  logit {logit:>9.4}  {bar}"
            );
        }
        text.push('\n');
    }
    if let (Some(rule), Some(label)) = (&config.data.rule, label) {
        let _ = writeln!(text, "rule: {}: {}", rule.describe(), class_name(label));
    }
    let of_mean = match models {
        1 => String::new(),
        _ => format!(", mean of {models} models"),
    };
    let names = words(dump);
    let all =
        (0..dump.dims.layers).flat_map(|layer| (0..dump.dims.heads).map(move |head| (layer, head)));
    let heads: Vec<(usize, usize)> = all.collect();
    let rows = (MOST_ROWS / heads.len()).clamp(LEAST_ROWS, dump.dims.positions.max(LEAST_ROWS));
    for &(layer, head) in heads.iter().take(MOST_ROWS / LEAST_ROWS) {
        let _ = writeln!(
            text,
            "\nattention of [CLS], layer {layer}, head {head}{of_mean}"
        );
        text += &attention(dump, config, layer, head, &names, rows);
    }
    if heads.len() > MOST_ROWS / LEAST_ROWS {
        let more = heads.len() - MOST_ROWS / LEAST_ROWS;
        let _ = writeln!(text, "\n{more} more heads: --json has the attention of all");
    }
    if !dump.meta.label_positions[0].is_empty() {
        text.push_str("\n* decides the label\n");
    }
    text
}

/// The attention of `[CLS]` on the positions with the largest weights, `rows` of them, and how much the others have.
fn attention(
    dump: &AttentionDump,
    config: &ExperimentConfig,
    layer: usize,
    head: usize,
    names: &[String],
    rows: usize,
) -> String {
    let positions = dump.dims.positions;
    let cls = config.data.cls.position(config.data.seq_len);
    let weights = &dump.weights(0, layer, head)[cls * positions..][..positions];
    let padding = config.model.attention.padding_token;
    let padding = padding.map(i64::from);
    let is_padding = |&position: &usize| Some(dump.tokens(0)[position]) == padding;
    let mut shown: Vec<usize> = (0..positions)
        .filter(|position| !is_padding(position))
        .collect();
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
        let (bar, gap) = (bar(weight), " ".repeat(width - measure_text_width(name)));
        let _ = writeln!(text, "{position:>4}{star} {name}{gap}  {weight:.4}  {bar}");
    }
    if !others.is_empty() {
        let sum: f32 = others.iter().map(|&position| weights[position]).sum();
        let _ = writeln!(text, "{} other positions together: {sum:.4}", others.len());
    }
    text
}

/// A bar for a number from 0 to 1.
fn bar(share: f32) -> String {
    "█".repeat((share * BAR).round() as usize)
}
