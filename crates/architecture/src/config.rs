//! The config of a model: its sizes, and the settings of its attention.

use headlight_data::InvalidValue;
use serde::{Deserialize, Serialize};

use crate::{Mask, Scale};

/// The `[model]` section of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Width of embeddings and of the residual stream.
    pub d_model: usize,
    /// Attention heads per block; divides `d_model`.
    #[serde(default = "one")]
    pub n_heads: usize,
    /// Number of blocks.
    #[serde(default = "one")]
    pub n_layers: usize,
    /// Added to the variance in layer norm. The notebook uses 1e-6; Keras's default is 1e-3, and Burn's and
    /// PyTorch's is 1e-5.
    #[serde(default = "notebook_layer_norm_eps")]
    pub layer_norm_eps: f64,
    /// Width of the feed-forward layer that follows attention in each block; 0 for none.
    #[serde(default)]
    pub d_ff: usize,
    /// Whether a learned vector for each position is added to the token's vector.
    #[serde(default = "yes")]
    pub positions: bool,
    /// Settings of the attention.
    #[serde(default)]
    pub attention: AttentionConfig,
}

/// The properties of the samples that determine the shape of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Number of tokens, including `[CLS]` = 0.
    pub vocab_size: usize,
    /// Positions of a sample, including `[CLS]`.
    pub positions: usize,
    /// The position of `[CLS]`.
    pub cls_position: usize,
    /// Number of classes.
    pub n_classes: usize,
}

impl Inputs {
    /// Logits per sample: one for two classes, the log-odds of class 1; else one per class.
    pub fn n_logits(self) -> usize {
        match self.n_classes {
            2 => 1,
            n_classes => n_classes,
        }
    }
}

/// The `[model.attention]` section, which applies to all blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AttentionConfig {
    /// The projections that compute queries, keys and values.
    pub projections: ProjectionKind,
    /// The factor of the products of queries and keys.
    pub scale: Scale,
    /// Divides the scaled scores: above 1, weights become more even; below 1, sharper.
    pub temperature: f64,
    /// Which keys each query may look at, by position.
    pub mask: Mask,
    /// A token that no query looks at, at any position: it pads samples that are shorter than others.
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

/// How queries, keys and values are computed from a position's vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProjectionKind {
    /// A separate projection for each of the three.
    #[default]
    Separate,
    /// One projection for all three, so that a query is its own key.
    Shared,
    /// No projection: all three are the vector itself.
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
    /// The factor of the products of queries and keys: scale divided by temperature.
    pub fn factor(&self, d_head: usize) -> f64 {
        self.scale.factor(d_head) / self.temperature
    }
}

impl ModelConfig {
    /// Width of each head's queries, keys and values: `d_model / n_heads`.
    pub fn d_head(&self) -> usize {
        self.d_model / self.n_heads
    }

    /// The config of a model with these sizes and defaults for everything else. The notebook's model has
    /// `d_model` 8, one head and one layer.
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
    /// Names the first invalid value.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let invalid = |key: &str, message: String| Err(InvalidValue::new(key, message));
        for (key, size, limit) in [
            ("d_model", self.d_model, 4096),
            ("n_heads", self.n_heads, 4096),
            ("n_layers", self.n_layers, 64),
        ] {
            if !(1..=limit).contains(&size) {
                return invalid(
                    key,
                    format!("{key} is {size}; it must be from 1 to {limit}"),
                );
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
                format!(
                    "d_ff is {}; it must be from 0 (no feed-forward layer) to 16384",
                    self.d_ff
                ),
            );
        }
        let attention = &self.attention;
        if !(attention.temperature.is_finite() && attention.temperature > 0.0) {
            return invalid(
                "attention.temperature",
                format!(
                    "temperature is {}; it must be a positive number (1 has no effect)",
                    attention.temperature
                ),
            );
        }
        let factor = attention.factor(self.d_head()) as f32;
        if !factor.is_finite() {
            return invalid(
                "attention.scale",
                format!("scale / temperature is {factor}; it must be a finite float32 number"),
            );
        }
        Ok(())
    }

    /// Checks the values that depend on the samples.
    ///
    /// # Errors
    /// Names the first value that is invalid for such samples.
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
