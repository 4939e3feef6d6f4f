//! Initial weights, drawn on the host in the order in which the parameters are listed.
//!
//! As Keras does by default: embeddings uniform in (-0.05, 0.05), weight matrices Glorot uniform
//! in `±sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio 2010), biases 0, gamma 1, beta 0.

use burn::module::Param;
use burn::nn::{LayerNormConfig, Linear};
use burn::tensor::{Device, Tensor, TensorData};
use rand_chacha::rand_core::Rng;

use crate::{
    ModelConfig, SelfAttention, TokenPositionEmbedding, TransformerBlock, TransformerClassifier,
};

const EMBEDDING_LIMIT: f32 = 0.05;

impl ModelConfig {
    /// Builds the model on `device` with fresh weights from `rng`.
    ///
    /// `positions` counts `[CLS]`: `seq_len + 1`.
    ///
    /// # Panics
    /// When the config is not [valid](Self::validate).
    pub fn init(
        &self,
        vocab_size: usize,
        positions: usize,
        rng: &mut impl Rng,
        device: &Device,
    ) -> TransformerClassifier {
        let d_model = self.d_model;
        let embedding = TokenPositionEmbedding {
            token_embedding: uniform([vocab_size, d_model], EMBEDDING_LIMIT, rng, device),
            position_embedding: uniform([positions, d_model], EMBEDDING_LIMIT, rng, device),
        };
        let blocks = (0..self.n_layers)
            .map(|_| self.init_block(rng, device))
            .collect();
        TransformerClassifier {
            embedding,
            blocks,
            classifier: glorot_linear(d_model, 1, rng, device),
        }
    }

    fn init_block(&self, rng: &mut impl Rng, device: &Device) -> TransformerBlock {
        let heads = self.n_heads * self.d_head();
        TransformerBlock {
            attention: SelfAttention {
                query: glorot_linear(self.d_model, heads, rng, device),
                key: glorot_linear(self.d_model, heads, rng, device),
                value: glorot_linear(self.d_model, heads, rng, device),
                output: glorot_linear(heads, self.d_model, rng, device),
                n_heads: self.n_heads,
            },
            norm: LayerNormConfig::new(self.d_model)
                .with_epsilon(self.layer_norm_eps)
                .init(device),
        }
    }
}

/// A projection with Glorot-uniform weights and zero biases. `[fan_in, fan_out]`
fn glorot_linear(fan_in: usize, fan_out: usize, rng: &mut impl Rng, device: &Device) -> Linear {
    let limit = (6.0 / (fan_in + fan_out) as f64).sqrt() as f32;
    Linear {
        weight: uniform([fan_in, fan_out], limit, rng, device),
        bias: Some(Param::from_tensor(Tensor::zeros([fan_out], device))),
    }
}

/// A matrix uniform in `[-limit, limit)`, from the upper 24 bits of a word an element.
fn uniform(shape: [usize; 2], limit: f32, rng: &mut impl Rng, device: &Device) -> Param<Tensor<2>> {
    let values: Vec<f32> = (0..shape[0] * shape[1])
        .map(|_| {
            let unit = (rng.next_u32() >> 8) as f32 / (1_u32 << 24) as f32;
            (2.0 * unit - 1.0) * limit
        })
        .collect();
    Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), device))
}
