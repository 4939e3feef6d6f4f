//! Attention that returns everything it computes.
//!
//! Burn's own attention layer returns neither the scores nor queries, keys and values.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Bool, Tensor};
use headlight_architecture::{DropoutPlace, Weighting};

use crate::weighting::weights;
use crate::{Dropout, Projections, Rotary, attention_scores, log_length};

/// Multi-head attention with an output projection, like Keras's `MultiHeadAttention`:
/// `softmax(factor * Q K^T) V`, heads side by side, times `W_o` (Vaswani et al. 2017, section 3.2).
#[derive(Module, Debug)]
pub struct Attention {
    /// The projections to queries, keys and values; `None` if the input is used as all three.
    pub projections: Option<Projections>,
    /// `W_o`; `None` if the contexts of all heads, side by side, are the output. `[n_heads * d_head, d_model]`
    pub output: Option<Linear>,
    /// Rotates queries and keys by their positions; `None` without rotary positions.
    pub rotary: Option<Rotary>,
    /// Number of heads.
    pub n_heads: usize,
    /// The factor of the products of queries and keys: `1 / sqrt(d_head)` in the paper.
    pub factor: f64,
    /// Whether scores are also multiplied by the logarithm of the number of keys that the query may look at.
    pub log_length: bool,
    /// How weights follow from scores.
    #[module(skip)]
    pub weighting: Weighting,
}

/// All values that attention computes.
#[derive(Clone, Debug)]
pub struct AttentionOutput {
    /// Queries, after rotation. `[batch, head, query, d_head]`
    pub query: Tensor<4>,
    /// Keys, after rotation. `[batch, head, key, d_head]`
    pub key: Tensor<4>,
    /// Values. `[batch, head, key, d_head]`
    pub value: Tensor<4>,
    /// `factor * (query · key)`, times the logarithm of the number of keys if the model has that factor; before mask and
    /// softmax. `[batch, head, query, key]`
    pub scores: Tensor<4>,
    /// Weights over the keys that a query may look at: unless [`Weighting`] differs, the softmax of the scores, and each
    /// row sums to 1. If the query may look at no key, the row is 0. `[batch, head, query, key]`
    pub weights: Tensor<4>,
    /// The sum of the values, by weight. `[batch, head, query, d_head]`
    pub context: Tensor<4>,
    /// The contexts of all heads, side by side, after the output projection. `[batch, query, d_model]`
    pub output: Tensor<3>,
}

impl Attention {
    /// Self-attention: each position looks at all positions that the mask allows.
    ///
    /// # Shapes
    /// - input: `[batch, position, d_model]`
    /// - mask: true where a query may look; `[batch, head, query, key]`; batch and head may be 1
    /// - dropout: what is left out of the weights, which are those of a layer
    pub fn forward(
        &self,
        input: Tensor<3>,
        mask: Option<Tensor<4, Bool>>,
        (dropout, layer): (Dropout<'_>, usize),
    ) -> AttentionOutput {
        let [query, key, value] = match &self.projections {
            Some(projections) => projections.forward(input),
            None => [input.clone(), input.clone(), input],
        };
        let query = self.rotate(self.split_heads(query)); // [batch, head, query, d_head]
        let key = self.rotate(self.split_heads(key)); // [batch, head, key, d_head]
        let value = self.split_heads(value); // [batch, head, key, d_head]

        let mut scores = attention_scores(query.clone(), key.clone(), self.factor); // [batch, head, query, key]
        if self.log_length {
            scores = match &mask {
                Some(mask) => scores * log_length(mask.clone()),
                None => scores * (key.dims()[2] as f64).ln(),
            };
        }
        let weights = weights(self.weighting, scores.clone(), mask); // [batch, head, query, key]
        let kept = dropout.apply(DropoutPlace::Attention(layer), weights.clone()); // [batch, head, query, key]
        let context = kept.matmul(value.clone()); // [batch, head, query, d_head]

        let [batch, heads, queries, d_head] = context.dims();
        let side_by_side =
            context
                .clone()
                .swap_dims(1, 2)
                .reshape([batch, queries, heads * d_head]); // [batch, query, n_heads * d_head]
        let output = match &self.output {
            Some(output) => output.forward(side_by_side),
            None => side_by_side,
        }; // [batch, query, d_model]
        AttentionOutput {
            query,
            key,
            value,
            scores,
            weights,
            context,
            output,
        }
    }

    /// Vectors at their positions' angles. `[batch, head, position, d_head]`, as the output
    fn rotate(&self, vectors: Tensor<4>) -> Tensor<4> {
        match &self.rotary {
            Some(rotary) => rotary.forward(vectors),
            None => vectors,
        }
    }

    /// `[batch, position, n_heads * d_head]` to `[batch, head, position, d_head]`.
    fn split_heads(&self, projected: Tensor<3>) -> Tensor<4> {
        let [batch, positions, width] = projected.dims();
        projected
            .reshape([batch, positions, self.n_heads, width / self.n_heads])
            .swap_dims(1, 2)
    }
}
