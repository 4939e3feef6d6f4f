//! What a model computes for some samples.

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Recording;
use serde_json::json;

use crate::message::{Answer, Message};
use crate::samples::judged;
use crate::view::View;

/// Probabilities, logits and all arrays, each with its name, its length, and its axes with their extents. The answer also says what a rule
/// makes of the samples.
pub(crate) fn look(config: &ExperimentConfig, view: &mut View, weights: &[f32]) -> Answer {
    let mut floats = Vec::new();
    let all = view.append(weights, Recording::All, &mut floats)?;
    let head = json!({
        "arrays": view.arrays(Recording::All),
        "mask": bits(all.mask),
        "judged": judged(config, &view.samples),
    });
    Ok(Message::of(&head, floats))
}

/// What a training keeps of some samples, with the weights of each of some steps. The answer also says what a rule makes
/// of the samples.
pub(crate) fn watch(config: &ExperimentConfig, view: &mut View, weights: &[f32]) -> Answer {
    let size = view.frozen.size();
    let row: usize = view.row().iter().map(|(_, length)| length).sum();
    let mut rows = Vec::with_capacity(weights.len() / size * row);
    for weights in weights.chunks(size) {
        view.append(weights, Recording::Attention, &mut rows)?;
    }
    let head = json!({
        "row": view.row(),
        "judged": judged(config, &view.samples),
    });
    Ok(Message::of(&head, rows))
}

/// A mask as 0 and 1.
pub(crate) fn bits(mask: Vec<bool>) -> Vec<u8> {
    mask.into_iter().map(u8::from).collect()
}
