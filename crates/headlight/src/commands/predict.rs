//! `headlight predict`: classifies one sample with a run's model.

use std::fmt::Write;

use headlight_data::Dataset;
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_trainer::Failure;
use headlight_trainer::dumping::{Model, Origin, Samples, dump};
use headlight_trainer::files::{note, print};
use headlight_trainer::opening::open_device;
use headlight_trainer::run_dir::RunDir;
use headlight_trainer::samples::parse_tokens;

use crate::cli::PredictArguments;

/// The length of the bar of weight 1, in characters.
const BAR: f32 = 40.0;

/// Prints the probability, and the attention of `[CLS]`.
///
/// # Errors
/// When the run or the tokens are invalid.
pub(crate) fn run(arguments: &PredictArguments) -> Result<(), Failure> {
    let run = RunDir::open(&arguments.run)?;
    if !run.has_ended() {
        note("the run has not ended; its saved weights are from an earlier step");
    }
    let config = run.config()?;
    let tokens = parse_tokens(&arguments.tokens, &config)
        .map_err(|message| Failure::Input(format!("--tokens: {message}")))?;
    let device = arguments.device.as_ref();
    let device = open_device(device.unwrap_or(&config.compute.device))?;
    let parameters = run.load_weights(&config)?;
    let mut dataset = Dataset::empty(config.data.seq_len);
    let rule = config.data.rule.as_ref();
    let label = rule.map(|rule| rule.label_for(&tokens));
    dataset.push(&tokens, label.unwrap_or_default());
    let samples = Samples {
        dataset: &dataset,
        indices: vec![0],
        from_training: false,
        labelled: label.is_some(),
    };
    let model = Model {
        config: &config,
        parameters: &parameters,
    };
    let dump = dump(model, &samples, Origin::default(), &device)?;
    print(&describe(&dump, &config, label))
}

fn describe(dump: &AttentionDump, config: &ExperimentConfig, label: Option<u8>) -> String {
    let probability = dump.probabilities[0];
    let class_name = |positive| if positive { "positive" } else { "negative" };
    let mut text = format!(
        "probability {probability:.6} (logit {:.4}): {}\n",
        dump.logits[0],
        class_name(dump.logits[0] > 0.0)
    );
    if let (Some(rule), Some(label)) = (&config.data.rule, label) {
        let _ = writeln!(
            text,
            "rule: {}: {}",
            rule.describe(),
            class_name(label == 1)
        );
    }
    let positions = dump.dims.positions;
    let cls = config.data.cls.position(config.data.seq_len);
    let names: Vec<String> = dump
        .tokens(0)
        .iter()
        .map(|&token| dump.token_string(token))
        .collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    for layer in 0..dump.dims.layers {
        for head in 0..dump.dims.heads {
            let _ = writeln!(text, "\nattention of [CLS], layer {layer}, head {head}");
            let row = &dump.weights(0, layer, head)[cls * positions..][..positions];
            for (position, (&weight, name)) in row.iter().zip(&names).enumerate() {
                let decides = dump.meta.label_positions[0].contains(&position);
                let star = if decides { '*' } else { ' ' };
                let bar = "█".repeat((weight * BAR).round() as usize);
                let row = format!("{position:>4}{star} {name:width$}  {weight:.4}  {bar}");
                let _ = writeln!(text, "{row}");
            }
        }
    }
    if !dump.meta.label_positions[0].is_empty() {
        text.push_str("\n* decides the label\n");
    }
    text
}
