//! What a token is and where it stands, as one vector.

use burn::module::{Module, Param};
use burn::tensor::module::embedding;
use burn::tensor::{Int, Tensor};

/// Adds a learned vector for each token to a learned vector for each position.
#[derive(Module, Debug)]
pub struct TokenPositionEmbedding {
    /// One row a token. `[vocab_size, d_model]`
    pub token_embedding: Param<Tensor<2>>,
    /// One row a position, [CLS] first. `[position, d_model]`
    pub position_embedding: Param<Tensor<2>>,
}

impl TokenPositionEmbedding {
    /// `token_embedding[tokens] + position_embedding`.
    ///
    /// # Shapes
    /// - tokens: `[batch, position]`
    /// - output: `[batch, position, d_model]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        embedding(self.token_embedding.val(), tokens)
            + self.position_embedding.val().unsqueeze::<3>()
    }
}
