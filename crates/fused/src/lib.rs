//! Classifiers of any architecture, hand-derived, with the same bytes on every machine.
//!
//! A [`Model`] is the classifier of `headlight-model`: token and position embeddings; layers of attention with an
//! output projection, residual and layer norm, and of a feed-forward part with the same; and the logits. [`Model::step`]
//! computes forward pass and gradient of a batch, and changes the parameters. [`Tracer::forward`] computes some samples with
//! everything on the way, and lets [`Intervention`]s change it. [`ModelConfig`](headlight_architecture::ModelConfig) and its
//! `layout` say what a model is, and in which order its parameters are.
//!
//! ```
//! use headlight_architecture::{Inputs, ModelConfig};
//! use headlight_fused::{Adam, Architecture, Model, Samples};
//!
//! let inputs = Inputs { vocab_size: 3, positions: 2, cls: Some(0), read_position: 0, n_classes: 2, per_position: false };
//! let architecture = Architecture::new(&ModelConfig::new(4, 1, 1), inputs)?;
//! let adam = Adam { learning_rate: 1e-2, ..Adam::default() };
//! let weights: Vec<f32> = (0..architecture.parameter_count()).map(|i| (i as f32).sin() / 2.0).collect();
//! let mut model = Model::new(&architecture, adam, &weights);
//!
//! let samples = Samples::new(&[0, 1, 0, 2], &[0, 1]);
//! let first = model.step(samples, &[0, 1]);
//! let later = (0..500).map(|_| model.step(samples, &[0, 1])).last();
//! assert!(later < Some(first / 100.0));
//! # Ok::<(), headlight_architecture::InvalidValue>(())
//! ```
//!
//! # Two engines
//!
//! `notebook` computes the notebook's kind of model, one layer with `[CLS]` first, with algebra that leaves out keys,
//! values and all attention rows but one. `engine` computes every other architecture, in passes through `layers`. Both hold
//! eight samples side by side, or sixteen with AVX-512, and each derives its formulas in its own documentation. Several threads
//! may share a batch of the second ([`Team`]).
//!
//! Adam is Keras's (see [`Adam`]). Where it squares the gradient of each occurrence of a token, it needs
//! the sum of squared gradients of a token's occurrences beside the sum of gradients.
//!
//! # The same bytes
//!
//! The input of a step determines its result to the last bit, on every machine. All arithmetic is
//! additions, multiplications, divisions, square roots and comparisons, which IEEE 754 defines exactly, and
//! integer operations on their bits. The compiler contracts nothing into fused multiply-adds. The exponential and the logarithm are this
//! crate's own, and each sum has one order: over a row, over positions and over samples, from the first
//! to the last, and over samples eight at a time. A vector holds samples of a batch, one per lane, or columns of a parameter, so
//! neither the width of the machine's vectors nor the number of threads can change a bit.

mod aligned;
mod architecture;
mod arrays;
mod attribution;
mod chacha;
mod chunk;
mod dropout;
mod engine;

mod functions;
mod gradients;
mod hook;
mod instructions;
mod interventions;
mod kernel;
mod lanes;
mod layers;
mod model;
mod notebook;
mod optimizer;
mod parameters;
mod pass;
mod patch_site;
mod predictions;
mod products;
mod samples;
mod team;
mod trace;
mod training;
mod values;
mod vectors;
mod worker;

pub use architecture::Architecture;
pub use arrays::{Array, Arrays, Dims};
pub use attribution::{Attribution, integrated_gradients};
pub use instructions::Instructions;
pub use interventions::Intervention;
pub use model::{Gradient, Model, State};
pub use patch_site::PatchSite;
pub use samples::{BatchPredictions, IGNORED, Samples};
pub use team::{SingleThread, Team};
pub use trace::{ForwardValues, Recording, Tracer};
pub use training::{Adam, AdamW, CrossEntropy, Dropout, Optimizer, Sgd, TrainingSettings};
