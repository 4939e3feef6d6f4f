//! An attention dump: what a model computed for some samples at one moment of its training.
//!
//! The npz form is read by `numpy.load` with nothing else installed; JSON holds the same, and CSV
//! a line for each score and weight. Axes are always `[sample, layer, head, query, key]`. There is
//! no Burn here.

mod check;
mod csv;
mod json;
mod npz;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the format; readers refuse others.
pub const VERSION: u32 = 1;

/// What a model computed for some samples.
///
/// All arrays are row-major; their lengths follow from [`dims`](Self::dims).
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionDump {
    /// The extent of each axis.
    pub dims: Dims,
    /// Where the dump comes from.
    pub meta: Meta,
    /// Token ids, `[CLS]` = 0 first. `[sample, position]`
    pub tokens: Vec<i64>,
    /// 0 or 1; NaN where the label is unknown. `[sample]`
    pub labels: Vec<f32>,
    /// Log-odds of the positive class. `[sample]`
    pub logits: Vec<f32>,
    /// Probability of the positive class. `[sample]`
    pub probabilities: Vec<f32>,
    /// Before the softmax. `[sample, layer, head, query, key]`
    pub attention_scores: Vec<f32>,
    /// After the softmax; each row sums to 1. `[sample, layer, head, query, key]`
    pub attention_weights: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub query: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub key: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub value: Vec<f32>,
    /// Weights times values. `[sample, layer, head, position, d_head]`
    pub context: Vec<f32>,
    /// The first block's input. `[sample, position, d_model]`
    pub embeddings: Vec<f32>,
    /// Input plus attention's output, before the norm. `[sample, layer, position, d_model]`
    pub residual: Vec<f32>,
    /// Which keys each query may look at, in all layers and heads; `None` where that is all of them.
    /// `[sample, query, key]`
    pub attention_mask: Option<Vec<bool>>,
    /// What the feed-forward layers compute; `None` where there are none.
    pub feed_forward: Option<FeedForward>,
}

/// What the feed-forward layers of a model compute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedForward {
    /// After the rectifier. `[sample, layer, position, d_ff]`
    pub hidden: Vec<f32>,
    /// Input plus output, before the norm. `[sample, layer, position, d_model]`
    pub residual: Vec<f32>,
}

/// The extent of each axis of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    /// Samples.
    pub samples: usize,
    /// Blocks of the model.
    pub layers: usize,
    /// Heads of each block.
    pub heads: usize,
    /// Positions of a sample, `[CLS]` among them.
    pub positions: usize,
    /// Width of a head's queries, keys and values.
    pub d_head: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// Width of the feed-forward layers; 0 where there are none.
    pub d_ff: usize,
}

/// Where a dump comes from: `meta.json` in the npz.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// [`VERSION`] of the format.
    pub version: u32,
    /// The axes of each array, by name.
    pub axes: BTreeMap<String, Vec<String>>,
    /// Training steps taken before; `null` where that is unknown.
    pub step: Option<usize>,
    /// Epochs finished before; `null` where that is unknown.
    pub epoch: Option<usize>,
    /// Seed of the weights and of the batch order; `null` where it is unknown.
    pub seed: Option<u64>,
    /// Index of each sample in the training set; `null` where it is from elsewhere.
    pub samples: Vec<Option<usize>>,
    /// What each token id that occurs is shown as.
    pub token_strings: BTreeMap<u32, String>,
    /// For each sample, the positions that its label depends on.
    pub label_positions: Vec<Vec<usize>>,
    /// The experiment's config, as resolved.
    pub config: serde_json::Value,
}

