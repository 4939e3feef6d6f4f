//! From vectors to queries, keys and values.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;

/// What makes queries, keys and values.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // A model has a handful of them.
pub enum Projections {
    /// A projection for each.
    Separate(SeparateProjections),
    /// One projection for all three.
    Shared(SharedProjection),
}

/// A projection for each of queries, keys and values, heads side by side.
#[derive(Module, Debug)]
pub struct SeparateProjections {
    /// `W_q`. `[d_model, n_heads * d_head]`
    pub query: Linear,
    /// `W_k`. `[d_model, n_heads * d_head]`
    pub key: Linear,
    /// `W_v`. `[d_model, n_heads * d_head]`
    pub value: Linear,
}

/// One projection for queries, keys and values, heads side by side.
#[derive(Module, Debug)]
pub struct SharedProjection {
    /// `W_q = W_k = W_v`. `[d_model, n_heads * d_head]`
    pub shared: Linear,
}

impl Projections {
    /// Queries of one sequence; keys and values of another, or of the same.
    ///
    /// # Shapes
    /// - input: `[batch, query, d_model]`
    /// - memory: `[batch, key, d_model]`
    /// - output: `[batch, query or key, n_heads * d_head]`
    pub fn forward(&self, input: Tensor<3>, memory: Tensor<3>) -> [Tensor<3>; 3] {
        match self {
            Self::Separate(SeparateProjections { query, key, value }) => [
                query.forward(input),
                key.forward(memory.clone()),
                value.forward(memory),
            ],
            Self::Shared(SharedProjection { shared }) => {
                let memory = shared.forward(memory);
                [shared.forward(input), memory.clone(), memory]
            }
        }
    }
}
