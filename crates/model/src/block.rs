//! Attention, residual addition, layer norm.

use burn::module::Module;
use burn::nn::LayerNorm;
use burn::tensor::Tensor;

use crate::{AttentionOutput, SelfAttention};

/// A post-norm transformer block without a feed-forward part: `norm(x + attention(x))`.
#[derive(Module, Debug)]
pub struct TransformerBlock {
    /// Lets positions look at each other.
    pub attention: SelfAttention,
    /// Normalises each position to mean 0 and variance 1, then scales and shifts it.
    pub norm: LayerNorm,
}

/// What a block computes.
#[derive(Clone, Debug)]
pub struct BlockOutput {
    /// All of its attention.
    pub attention: AttentionOutput,
    /// Input plus attention's output, before the norm. `[batch, position, d_model]`
    pub residual: Tensor<3>,
    /// The residual after the norm. `[batch, position, d_model]`
    pub normalized: Tensor<3>,
}

impl TransformerBlock {
    /// # Shapes
    /// - input: `[batch, position, d_model]`
    pub fn forward(&self, input: Tensor<3>) -> BlockOutput {
        let attention = self.attention.forward(input.clone());
        let residual = input + attention.output.clone(); // [batch, position, d_model]
        let normalized = self.norm.forward(residual.clone()); // [batch, position, d_model]
        BlockOutput {
            attention,
            residual,
            normalized,
        }
    }
}
