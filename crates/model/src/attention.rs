//! Scaled dot-product self-attention that keeps all it computes.
//!
//! Burn's own attention layer returns neither scores nor queries, keys and values.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, activation::softmax};

/// Multi-head self-attention with biases and an output projection, as Keras's
/// `MultiHeadAttention`: `softmax(Q K^T / sqrt(d_head)) V`, heads side by side, times `W_o`
/// (Vaswani et al. 2017, section 3.2).
#[derive(Module, Debug)]
pub struct SelfAttention {
    /// `W_q`, heads side by side. `[d_model, n_heads * d_head]`
    pub query: Linear,
    /// `W_k`, heads side by side. `[d_model, n_heads * d_head]`
    pub key: Linear,
    /// `W_v`, heads side by side. `[d_model, n_heads * d_head]`
    pub value: Linear,
    /// `W_o`. `[n_heads * d_head, d_model]`
    pub output: Linear,
    /// Number of heads.
    pub n_heads: usize,
}

/// What attention computes on the way to its output.
#[derive(Clone, Debug)]
pub struct AttentionOutput {
    /// Queries. `[batch, head, position, d_head]`
    pub query: Tensor<4>,
    /// Keys. `[batch, head, position, d_head]`
    pub key: Tensor<4>,
    /// Values. `[batch, head, position, d_head]`
    pub value: Tensor<4>,
    /// `query · key / sqrt(d_head)`, before the softmax. `[batch, head, query, key]`
    pub scores: Tensor<4>,
    /// Softmax of the scores over keys; each row sums to 1. `[batch, head, query, key]`
    pub weights: Tensor<4>,
    /// Values averaged with the weights. `[batch, head, query, d_head]`
    pub context: Tensor<4>,
    /// Contexts of all heads, projected back. `[batch, position, d_model]`
    pub output: Tensor<3>,
}

impl SelfAttention {
    /// Lets each position look at all positions.
    ///
    /// # Shapes
    /// - input: `[batch, position, d_model]`
    pub fn forward(&self, input: Tensor<3>) -> AttentionOutput {
        let query = self.split_heads(self.query.forward(input.clone())); // [batch, head, position, d_head]
        let key = self.split_heads(self.key.forward(input.clone())); // [batch, head, position, d_head]
        let value = self.split_heads(self.value.forward(input)); // [batch, head, position, d_head]

        let [batch, heads, positions, d_head] = query.dims();
        let scale = 1.0 / (d_head as f64).sqrt();
        // The smaller operand is scaled: [position, d_head], not [query, key].
        let scores = (query.clone() * scale).matmul(key.clone().transpose()); // [batch, head, query, key]
        let weights = softmax(scores.clone(), 3); // [batch, head, query, key]
        let context = weights.clone().matmul(value.clone()); // [batch, head, query, d_head]

        let side_by_side =
            context
                .clone()
                .swap_dims(1, 2)
                .reshape([batch, positions, heads * d_head]); // [batch, position, n_heads * d_head]
        let output = self.output.forward(side_by_side); // [batch, position, d_model]
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

    /// `[batch, position, n_heads * d_head]` to `[batch, head, position, d_head]`.
    fn split_heads(&self, projected: Tensor<3>) -> Tensor<4> {
        let [batch, positions, width] = projected.dims();
        projected
            .reshape([batch, positions, self.n_heads, width / self.n_heads])
            .swap_dims(1, 2)
    }
}
