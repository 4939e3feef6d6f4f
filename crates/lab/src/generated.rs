//! Samples that a model of the next token continues, as `headlight generate` does.

use headlight_analysis::generate::{Sampling, generate};
use headlight_experiment::config::ExperimentConfig;
use serde::Deserialize;
use serde_json::json;

use crate::message::{Answer, Message};

/// How tokens are drawn, and for how many samples.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Drawing {
    temperature: f64,
    top_k: Option<usize>,
    seed: u64,
    count: usize,
}

/// Samples that start with a prompt: for each its tokens, and whether the model ended it.
pub(crate) fn generated(
    config: &ExperimentConfig,
    weights: &[f32],
    prompt: &[u32],
    drawing: Drawing,
) -> Answer {
    let sampling = Sampling {
        temperature: drawing.temperature,
        top_k: drawing.top_k,
        seed: drawing.seed,
        length: None,
    };
    let all = generate(config, weights, prompt, drawing.count, sampling)?;
    let samples: Vec<_> = all.iter().map(|one| (&one.tokens, one.has_ended)).collect();
    Ok(Message::of(&json!({ "samples": samples }), Vec::new()))
}
