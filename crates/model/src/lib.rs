//! A tiny transformer classifier on Burn that returns everything it computes.
//!
//! [`ModelConfig::init`] builds a [`TransformerClassifier`] on a device; its
//! [`forward`](TransformerClassifier::forward) is the only copy of the mathematics, for training
//! and for inspection alike. Weights are drawn on the host, from a generator that the caller
//! seeds, so that a seed gives the same start on every device. There is no file I/O here.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use headlight_model::{Inputs, ModelConfig};
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//!
//! let device = Device::flex();
//! let notebook = ModelConfig::new(8, 1, 1);
//! let inputs = Inputs { vocab_size: 51, positions: 7, cls_position: 0 };
//! let model = notebook.init(inputs, &mut ChaCha8Rng::seed_from_u64(0), &device);
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
mod feed_forward;
mod init;
mod mask;
mod parameters;
mod projections;
mod scale;
mod summary;

pub use attention::{Attention, AttentionOutput};
pub use block::{BlockOutput, TransformerBlock};
pub use classifier::{ForwardOutput, TransformerClassifier};
pub use config::{AttentionConfig, Inputs, InvalidValue, ModelConfig, ProjectionKind};
pub use dot_product::{attention_scores, attention_weights};
pub use embedding::TokenPositionEmbedding;
pub use feed_forward::{FeedForward, FeedForwardOutput};
pub use mask::Mask;
pub use parameters::{Parameter, ParameterMismatch};
pub use projections::{Projections, SeparateProjections, SharedProjection};
pub use scale::Scale;
