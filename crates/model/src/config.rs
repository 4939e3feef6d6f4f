//! The sizes of a model.

use serde::{Deserialize, Serialize};

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
}

fn one() -> usize {
    1
}

fn notebook_layer_norm_eps() -> f64 {
    1e-6
}

/// A value that cannot be used, with the key it stands under (relative to `[model]`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidValue {
    /// The key, such as `n_heads`.
    pub key: &'static str,
    /// What is wrong with it and what would do.
    pub message: String,
}

impl ModelConfig {
    /// Width of each head's queries, keys and values: `d_model / n_heads`.
    pub fn d_head(&self) -> usize {
        self.d_model / self.n_heads
    }

    /// Checks every value.
    ///
    /// # Errors
    /// Names the first value that cannot be used.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let invalid = |key, message| Err(InvalidValue { key, message });
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
        Ok(())
    }
}
