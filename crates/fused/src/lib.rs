//! One training step of the one-block classifier, hand-derived, with the same bytes on every machine.
//!
//! A [`Model`] is the classifier of `headlight-model` with one block: token and position embeddings,
//! attention with an output projection, residual, layer norm, and a logit read from `[CLS]` at
//! position 0. [`Model::step`] computes forward pass, gradient and Adam for a batch in one pass.
//! There is no dependency, and without the feature `std` no more than `core` and `alloc` is needed.
//!
//! ```
//! use headlight_fused::{Adam, Model, Samples, Shape};
//!
//! let shape = Shape { vocab_size: 3, positions: 2, d_model: 4, n_heads: 1 };
//! let adam = Adam { learning_rate: 1e-2, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-7, per_occurrence: true };
//! let weights: Vec<f32> = (0..shape.parameter_count()).map(|i| (i as f32).sin() / 2.0).collect();
//! let mut model = Model::new(shape, 1e-6, adam, &weights)?;
//!
//! let samples = Samples { tokens: &[0, 1, 0, 2], labels: &[false, true] };
//! let first = model.step(samples, &[0, 1]);
//! let later = (0..500).map(|_| model.step(samples, &[0, 1])).last();
//! assert!(later < Some(first / 100.0));
//! # Ok::<(), headlight_fused::InvalidShape>(())
//! ```
//!
//! # Parameters
//!
//! Side by side, row-major, matrices `[in, out]`: token embedding `[vocab_size, d_model]`, position
//! embedding `[positions, d_model]`; weight `[d_model, d_model]` and bias `[d_model]` of query, key,
//! value and output; gamma and beta of the norm `[d_model]`; the classifier's weight `[d_model]` and
//! bias `[1]`. That is the order of the parameters of `headlight-model`.
//!
//! # Derivation
//!
//! For one head; several heads have a `u`, a softmax and an average each. Position `j` of a sample has
//! the input `x_j = token_embedding[token_j] + position_embedding[j]`, a row. The classifier reads
//! `[CLS]` alone and there is one block, so of attention only the row of `[CLS]` matters, and `x_0` is
//! the same for all samples. With `s = 1 / sqrt(d_head)`, or another scale:
//!
//! ```text
//! once for the weights
//!   q   = x_0 W_q + b_q                     query of [CLS]
//!   u   = s W_k q                           so that x_j · u = s q · (x_j W_k)
//!   g   = w ⊙ gamma,  c_0 = w · beta + b    norm's scale and shift, seen through the classifier w, b
//!   g'  = g - mean(g)
//! forward, for each sample
//!   a   = softmax_j(x_j · u)                the key bias adds q · b_k to every score: no effect
//!   p   = Σ_j a_j x_j                       averages inputs: keys and values are never formed
//!   c   = p W_v + b_v                       context; the weights sum to 1, so b_v comes through whole
//!   r   = x_0 + c W_o + b_o                 residual
//!   n   = (r - mean(r)) rho                 rho = 1 / sqrt(variance(r) + eps)
//!   t   = g · n,  z = t + c_0               logit
//!   loss = max(z, 0) - z y + log(1 + exp(-|z|))
//! backward, for each sample; dz = (sigmoid(z) - y) / batch
//!   dr  = dz rho (g' - n t / d_model)       layer norm: both of its means are known from above
//!   dc  = dr W_o^T,  dp = dc W_v^T
//!   da_j = dp · x_j,  ds_j = a_j (da_j - Σ_k a_k da_k)
//!   du  = Σ_j ds_j x_j,  dq = s W_k^T du
//!   dx_j = a_j dp + ds_j u                  and for j = 0 also dr + dq W_q^T
//! summed over samples
//!   dW_o = Σ c ⊗ dr,  db_o = Σ dr,  dW_v = Σ p ⊗ dc,  db_v = Σ dc
//!   dW_q = x_0 ⊗ Σ dq,  db_q = Σ dq,  dW_k = s Σ du ⊗ q,  db_k = 0
//!   dgamma = w ⊙ N,  dbeta = w Z,  dw = gamma ⊙ N + beta Z,  db = Z    with N = Σ dz n, Z = Σ dz
//!   token_embedding[token_j] and position_embedding[j] gather dx_j
//! ```
//!
//! Adam is Keras's (see [`Adam`]): where each occurrence of a token is squared by itself, `Σ dx_j²`
//! is gathered beside `Σ dx_j`, which is why `dq` is needed for each sample.
//!
//! # The same bytes
//!
//! The result of a step is a function of its input to the last bit, on every machine: all arithmetic is
//! additions, multiplications, divisions, square roots and comparisons, which IEEE 754 defines exactly;
//! nothing is contracted into fused multiply-adds; exponential and logarithm are our own; each sum has
//! one order. Eight samples of a batch stand side by side in a vector. Sums over a row or over positions
//! go from the first to the last, and so do sums over samples, so neither the width of the machine's
//! vectors nor what else it computes can change a bit.
//!
//! # What was tried
//!
//! - Models side by side in the lanes were the plan for sweeps. Samples in the lanes keep all of them
//!   busy for a single model too, with a working set that stays in the first-level cache, so one kernel
//!   serves a single run and a sweep, and the plan was dropped.
//! - Sixteen lanes: with AVX-512 enabled the compiler takes their loops apart (670 ns instead of 91 for
//!   two projections, a transposition and a product of a batch), and AVX2 gains nothing from two
//!   vectors a value.
//! - Inputs go through a row buffer on their way into the lanes. Writing each number straight to its
//!   lane became a chain of inserts, and a step took 4% longer.
//! - Matrix products of weights alone (`W_v W_o`, `W_q W_k^T`) would save, by count, a tenth of the
//!   operations at `d_model` 8, and cost more than they save from 16 on. Not built.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod adam;
mod instructions;
mod kernel;
mod lanes;
mod model;
mod shape;

pub use adam::Adam;
pub use instructions::Instructions;
pub use model::{Answers, Gradient, Model, Samples, State};
pub use shape::{InvalidShape, Shape};
