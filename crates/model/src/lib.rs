//! A tiny transformer classifier on Burn that returns everything it computes.
//!
//! [`TransformerClassifier::new`] builds one on a device from a
//! [`ModelConfig`](headlight_architecture::ModelConfig) and its parameters; its
//! [`forward`](TransformerClassifier::forward) is the only copy of the mathematics, for training
//! and for inspection alike.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use headlight_architecture::{Inputs, ModelConfig};
//! use headlight_data::Stream;
//! use headlight_model::TransformerClassifier;
//!
//! let device = Device::flex();
//! let notebook = ModelConfig::new(8, 1, 1);
//! let inputs = Inputs { vocab_size: 51, positions: 7, cls: Some(0), read_position: 0, n_classes: 2, per_position: false };
//! let start = notebook.initial_parameters(inputs, &mut Stream::Weights.rng(0));
//! let model = TransformerClassifier::new(&notebook, inputs, start, &device)?;
//!
//! let tokens = Tensor::<2, Int>::from_data([[0, 45, 48, 1, 4, 4, 40]], &device);
//! let output = model.forward(tokens);
//! assert_eq!(output.logits.dims(), [1, 1]);
//! assert_eq!(output.layers[0].attention.weights.dims(), [1, 1, 7, 7]);
//! # Ok::<(), String>(())
//! ```

mod activation;
mod attention;
mod block;
mod build;
mod classifier;
mod dot_product;
mod dropout;
mod embedding;
mod feed_forward;
mod logits;
mod norm;
mod parameters;
mod projections;
mod rotary;
mod weighting;

pub use activation::activate;
pub use attention::{Attention, AttentionOutput};
pub use block::{BlockOutput, TransformerBlock};
pub use classifier::{ForwardOutput, TransformerClassifier};
pub use dot_product::{attention_scores, attention_weights, log_length};
pub use dropout::{Dropout, Factors};
pub use embedding::TokenPositionEmbedding;
pub use feed_forward::{FeedForward, FeedForwardOutput};
pub use logits::{Classifier, ClassifierOutput};
pub use norm::{LayerNorms, Norm};
pub use projections::{Projections, SeparateProjections, SharedProjection};
pub use rotary::Rotary;
