//! A word's vectors in the sentences that hold it.

use headlight_analysis::contexts::{Occurrence, Plane, context_levels, occurrences};
use headlight_data::Splits;
use headlight_experiment::config::ExperimentConfig;
use serde_json::json;

use crate::message::{Answer, Message};

/// The first samples that hold a token, at most `most` occurrences: held-out ones, if there are any. And how many occurrences there
/// are in all.
pub(crate) fn find(config: &ExperimentConfig, splits: &Splits, token: u32, most: usize) -> Message {
    let split = splits.judging_samples();
    let found = occurrences(config, split, &[token], usize::MAX);
    let first = found.iter().take(most);
    let mut samples: Vec<u32> = first.map(|found| found.sample).collect();
    samples.dedup();
    let tokens = samples.iter().map(|&sample| split.tokens(sample as usize));
    let labels = samples.iter().map(|&sample| split.label(sample as usize));
    let head = json!({
        "held_out": u8::from(!splits.held_out.is_empty()),
        "samples": tokens.collect::<Vec<_>>(),
        "labels": labels.collect::<Vec<_>>(),
        "all": found.len(),
    });
    Message::of(&head, Vec::new())
}

/// The vectors of all occurrences of a token in these samples, in the plane of each level: `[level, occurrence, component]`.
pub(crate) fn planes(
    config: &ExperimentConfig,
    samples: &[Vec<u32>],
    token: u32,
    weights: &[f32],
) -> Answer {
    let samples = config.unlabelled(samples)?;
    let found = occurrences(config, &samples, &[token], usize::MAX);
    let levels = context_levels(config, weights, &samples, &found)?;
    let planes: Vec<Plane> = levels
        .iter()
        .map(|level| Plane::of(&level.vectors, config.model.d_model))
        .collect();
    let numbers = |found: &Occurrence| {
        let asked = u32::from(found.is_asked);
        [found.sample, found.position as u32, asked]
    };
    let places: Vec<[u32; 3]> = found.iter().map(numbers).collect();
    let names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
    let shares: Vec<[f64; 2]> = planes.iter().map(|plane| plane.shares).collect();
    let head = json!({ "levels": names, "shares": shares, "places": places });
    let points = planes.into_iter().flat_map(|plane| plane.points);
    let floats = points.flatten().map(|part| part as f32);
    Ok(Message::of(&head, floats.collect()))
}