/// Why a dump cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The archive or one of its members cannot be read.
    #[error(transparent)]
    Npz(#[from] headlight_npz::NpzError),
    /// `meta.json` is not what it should be.
    #[error("its meta.json cannot be read: {0}")]
    Meta(#[from] serde_json::Error),
    /// What it holds is no attention dump.
    #[error("{0}")]
    Content(String),
}

impl AttentionDump {
    /// The attention weights of one head for one sample. `[query, key]`
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn weights(&self, sample: usize, layer: usize, head: usize) -> &[f32] {
        &self.attention_weights[self.matrix(sample, layer, head)]
    }

    /// The attention scores of one head for one sample. `[query, key]`
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn scores(&self, sample: usize, layer: usize, head: usize) -> &[f32] {
        &self.attention_scores[self.matrix(sample, layer, head)]
    }

    /// The token ids of a sample.
    ///
    /// # Panics
    /// When there is no such sample.
    pub fn tokens(&self, sample: usize) -> &[i64] {
        let positions = self.dims.positions;
        &self.tokens[sample * positions..(sample + 1) * positions]
    }

    /// What a token id is shown as.
    pub fn token_string(&self, token: i64) -> String {
        u32::try_from(token)
            .ok()
            .and_then(|id| self.meta.token_strings.get(&id))
            .map_or_else(
                || token.to_string(),
                // A dump is foreign input: what it says must not steer a terminal.
                |text| {
                    text.chars()
                        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
                        .collect()
                },
            )
    }

    fn matrix(&self, sample: usize, layer: usize, head: usize) -> std::ops::Range<usize> {
        let Dims {
            samples,
            layers,
            heads,
            positions,
            ..
        } = self.dims;
        assert!(sample < samples && layer < layers && head < heads);
        let size = positions * positions;
        let start = ((sample * layers + layer) * heads + head) * size;
        start..start + size
    }

    /// The float arrays that there are, with their names and axes.
    fn floats(&self) -> impl Iterator<Item = (Named, &[f32])> {
        let always = [
            &self.labels[..],
            &self.logits,
            &self.probabilities,
            &self.attention_scores,
            &self.attention_weights,
            &self.query,
            &self.key,
            &self.value,
            &self.context,
            &self.embeddings,
            &self.residual[..],
        ];
        let feed_forward = self
            .feed_forward
            .iter()
            .flat_map(|layer| [&layer.hidden[..], &layer.residual[..]]);
        let always = FLOAT_ARRAYS.into_iter().zip(always);
        always.chain(FEED_FORWARD_ARRAYS.into_iter().zip(feed_forward))
    }
}

/// An array's name and axes.
type Named = (&'static str, &'static [&'static str]);

const TOKENS: Named = ("tokens", &["sample", "position"]);

/// Names and axes of the float arrays.
const FLOAT_ARRAYS: [Named; 11] = [
    ("labels", &["sample"]),
    ("logits", &["sample"]),
    ("probabilities", &["sample"]),
    (
        "attention_scores",
        &["sample", "layer", "head", "query", "key"],
    ),
    (
        "attention_weights",
        &["sample", "layer", "head", "query", "key"],
    ),
    ("query", &["sample", "layer", "head", "position", "d_head"]),
    ("key", &["sample", "layer", "head", "position", "d_head"]),
    ("value", &["sample", "layer", "head", "position", "d_head"]),
    (
        "context",
        &["sample", "layer", "head", "position", "d_head"],
    ),
    ("embeddings", &["sample", "position", "d_model"]),
    ("residual", &["sample", "layer", "position", "d_model"]),
];

/// Where there is a mask.
const MASK: Named = ("attention_mask", &["sample", "query", "key"]);

/// Where there are feed-forward layers.
const FEED_FORWARD_ARRAYS: [Named; 2] = [
    (
        "feed_forward_hidden",
        &["sample", "layer", "position", "d_ff"],
    ),
    (
        "feed_forward_residual",
        &["sample", "layer", "position", "d_model"],
    ),
];

/// The axes of the arrays of a dump, as `meta.json` has them.
pub fn axes(dims: Dims, masked: bool) -> BTreeMap<String, Vec<String>> {
    let feed_forward = FEED_FORWARD_ARRAYS.into_iter().filter(|_| dims.d_ff > 0);
    [TOKENS]
        .into_iter()
        .chain(FLOAT_ARRAYS)
        .chain(feed_forward)
        .chain(masked.then_some(MASK))
        .map(|(name, axes)| {
            (
                name.to_owned(),
                axes.iter().map(|&axis| axis.to_owned()).collect(),
            )
        })
        .collect()
}

impl Dims {
    /// The shape of an array with these axes.
    fn shape(&self, axes: &[&str]) -> Vec<usize> {
        let extent = |axis: &&str| match *axis {
            "sample" => self.samples,
            "layer" => self.layers,
            "head" => self.heads,
            "position" | "query" | "key" => self.positions,
            "d_head" => self.d_head,
            "d_model" => self.d_model,
            "d_ff" => self.d_ff,
            _ => unreachable!("no axis is called {axis}"),
        };
        axes.iter().map(extent).collect()
    }
}
