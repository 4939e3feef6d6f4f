//! Samples that a model of the next token continues, as `headlight generate` does.

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Frozen;
use headlight_experiment::generate::{Sampling, generate};
use serde::Deserialize;
use serde_json::json;

use crate::message::Message;
use crate::refusal::told;

/// How tokens are drawn, and for how many samples.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Drawing {
    temperature: f64,
    top_k: Option<usize>,
    seed: u64,
    count: usize,
}

/// Samples that start with a prompt: for each its tokens, and whether the model ended it.
///
/// # Errors
/// When the model, its weights or the prompt do not suit.
pub(crate) fn generated(
    config: &ExperimentConfig,
    weights: &[f32],
    prompt: &[u32],
    drawing: Drawing,
) -> Result<Message, String> {
    config.validate().map_err(|invalid| told(&invalid))?;
    let frozen = Frozen::new(config).map_err(|error| error.to_string())?;
    frozen.check(weights).map_err(|error| error.to_string())?;
    let Drawing {
        temperature,
        top_k,
        seed,
        count,
    } = drawing;
    let sampling = Sampling {
        temperature,
        top_k,
        seed,
    };
    let all = generate(config, weights, prompt, count, sampling);
    let all = all.map_err(|error| error.to_string())?;
    let samples: Vec<_> = all
        .iter()
        .map(|one| (&one.tokens[..], one.has_ended))
        .collect();
    Ok(Message::of(&json!({ "samples": samples }), Vec::new()))
}
