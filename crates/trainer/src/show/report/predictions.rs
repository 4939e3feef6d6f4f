//! What the trained model says of the reported samples.

use headlight_data::{Dataset, DatasetConfig, IGNORED};
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::predicted_class;
use headlight_report::{Section, Table, largest};

use super::names::{class_name, tokens};

/// The most probabilities of a sample.
const MOST_PROBABILITIES: usize = 8;

pub(super) fn section(config: &ExperimentConfig, shown: &Dataset, dump: &AttentionDump) -> Section {
    let data = &config.data;
    if data.task.is_per_position() {
        return positions(config, shown, dump);
    }
    let header = match (data.n_classes, &data.classes[..]) {
        (2, []) => "probability".to_owned(),
        (2, _) => format!("probability of {}", class_name(data, 1)),
        (n_classes, _) if n_classes > MOST_PROBABILITIES => {
            format!("the {MOST_PROBABILITIES} largest probabilities, by class")
        }
        _ => "probability by class".to_owned(),
    };
    let header = ["sample", "tokens", "label", &header];
    let rows = (0..dump.dims.samples).map(|row| {
        let sample = dump.meta.samples[row].unwrap_or(row);
        vec![
            sample.to_string(),
            tokens(config, shown, sample),
            class_name(data, shown.label(sample) as usize),
            probabilities(data, dump.probabilities(row)),
        ]
    });
    let table = Table::of_rows(&header, rows).left_aligned(&["tokens"]);
    Section::titled("Predictions", [], [table])
}

/// With an answer per position: the labels and the answers of each sample.
fn positions(config: &ExperimentConfig, train: &Dataset, dump: &AttentionDump) -> Section {
    let data = &config.data;
    let header = ["sample", "tokens", "labels", "answers"];
    let name = |class: u32| match class {
        IGNORED => "\u{b7}".to_owned(),
        class => data.class_name(class),
    };
    let (positions, logits) = (dump.dims.positions, dump.dims.logits);
    let rows = (0..dump.dims.samples).map(|shown| {
        let sample = dump.meta.samples[shown].unwrap_or(shown);
        let held = dump.unpadded(shown);
        let labels = train.labels_of(sample);
        let row = &dump.logits[shown * positions * logits..][..positions * logits];
        let answer = |&position: &usize| match labels[position] {
            IGNORED => name(IGNORED),
            _ => name(predicted_class(&row[position * logits..][..logits])),
        };
        let joined = |cells: Vec<String>| cells.join(" ");
        vec![
            sample.to_string(),
            tokens(config, train, sample),
            joined(held.iter().map(|&index| name(labels[index])).collect()),
            joined(held.iter().map(answer).collect()),
        ]
    });
    let table = Table::of_rows(&header, rows).left_aligned(&header[1..]);
    let dots = "One label and one answer per position; a dot stands where none counts.";
    Section::titled("Predictions", [dots.to_owned()], [table])
}

/// The probabilities by class; of many, the largest.
fn probabilities(data: &DatasetConfig, probabilities: &[f32]) -> String {
    // Of two classes the second is shown, also where each has a logit.
    let probabilities = match probabilities {
        [_, second] => std::slice::from_ref(second),
        all => all,
    };
    let shown: Vec<String> = match probabilities.len() {
        ..=MOST_PROBABILITIES => probabilities.iter().map(|p| format!("{p:.6}")).collect(),
        _ => largest(probabilities)
            .into_iter()
            .take(MOST_PROBABILITIES)
            .map(|class| format!("{}: {:.6}", class_name(data, class), probabilities[class]))
            .collect(),
    };
    shown.join(", ")
}
