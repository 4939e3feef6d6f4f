//! A block: attention, residual addition, layer norm, and an optional feed-forward layer.

use burn::module::Module;
use burn::nn::LayerNorm;
use burn::tensor::{Bool, Tensor};

use crate::{Attention, AttentionOutput, FeedForward, FeedForwardOutput};

/// A post-norm transformer block: `norm(x + attention(x))`, then an optional feed-forward layer of the same
/// form.
#[derive(Module, Debug)]
pub struct TransformerBlock {
    /// Lets positions look at each other.
    pub attention: Attention,
    /// Normalises each position to mean 0 and variance 1, then scales and shifts it.
    pub norm: LayerNorm,
    /// Processes each position separately.
    pub feed_forward: Option<FeedForward>,
}

/// All values that a block computes.
#[derive(Clone, Debug)]
pub struct BlockOutput {
    /// The values of its attention.
    pub attention: AttentionOutput,
    /// The input plus attention's output, before the norm. `[batch, position, d_model]`
    pub residual: Tensor<3>,
    /// The residual after the norm. `[batch, position, d_model]`
    pub normalized: Tensor<3>,
    /// The values of its feed-forward layer.
    pub feed_forward: Option<FeedForwardOutput>,
}

impl TransformerBlock {
    /// Computes the block.
    ///
    /// # Shapes
    /// - input: `[batch, position, d_model]`
    /// - mask: as for [`Attention::forward`]
    pub fn forward(&self, input: Tensor<3>, mask: Option<Tensor<4, Bool>>) -> BlockOutput {
        let attention = self.attention.forward(input.clone(), mask);
        let residual = input + attention.output.clone(); // [batch, position, d_model]
        let normalized = self.norm.forward(residual.clone()); // [batch, position, d_model]
        let feed_forward = self
            .feed_forward
            .as_ref()
            .map(|feed_forward| feed_forward.forward(normalized.clone()));
        BlockOutput {
            attention,
            residual,
            normalized,
            feed_forward,
        }
    }
}

impl BlockOutput {
    /// The input of the next block. `[batch, position, d_model]`
    pub fn output(&self) -> Tensor<3> {
        match &self.feed_forward {
            Some(feed_forward) => feed_forward.normalized.clone(),
            None => self.normalized.clone(),
        }
    }
}
