//! Embeddings of tokens and positions.

use burn::module::{Module, Param};
use burn::tensor::module::embedding;
use burn::tensor::{Int, Tensor};

/// Adds a learned vector for each token to a learned vector for each position.
#[derive(Module, Debug)]
pub struct TokenPositionEmbedding {
    /// One row per token. `[vocab_size, d_model]`
    pub token_embedding: Param<Tensor<2>>,
    /// One row per position; `None` if the model does not use positions. `[position, d_model]`
    pub position_embedding: Option<Param<Tensor<2>>>,
}

impl TokenPositionEmbedding {
    /// The vectors of tokens: `token_embedding[tokens]`.
    ///
    /// # Shapes
    /// - tokens: `[batch, position]`
    /// - output: `[batch, position, d_model]`
    pub fn token_rows(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        embedding(self.token_embedding.val(), tokens)
    }

    /// Adds the vectors of positions to those of tokens.
    ///
    /// # Shapes
    /// - `token_rows`, output: `[batch, position, d_model]`
    pub fn add_positions(&self, token_rows: Tensor<3>) -> Tensor<3> {
        match &self.position_embedding {
            Some(positions) => token_rows + positions.val().unsqueeze::<3>(),
            None => token_rows,
        }
    }
}
