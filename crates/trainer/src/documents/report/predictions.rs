//! What the trained model says of the reported samples.

use headlight_data::{Dataset, DatasetConfig};
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_inspector::{Section, Table, largest};

use super::names::{class_name, tokens};

/// The most probabilities of a sample.
const MOST_PROBABILITIES: usize = 8;

pub(super) fn section(config: &ExperimentConfig, shown: &Dataset, dump: &AttentionDump) -> Section {
    let data = &config.data;
    let header = match (data.n_classes, &data.classes[..]) {
        (2, []) => "probability".to_owned(),
        (2, _) => format!("probability of {}", class_name(data, 1)),
        (n_classes, _) if n_classes > MOST_PROBABILITIES => {
            format!("the {MOST_PROBABILITIES} largest probabilities, by class")
        }
        _ => "probability by class".to_owned(),
    };
    let names = ["sample", "tokens", "label"].map(str::to_owned);
    let header = names.into_iter().chain([header]).collect();
    let rows = (0..dump.dims.samples).map(|row| {
        let sample = dump.meta.samples[row].unwrap_or(row);
        vec![
            sample.to_string(),
            tokens(config, shown, sample),
            class_name(data, shown.label(sample) as usize),
            probabilities(data, dump.probabilities(row)),
        ]
    });
    let table = Table::of_text("", "", [header].into_iter().chain(rows).collect());
    Section {
        title: "Predictions".to_owned(),
        tables: vec![table.left_aligned(&["tokens"])],
        ..Section::default()
    }
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
