//! Embeddings of tokens and positions.

use burn::module::{Module, Param};
use burn::tensor::module::embedding;
use burn::tensor::{Int, Tensor, TensorData};

/// Adds a learned vector for each token to a learned or fixed vector for each position.
#[derive(Module, Debug)]
pub struct TokenPositionEmbedding {
    /// One row per token. `[vocab_size, d_model]`
    pub token_embedding: Param<Tensor<2>>,
    /// One row per position; `None` if the model does not learn positions. `[position, d_model]`
    pub position_embedding: Option<Param<Tensor<2>>>,
    /// All positions from this one on use its row.
    #[module(skip)]
    pub shared_from: Option<usize>,
    /// Vectors of positions that are not learned. `[position, d_model]`
    pub fixed_positions: Option<Tensor<2>>,
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
        let [_, positions, _] = token_rows.dims();
        match self.position_rows(positions) {
            Some(rows) => token_rows + rows.unsqueeze::<3>(),
            None => token_rows,
        }
    }

    /// The vector of each position. `[position, d_model]`
    fn position_rows(&self, positions: usize) -> Option<Tensor<2>> {
        let Some(learned) = &self.position_embedding else {
            return self.fixed_positions.clone();
        };
        let learned = learned.val();
        Some(match self.shared_from {
            Some(last) => {
                let rows = (0..positions).map(|position| position.min(last) as u32);
                let rows = TensorData::new(rows.collect::<Vec<_>>(), [positions]);
                let rows = Tensor::<1, Int>::from_data(rows, &learned.device());
                learned.select(0, rows)
            }
            None => learned,
        })
    }
}
