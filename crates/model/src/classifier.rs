//! The whole model: embeddings, blocks, and a head that reads `[CLS]`.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Int, Tensor, s};

use crate::{BlockOutput, TokenPositionEmbedding, TransformerBlock};

/// Tells two classes apart by what position 0, `[CLS]`, has gathered.
#[derive(Module, Debug)]
pub struct TransformerClassifier {
    /// Tokens and positions to vectors.
    pub embedding: TokenPositionEmbedding,
    /// One after the other.
    pub blocks: Vec<TransformerBlock>,
    /// Position 0 to one logit. `[d_model, 1]`
    pub classifier: Linear,
}

/// Everything that a forward pass computes.
#[derive(Clone, Debug)]
pub struct ForwardOutput {
    /// Log-odds of the positive class. `[batch]`
    pub logits: Tensor<1>,
    /// The input of the first block. `[batch, position, d_model]`
    pub embeddings: Tensor<3>,
    /// One for each block.
    pub layers: Vec<BlockOutput>,
}

impl TransformerClassifier {
    /// # Shapes
    /// - tokens: `[batch, position]`, `[CLS]` = 0 at position 0
    pub fn forward(&self, tokens: Tensor<2, Int>) -> ForwardOutput {
        self.forward_rows(self.embedding.token_rows(tokens))
    }

    /// The forward pass from where tokens have become vectors. Training starts here, to see the
    /// gradient of each occurrence of a token.
    ///
    /// # Shapes
    /// - `token_rows`: `[batch, position, d_model]`
    pub fn forward_rows(&self, token_rows: Tensor<3>) -> ForwardOutput {
        let [batch, _, _] = token_rows.dims();
        let embeddings = self.embedding.add_positions(token_rows); // [batch, position, d_model]
        let mut layers: Vec<BlockOutput> = Vec::with_capacity(self.blocks.len());
        let mut stream = embeddings.clone(); // [batch, position, d_model]
        for block in &self.blocks {
            let layer = block.forward(stream);
            stream = layer.normalized.clone();
            layers.push(layer);
        }
        let cls = stream.slice(s![.., 0..1, ..]).squeeze_dim::<2>(1); // [batch, d_model]
        let logits = self.classifier.forward(cls).reshape([batch]); // [batch]
        ForwardOutput {
            logits,
            embeddings,
            layers,
        }
    }
}
