//! Norms, and their places beside attention and feed-forward layers.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::module::layer_norm;
use headlight_architecture::NormKind;

/// Normalises each vector: a layer norm, `(x - mean) / sqrt(variance + epsilon)` (Ba et al. 2016), or an RMS norm,
/// `x / sqrt(mean(x²) + epsilon)` (Zhang and Sennrich 2019); then times `gamma`, plus `beta`.
#[derive(Module, Debug)]
pub struct Norm {
    /// The factor of each component; `None` for 1. `[d_model]`
    pub gamma: Option<Param<Tensor<1>>>,
    /// What is added to each component; `None` for 0. `[d_model]`
    pub beta: Option<Param<Tensor<1>>>,
    /// What it computes.
    #[module(skip)]
    pub kind: NormKind,
    /// Added to the variance, or to the mean square.
    pub epsilon: f64,
}

impl Norm {
    /// Normalises each position's vector.
    ///
    /// # Shapes
    /// - input, output: `[batch, position, d_model]`
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let [_, _, d_model] = input.dims();
        let gamma = match &self.gamma {
            Some(gamma) => gamma.val(),
            None => Tensor::ones([d_model], &input.device()),
        };
        let beta = self.beta.as_ref().map(Param::val);
        match self.kind {
            NormKind::Layer => layer_norm(input, gamma, beta, self.epsilon),
            NormKind::Rms => {
                let mean_square = input.clone().square().mean_dim(2); // [batch, position, 1]
                let normalized = input / (mean_square + self.epsilon).sqrt();
                let scaled = normalized * gamma.unsqueeze();
                match beta {
                    Some(beta) => scaled + beta.unsqueeze(),
                    None => scaled,
                }
            }
        }
    }
}

/// The norm of a layer `f` that is added to the residual stream: `x + f(pre(x))`, or `post(x + f(x))`.
#[derive(Module, Debug)]
pub struct LayerNorms {
    /// Normalises the input of the layer, but not the stream.
    pub pre: Option<Norm>,
    /// Normalises the stream after the addition.
    pub post: Option<Norm>,
}

impl LayerNorms {
    /// What the layer reads of the residual stream. `[batch, position, d_model]`, as the output
    pub fn before(&self, stream: Tensor<3>) -> Tensor<3> {
        match &self.pre {
            Some(norm) => norm.forward(stream),
            None => stream,
        }
    }

    /// The stream after the addition of the layer's output. `[batch, position, d_model]`, as the output
    pub fn after(&self, sum: Tensor<3>) -> Tensor<3> {
        match &self.post {
            Some(norm) => norm.forward(sum),
            None => sum,
        }
    }
}
