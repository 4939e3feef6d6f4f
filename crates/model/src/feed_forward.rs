//! The feed-forward layer of a block, which processes each position separately.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use headlight_architecture::{Activation, DropoutPlace};

use crate::{Dropout, LayerNorms, activate};

/// A feed-forward layer that is added to the residual stream, with a norm: `norm(x + W_2 max(0, W_1 x))`
/// (Vaswani et al. 2017, section 3.3), or with another activation or place of the norm.
#[derive(Module, Debug)]
pub struct FeedForward {
    /// `W_1`. `[d_model, d_ff]`
    pub hidden: Linear,
    /// `W_2`. `[d_ff, d_model]`
    pub output: Linear,
    /// Its norm, before or after it.
    pub norm: LayerNorms,
    /// The function between the two matrices.
    #[module(skip)]
    pub activation: Activation,
}

/// All values that a feed-forward layer computes.
#[derive(Clone, Debug)]
pub struct FeedForwardOutput {
    /// After the activation. `[batch, position, d_ff]`
    pub hidden: Tensor<3>,
    /// The stream before the layer plus the layer's output. `[batch, position, d_model]`
    pub residual: Tensor<3>,
    /// The stream after the layer: the residual, or its norm. `[batch, position, d_model]`
    pub stream: Tensor<3>,
}

impl FeedForward {
    /// Computes the layer.
    ///
    /// # Shapes
    /// - stream: `[batch, position, d_model]`
    /// - dropout: what is left out of the values of a layer
    pub fn forward(
        &self,
        stream: Tensor<3>,
        (dropout, layer): (Dropout<'_>, usize),
    ) -> FeedForwardOutput {
        let input = self.norm.before(stream.clone()); // [batch, position, d_model]
        let hidden = activate(self.activation, self.hidden.forward(input)); // [batch, position, d_ff]
        let kept = dropout.apply(DropoutPlace::Hidden(layer), hidden.clone()); // [batch, position, d_ff]
        let added = dropout.apply(
            DropoutPlace::FeedForwardOutput(layer),
            self.output.forward(kept),
        );
        let residual = stream + added; // [batch, position, d_model]
        let stream = self.norm.after(residual.clone()); // [batch, position, d_model]
        FeedForwardOutput {
            hidden,
            residual,
            stream,
        }
    }
}
