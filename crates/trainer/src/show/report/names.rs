//! How a report names classes and samples.

use headlight_data::{Dataset, DatasetConfig};
use headlight_experiment::config::ExperimentConfig;
use headlight_report::Section;

use crate::show::assessment::{MOST_CLASSES, short_class_names};

/// The most tokens of a sample that are shown.
const MOST_TOKENS: usize = 64;

/// The name of a class, shortened, or else its number.
pub(super) fn class_name(data: &DatasetConfig, class: usize) -> String {
    short_class_names(data).swap_remove(class)
}

/// A class in a sentence, shortened.
pub(crate) fn answer(data: &DatasetConfig, class: usize) -> String {
    if class < data.classes.len() {
        return class_name(data, class);
    }
    data.answer(class)
}

/// How many classes a table leaves out, if it does, and where they are.
pub(super) fn left_out(data: &DatasetConfig, place: &str) -> Option<Section> {
    let all = data.n_classes;
    (all > MOST_CLASSES).then(|| {
        Section::of_paragraph(format!("The first {MOST_CLASSES} of {all} classes{place}."))
    })
}

/// A sample's tokens; of a long one, the first.
pub(super) fn tokens(config: &ExperimentConfig, dataset: &Dataset, sample: usize) -> String {
    let shape = config.sample_shape();
    let all: Vec<u32> = shape.without_padding(dataset.tokens(sample)).collect();
    let shown = &all[..all.len().min(MOST_TOKENS)];
    let text = |&token: &u32| match config.data.words {
        None => token.to_string(),
        Some(_) => config.data.token_text(token, shape.padding_token),
    };
    let mut tokens: Vec<String> = shown.iter().map(text).collect();
    if shown.len() < all.len() {
        tokens.push(format!("... ({} tokens)", all.len()));
    }
    tokens.join(" ")
}
