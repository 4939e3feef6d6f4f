//! Projections from vectors to queries, keys and values.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;

/// The projections that compute queries, keys and values.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // A model has one per block.
pub enum Projections {
    /// A separate projection for each.
    Separate(SeparateProjections),
    /// One projection for all three.
    Shared(SharedProjection),
}

/// Separate projections for queries, keys and values; the columns of all heads are side by side.
#[derive(Module, Debug)]
pub struct SeparateProjections {
    /// `W_q`. `[d_model, n_heads * d_head]`
    pub query: Linear,
    /// `W_k`. `[d_model, n_heads * d_head]`
    pub key: Linear,
    /// `W_v`; `None` if a head's value is its columns of the vector itself. `[d_model, n_heads * d_head]`
    pub value: Option<Linear>,
}

/// One projection for queries, keys and values; the columns of all heads are side by side.
#[derive(Module, Debug)]
pub struct SharedProjection {
    /// `W_q = W_k = W_v`. `[d_model, n_heads * d_head]`
    pub shared: Linear,
}

impl Projections {
    /// Computes queries, keys and values.
    ///
    /// # Shapes
    /// - input: `[batch, position, d_model]`
    /// - output: `[batch, position, n_heads * d_head]`
    pub fn forward(&self, input: Tensor<3>) -> [Tensor<3>; 3] {
        match self {
            Self::Separate(SeparateProjections { query, key, value }) => [
                query.forward(input.clone()),
                key.forward(input.clone()),
                match value {
                    Some(value) => value.forward(input),
                    None => input,
                },
            ],
            Self::Shared(SharedProjection { shared }) => {
                let projected = shared.forward(input);
                [projected.clone(), projected.clone(), projected]
            }
        }
    }
}
