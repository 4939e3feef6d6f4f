//! A block: attention and an optional feed-forward layer, each added to the residual stream, with norms.

use burn::module::Module;
use burn::tensor::{Bool, Tensor};
use headlight_architecture::DropoutPlace;

use crate::{Attention, AttentionOutput, Dropout, FeedForward, FeedForwardOutput, LayerNorms};

/// A transformer block: `norm(x + attention(x))`, `x + attention(norm(x))` or `x + attention(x)`, then an optional
/// feed-forward layer of the same form.
#[derive(Module, Debug)]
pub struct TransformerBlock {
    /// Lets positions look at each other.
    pub attention: Attention,
    /// The norm of attention, before or after it.
    pub norm: LayerNorms,
    /// Processes each position separately.
    pub feed_forward: Option<FeedForward>,
}

/// All values that a block computes.
#[derive(Clone, Debug)]
pub struct BlockOutput {
    /// The values of its attention.
    pub attention: AttentionOutput,
    /// The block's input plus attention's output. `[batch, position, d_model]`
    pub residual: Tensor<3>,
    /// The stream after attention: the residual, or its norm. `[batch, position, d_model]`
    pub stream: Tensor<3>,
    /// The values of its feed-forward layer.
    pub feed_forward: Option<FeedForwardOutput>,
}

impl TransformerBlock {
    /// Computes the block.
    ///
    /// # Shapes
    /// - stream: `[batch, position, d_model]`
    /// - mask: as for [`Attention::forward`]
    /// - dropout: what is left out of the values of a layer
    pub fn forward(
        &self,
        stream: Tensor<3>,
        mask: Option<Tensor<4, Bool>>,
        (dropout, layer): (Dropout<'_>, usize),
    ) -> BlockOutput {
        let input = self.norm.before(stream.clone()); // [batch, position, d_model]
        let attention = self.attention.forward(input, mask, (dropout, layer));
        let added = dropout.apply(
            DropoutPlace::AttentionOutput(layer),
            attention.output.clone(),
        );
        let residual = stream + added; // [batch, position, d_model]
        let stream = self.norm.after(residual.clone()); // [batch, position, d_model]
        let feed_forward = self
            .feed_forward
            .as_ref()
            .map(|feed_forward| feed_forward.forward(stream.clone(), (dropout, layer)));
        BlockOutput {
            attention,
            residual,
            stream,
            feed_forward,
        }
    }
}

impl BlockOutput {
    /// The input of the next block. `[batch, position, d_model]`
    pub fn output(&self) -> Tensor<3> {
        match &self.feed_forward {
            Some(feed_forward) => feed_forward.stream.clone(),
            None => self.stream.clone(),
        }
    }
}
