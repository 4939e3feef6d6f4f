//! A tiny transformer classifier on Burn that returns everything it computes.
//!
//! [`ModelConfig::init`] builds a [`TransformerClassifier`] on a device; its
//! [`forward`](TransformerClassifier::forward) is the only copy of the mathematics, for training
//! and for inspection alike. Weights are drawn on the host, from a generator that the caller
//! seeds, so that a seed gives the same start on every device. There is no file I/O here.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use headlight_model::ModelConfig;
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//!
//! let device = Device::flex();
//! let config = ModelConfig { d_model: 8, n_heads: 1, n_layers: 1, layer_norm_eps: 1e-6 };
//! let model = config.init(51, 7, &mut ChaCha8Rng::seed_from_u64(0), &device);
//!
//! let tokens = Tensor::<2, Int>::from_data([[0, 45, 48, 1, 4, 4, 40]], &device);
//! let output = model.forward(tokens);
//! assert_eq!(output.logits.dims(), [1]);
//! assert_eq!(output.layers[0].attention.weights.dims(), [1, 1, 7, 7]);
//! ```

mod attention;
mod block;
mod classifier;
mod config;
mod dot_product;
mod embedding;
mod init;
mod mask;
mod parameters;
mod scale;
mod summary;

pub use attention::{AttentionOutput, SelfAttention};
pub use block::{BlockOutput, TransformerBlock};
pub use classifier::{ForwardOutput, TransformerClassifier};
pub use config::{InvalidValue, ModelConfig};
pub use dot_product::{attention_scores, attention_weights};
pub use embedding::TokenPositionEmbedding;
pub use mask::Mask;
pub use parameters::{Parameter, ParameterMismatch};
pub use scale::Scale;
