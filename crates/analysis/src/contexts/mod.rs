//! Vectors that move: a word alone, and where it occurs, after each layer.

mod plane;
mod separation;

use headlight_data::Dataset;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, FrozenModel, Recording};

pub use plane::Plane;
pub use separation::{MIN_OCCURRENCES_PER_CLASS, Separation};

/// An occurrence of a token in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The sample's place in its dataset.
    pub sample: u32,
    /// The position, `[CLS]` counted.
    pub position: usize,
    /// The token.
    pub token: u32,
    /// Whether the sample's class is about this occurrence: the marker stands before it, or, in a sample without a
    /// marker, it is the only occurrence.
    pub is_asked: bool,
}

/// The vectors of all occurrences at one place of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextLevel {
    /// `word`: the token's own vector; `position`: the first layer's input; `block_0`: that layer's output, and so on.
    pub name: String,
    /// `[occurrence, d_model]`
    pub vectors: Vec<f32>,
}

/// The first occurrences of tokens, at most `most`, in the order of the samples.
pub fn occurrences(
    config: &ExperimentConfig,
    dataset: &Dataset,
    tokens: &[u32],
    most: usize,
) -> Vec<Occurrence> {
    let of_sample = |sample: usize| {
        let held = dataset.tokens(sample);
        let asked = config
            .data
            .rule
            .as_ref()
            .and_then(|rule| rule.asked_position(held));
        let found = (0..held.len()).filter(|&position| tokens.contains(&held[position]));
        let found: Vec<usize> = found.collect();
        let is_only = found.len() == 1;
        found.into_iter().map(move |position| Occurrence {
            sample: sample as u32,
            position,
            token: held[position],
            is_asked: asked.map_or(is_only, |asked| asked == position),
        })
    };
    (0..dataset.len()).flat_map(of_sample).take(most).collect()
}

/// The vectors of the occurrences at each place of the model, with these weights.
///
/// # Errors
/// When the weights do not match the config.
pub fn context_levels(
    config: &ExperimentConfig,
    weights: &[f32],
    dataset: &Dataset,
    occurrences: &[Occurrence],
) -> Result<Vec<ContextLevel>, Error> {
    let mut frozen = FrozenModel::new(config)?;
    frozen.check(weights)?;
    let (width, layers) = (config.model.d_model, config.model.n_layers);
    let level = |name: &str| ContextLevel {
        name: name.to_owned(),
        vectors: Vec::with_capacity(occurrences.len() * width),
    };
    let (mut word, mut position) = (level("word"), level("position"));
    let mut blocks: Vec<ContextLevel> = (0..layers)
        .map(|block| level(&format!("block_{block}")))
        .collect();
    for found in occurrences {
        // The embedding of tokens comes first in the model's order.
        let start = found.token as usize * width;
        word.vectors.extend(&weights[start..start + width]);
        let all = frozen.forward(weights, dataset, &[found.sample], &[], Recording::All)?;
        let vector = all.at(Array::Embeddings, &[0, found.position]);
        position.vectors.extend(vector);
        for (layer, block) in blocks.iter_mut().enumerate() {
            let vector = all.at(Array::Output, &[0, layer, found.position]);
            block.vectors.extend(vector);
        }
    }
    let mut levels = vec![word];
    // Without vectors of positions and without a norm, the first layer's input is the word.
    let differs = config.model.positions.is_added() || config.model.embedding_norm;
    levels.extend(differs.then_some(position));
    levels.extend(blocks);
    Ok(levels)
}
