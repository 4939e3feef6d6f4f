//! What the schemes of initial weights draw.
//!
//! - `keras`, Keras's defaults: embeddings uniform in (-0.05, 0.05), matrices Glorot uniform in
//!   `±sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio 2010), biases 0.
//! - `pytorch`: `nn.Embedding` normal with standard deviation 1. `nn.MultiheadAttention` draws queries, keys and values as
//!   one Glorot uniform matrix of three times the outputs, with biases 0, and so is the bias of its output projection.
//!   Its other matrices are `nn.Linear`'s: weights and biases uniform in `±1 / sqrt(fan_in)`.
//! - `transformer-lens`: `HookedTransformerConfig.init_mode = "gpt2"`, every matrix normal with standard deviation
//!   `0.8 / sqrt(d_model)`, biases 0.
//! - `normal`: every matrix normal with the config's standard deviation, biases 0.

use super::config::{MatrixKind, Scheme, Size, Std};
use super::draw::Initializer;
use crate::{Inputs, ModelConfig};

const EMBEDDING_LIMIT: f32 = 0.05;

/// The distributions of a model's initial weights.
pub(crate) struct Initializers<'a> {
    model: &'a ModelConfig,
    vocab_size: usize,
    /// The key of a matrix whose standard deviation the config lacks.
    pub(crate) missing: Option<&'static str>,
}

impl<'a> Initializers<'a> {
    pub(crate) fn new(model: &'a ModelConfig, inputs: Inputs) -> Self {
        Self {
            model,
            vocab_size: inputs.vocab_size,
            missing: None,
        }
    }

    /// Of a matrix `[fan_in, fan_out]`.
    pub(crate) fn matrix(
        &mut self,
        part: MatrixKind,
        [fan_in, fan_out]: [usize; 2],
    ) -> Initializer {
        let glorot = |fan_out: usize| {
            let limit = (6.0 / (fan_in + fan_out) as f64).sqrt() as f32;
            Initializer::Uniform(limit)
        };
        let init = &self.model.init;
        match init.scheme {
            Scheme::Keras if part.is_embedding() => Initializer::Uniform(EMBEDDING_LIMIT),
            Scheme::Keras => glorot(fan_out),
            Scheme::Pytorch if part.is_embedding() => Initializer::Normal(1.0),
            Scheme::Pytorch if part.is_of_query_key_or_value() => glorot(3 * fan_out),
            Scheme::Pytorch => linear(fan_in),
            Scheme::TransformerLens => {
                Initializer::Normal(0.8 / (self.model.d_model as f64).sqrt())
            }
            Scheme::Normal => {
                let (key, std) = init.std.key_and_std(part);
                if std.is_none() {
                    self.missing.get_or_insert(key);
                }
                Initializer::Normal(std.map_or(0.0, |std| self.value(std)))
            }
        }
    }

    fn value(&self, std: Std) -> f64 {
        let size = match std.root_of {
            None => return std.factor,
            Some(Size::Width) => self.model.d_model,
            Some(Size::FeedForward) => self.model.d_ff,
            Some(Size::Head) => self.model.d_head(),
            Some(Size::Vocabulary) => self.vocab_size,
        };
        std.factor / (size.max(1) as f64).sqrt()
    }

    /// Of the biases of a matrix `[fan_in, fan_out]`.
    pub(crate) fn bias(&self, part: MatrixKind, [fan_in, _]: [usize; 2]) -> Initializer {
        let is_of_attention =
            part.is_of_query_key_or_value() || part == MatrixKind::AttentionOutput;
        if self.model.init.scheme == Scheme::Pytorch && !is_of_attention {
            linear(fan_in)
        } else {
            Initializer::Constant(0.0)
        }
    }
}

/// `nn.Linear`'s weights and biases.
fn linear(fan_in: usize) -> Initializer {
    Initializer::Uniform((1.0 / (fan_in as f64).sqrt()) as f32)
}
