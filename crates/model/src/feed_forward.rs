//! The feed-forward layer of a block, which processes each position separately.

use burn::module::Module;
use burn::nn::{LayerNorm, Linear};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

/// A feed-forward layer, residual addition, layer norm: `norm(x + W_2 max(0, W_1 x))`
/// (Vaswani et al. 2017, section 3.3).
#[derive(Module, Debug)]
pub struct FeedForward {
    /// `W_1`. `[d_model, d_ff]`
    pub hidden: Linear,
    /// `W_2`. `[d_ff, d_model]`
    pub output: Linear,
    /// Normalises each position to mean 0 and variance 1, then scales and shifts it.
    pub norm: LayerNorm,
}

/// All values that a feed-forward layer computes.
#[derive(Clone, Debug)]
pub struct FeedForwardOutput {
    /// After the rectifier. `[batch, position, d_ff]`
    pub hidden: Tensor<3>,
    /// The input plus the output of `W_2`, before the norm. `[batch, position, d_model]`
    pub residual: Tensor<3>,
    /// The residual after the norm. `[batch, position, d_model]`
    pub normalized: Tensor<3>,
}

impl FeedForward {
    /// Computes the layer.
    ///
    /// # Shapes
    /// - input: `[batch, position, d_model]`
    pub fn forward(&self, input: Tensor<3>) -> FeedForwardOutput {
        let hidden = relu(self.hidden.forward(input.clone())); // [batch, position, d_ff]
        let residual = input + self.output.forward(hidden.clone()); // [batch, position, d_model]
        let normalized = self.norm.forward(residual.clone()); // [batch, position, d_model]
        FeedForwardOutput {
            hidden,
            residual,
            normalized,
        }
    }
}
