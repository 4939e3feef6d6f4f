//! From the vector that the classifier reads to the logits.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::module::linear;
use headlight_architecture::Activation;

use crate::activate;

/// A linear map to the logits, with or without a hidden layer before it.
#[derive(Module, Debug)]
pub struct Classifier {
    /// The hidden layer, which is followed by the activation. `[d_model, hidden]`
    pub hidden: Option<Linear>,
    /// The matrix to the logits; `None` for the transposed token embedding. `[d_model or hidden, logit]`
    pub weight: Option<Param<Tensor<2>>>,
    /// Added to the logits. `[logit]`
    pub bias: Option<Param<Tensor<1>>>,
    /// The function after the hidden layer.
    #[module(skip)]
    pub activation: Activation,
}

/// All values that a classifier computes.
#[derive(Clone, Debug)]
pub struct ClassifierOutput {
    /// The hidden layer, after the activation. `[batch, hidden]`
    pub hidden: Option<Tensor<2>>,
    /// `[batch, logit]`
    pub logits: Tensor<2>,
}

impl Classifier {
    /// Computes the logits.
    ///
    /// # Shapes
    /// - input: `[batch, d_model]`
    /// - `token_embedding`: `[vocab_size, d_model]`, for a classifier without a matrix of its own
    pub fn forward(
        &self,
        input: Tensor<2>,
        token_embedding: &Param<Tensor<2>>,
    ) -> ClassifierOutput {
        let hidden = self
            .hidden
            .as_ref()
            .map(|hidden| activate(self.activation, hidden.forward(input.clone())));
        let weight = match &self.weight {
            Some(weight) => weight.val(),
            None => token_embedding.val().transpose(),
        };
        let logits = linear(
            hidden.clone().unwrap_or(input),
            weight,
            self.bias.as_ref().map(Param::val),
        );
        ClassifierOutput { hidden, logits }
    }
}
