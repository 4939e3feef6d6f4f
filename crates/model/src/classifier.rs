//! The whole model: embeddings, blocks, and a classifier of the `[CLS]` position.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Bool, Int, Tensor, TensorData, s};
use headlight_architecture::{Inputs, Mask};

use crate::{BlockOutput, TokenPositionEmbedding, TransformerBlock};

/// A transformer that classifies samples by the output at `[CLS]`.
#[derive(Module, Debug)]
pub struct TransformerClassifier {
    /// Maps tokens and positions to vectors.
    pub embedding: TokenPositionEmbedding,
    /// The blocks, in order.
    pub blocks: Vec<TransformerBlock>,
    /// Maps the output at `[CLS]` to the logits. `[d_model, logit]`
    pub classifier: Linear,
    /// The properties of its samples.
    #[module(skip)]
    pub inputs: Inputs,
    /// Which keys each query may look at, by position.
    #[module(skip)]
    pub mask: Mask,
    /// The token that no query looks at, at any position.
    #[module(skip)]
    pub padding_token: Option<u32>,
}

/// All values that a forward pass computes.
#[derive(Clone, Debug)]
pub struct ForwardOutput {
    /// Log-odds of class 1; of more than two classes, the logit of each. `[batch, logit]`
    pub logits: Tensor<2>,
    /// The input of the first block. `[batch, position, d_model]`
    pub embeddings: Tensor<3>,
    /// Which keys each query may look at, in all blocks and heads; `None` if every query may look at every key.
    /// `[batch, query, key]`
    pub mask: Option<Tensor<3, Bool>>,
    /// The values of each block.
    pub layers: Vec<BlockOutput>,
}

impl TransformerClassifier {
    /// Computes the forward pass.
    ///
    /// # Shapes
    /// - tokens: `[batch, position]`, `[CLS]` = 0 at its position
    ///
    /// # Panics
    /// When the mask is a matrix for another number of positions.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> ForwardOutput {
        self.forward_rows(tokens.clone(), self.embedding.token_rows(tokens))
    }

    /// Computes the forward pass from the vectors of the tokens. Training uses this, to get the gradient of each
    /// occurrence of a token.
    ///
    /// # Shapes
    /// - tokens: `[batch, position]`
    /// - `token_rows`: `[batch, position, d_model]`
    ///
    /// # Panics
    /// The same as [`forward`](Self::forward).
    pub fn forward_rows(&self, tokens: Tensor<2, Int>, token_rows: Tensor<3>) -> ForwardOutput {
        let embeddings = self.embedding.add_positions(token_rows); // [batch, position, d_model]
        let mask = self.mask_for(tokens); // [batch, query, key]
        let of_heads = mask.clone().map(|mask| mask.unsqueeze_dim::<4>(1)); // [batch, 1, query, key]
        let mut layers: Vec<BlockOutput> = Vec::with_capacity(self.blocks.len());
        let mut stream = embeddings.clone(); // [batch, position, d_model]
        for block in &self.blocks {
            let layer = block.forward(stream, of_heads.clone());
            stream = layer.output();
            layers.push(layer);
        }
        let cls_position = self.inputs.cls_position;
        let cls = stream
            .slice(s![.., cls_position..cls_position + 1, ..])
            .squeeze_dim::<2>(1); // [batch, d_model]
        let logits = self.classifier.forward(cls); // [batch, logit]
        ForwardOutput {
            logits,
            embeddings,
            mask,
            layers,
        }
    }

    /// Combines the mask by position with the one that hides padding. `[batch, query, key]`
    fn mask_for(&self, tokens: Tensor<2, Int>) -> Option<Tensor<3, Bool>> {
        let ([batch, positions], device) = (tokens.dims(), tokens.device());
        let by_position = match self.mask.matrix(positions, positions) {
            Ok(matrix) => matrix.map(|values| {
                let data = TensorData::new(values, [1, positions, positions]);
                Tensor::<3, Bool>::from_data(data, &device).expand([batch, positions, positions])
            }),
            Err(message) => panic!("{message}"),
        };
        let by_token = self.padding_token.map(|token| {
            tokens
                .not_equal_elem(token)
                .unsqueeze_dim::<3>(1)
                .expand([batch, positions, positions])
        });
        match (by_position, by_token) {
            (Some(by_position), Some(by_token)) => Some(by_position.bool_and(by_token)),
            (by_position, by_token) => by_position.or(by_token),
        }
    }
}
