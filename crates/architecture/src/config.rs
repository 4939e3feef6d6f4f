//! The shape of a model: its sizes and what its attention does.

use headlight_data::InvalidValue;
use serde::{Deserialize, Serialize};

use crate::{Mask, Scale};

/// The `[model]` section of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Width of embeddings and of the residual stream.
    pub d_model: usize,
    /// Attention heads a block; divides `d_model`.
    #[serde(default = "one")]
    pub n_heads: usize,
    /// Blocks, one after the other.
    #[serde(default = "one")]
    pub n_layers: usize,
    /// Added to the variance in layer norm. The notebook has 1e-6; Keras's default is 1e-3,
    /// Burn's and PyTorch's 1e-5.
    #[serde(default = "notebook_layer_norm_eps")]
    pub layer_norm_eps: f64,
    /// Width of the feed-forward layer that follows attention in each block; 0 for none.
    #[serde(default)]
    pub d_ff: usize,
    /// Whether each position adds a learned vector to its token's.
    #[serde(default = "yes")]
    pub positions: bool,
    /// What attention does.
    #[serde(default)]
    pub attention: AttentionConfig,
}

/// What a model must know of the samples that it will see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Number of tokens, `[CLS]` = 0 among them.
    pub vocab_size: usize,
    /// Positions of a sample, `[CLS]` among them.
    pub positions: usize,
    /// Where `[CLS]` stands.
    pub cls_position: usize,
}

/// The `[model.attention]` section: the same for all blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AttentionConfig {
    /// What makes queries, keys and values of a position's vector.
    pub projections: ProjectionKind,
    /// What products of queries and keys are multiplied by.
    pub scale: Scale,
    /// Divides scores besides: above 1 weights are more even, below 1 sharper.
    pub temperature: f64,
    /// Which keys each query may look at, by position.
    pub mask: Mask,
    /// A token that no query looks at, wherever it stands: what fills up samples that are shorter
    /// than others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding_token: Option<u32>,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        Self {
            projections: ProjectionKind::default(),
            scale: Scale::default(),
            temperature: 1.0,
            mask: Mask::default(),
            padding_token: None,
        }
    }
}

/// What makes queries, keys and values of a position's vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProjectionKind {
    /// A projection for each of the three.
    #[default]
    Separate,
    /// One projection for all three, so that a query is its own key.
    Shared,
    /// Nothing: all three are the vector itself.
    None,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

fn notebook_layer_norm_eps() -> f64 {
    1e-6
}

impl AttentionConfig {
    /// What products of queries and keys are multiplied by: scale over temperature.
    pub fn factor(&self, d_head: usize) -> f64 {
        self.scale.factor(d_head) / self.temperature
    }
}

impl ModelConfig {
    /// Width of each head's queries, keys and values: `d_model / n_heads`.
    pub fn d_head(&self) -> usize {
        self.d_model / self.n_heads
    }

    /// The config of a model with these sizes and nothing else out of the ordinary: the notebook's
    /// has `d_model` 8 and one head.
    pub fn new(d_model: usize, n_heads: usize, n_layers: usize) -> Self {
        Self {
            d_model,
            n_heads,
            n_layers,
            layer_norm_eps: notebook_layer_norm_eps(),
            d_ff: 0,
            positions: true,
            attention: AttentionConfig::default(),
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// Names the first value that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let invalid = |key: &str, message: String| Err(InvalidValue::new(key, message));
        for (key, size, limit) in [
            ("d_model", self.d_model, 4096),
            ("n_heads", self.n_heads, 4096),
            ("n_layers", self.n_layers, 64),
        ] {
            if !(1..=limit).contains(&size) {
                return invalid(key, format!("{key} is {size}; it can be 1 to {limit}"));
            }
        }
        if !self.d_model.is_multiple_of(self.n_heads) {
            return invalid(
                "n_heads",
                format!(
                    "{} heads do not divide d_model = {} evenly",
                    self.n_heads, self.d_model
                ),
            );
        }
        if !(self.layer_norm_eps.is_finite() && self.layer_norm_eps > 0.0) {
            return invalid(
                "layer_norm_eps",
                format!(
                    "layer_norm_eps is {}; it must be a small positive number",
                    self.layer_norm_eps
                ),
            );
        }
        if self.d_ff > 16384 {
            return invalid(
                "d_ff",
                format!("d_ff is {}; it can be 0, for none, to 16384", self.d_ff),
            );
        }
        let attention = &self.attention;
        if !(attention.temperature.is_finite() && attention.temperature > 0.0) {
            return invalid(
                "attention.temperature",
                format!(
                    "temperature is {}; it must be a positive number, and 1 changes nothing",
                    attention.temperature
                ),
            );
        }
        let factor = attention.factor(self.d_head()) as f32;
        if !factor.is_finite() {
            return invalid(
                "attention.scale",
                format!(
                    "scale over temperature is {factor}; both must be numbers that float32 holds"
                ),
            );
        }
        Ok(())
    }

    /// Checks what depends on the samples.
    ///
    /// # Errors
    /// Names the first value that does not fit them.
    pub fn validate_for(&self, inputs: Inputs) -> Result<(), InvalidValue> {
        let positions = inputs.positions;
        self.attention
            .mask
            .matrix(positions, positions)
            .map_err(|message| {
                let message = format!("{message}, one per position including [CLS]");
                InvalidValue::new("attention.mask", message)
            })?;
        match self.attention.padding_token {
            Some(token) if token == 0 || token as usize >= inputs.vocab_size => {
                let last = inputs.vocab_size - 1;
                Err(InvalidValue::new(
                    "attention.padding_token",
                    format!(
                        "padding token {token} is outside the vocabulary; samples hold tokens 1 to {last}"
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}
