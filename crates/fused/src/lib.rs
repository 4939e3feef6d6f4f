//! One training step of the one-block classifier, hand-derived, with the same bytes on every machine.
//!
//! A [`Model`] is the classifier of `headlight-model` with one block: token and position embeddings,
//! attention with an output projection, residual, layer norm, and a logit read from `[CLS]` at
//! position 0. [`Model::step`] computes forward pass, gradient and Adam for a batch in one pass.
//! The crate has no dependency. Without the feature `std` it needs only `core` and `alloc`.
//!
//! ```
//! use headlight_fused::{Adam, Architecture, Model, Samples};
//!
//! let sizes = Architecture { vocab_size: 3, positions: 2, d_model: 4, ..Architecture::default() };
//! let adam = Adam { learning_rate: 1e-2, ..Adam::default() };
//! let weights: Vec<f32> = (0..sizes.parameter_count()).map(|i| (i as f32).sin() / 2.0).collect();
//! let mut model = Model::new(sizes, adam, &weights)?;
//!
//! let samples = Samples { tokens: &[0, 1, 0, 2], labels: &[0, 1] };
//! let first = model.step(samples, &[0, 1]);
//! let later = (0..500).map(|_| model.step(samples, &[0, 1])).last();
//! assert!(later < Some(first / 100.0));
//! # Ok::<(), headlight_fused::InvalidArchitecture>(())
//! ```
//!
//! # Parameters
//!
//! One after the other, row-major, matrices as `[in, out]`: token embedding `[vocab_size, d_model]`, position
//! embedding `[positions, d_model]`; weight `[d_model, d_model]` and bias `[d_model]` of query, key,
//! value and output; gamma and beta of the norm `[d_model]`; the classifier's weight `[d_model]` and
//! bias `[1]`. The parameters of `headlight-model` have the same order.
//!
//! # Derivation
//!
//! The formulas are for one head. With several heads, each has its own `u`, softmax and average. The input
//! at position `j` of a sample is the row `x_j = token_embedding[token_j] + position_embedding[j]`. There
//! is one block, and the classifier reads `[CLS]` alone. So only the attention row of `[CLS]` matters,
//! and `x_0` is the same for all samples. With `s = 1 / sqrt(d_head)`, or another scale:
//!
//! ```text
//! once for the weights
//!   q   = x_0 W_q + b_q                     query of [CLS]
//!   u   = s W_k q                           so that x_j · u = s q · (x_j W_k)
//!   g   = w ⊙ gamma,  c_0 = w · beta + b    scale and shift of the norm, folded into the classifier w, b
//!   g'  = g - mean(g)
//! forward, for each sample
//!   a   = softmax_j(x_j · u)                the key bias adds q · b_k to every score: no effect
//!   p   = Σ_j a_j x_j                       average of inputs: keys and values are never computed
//!   c   = p W_v + b_v                       context; the weights sum to 1, so b_v is added once
//!   r   = x_0 + c W_o + b_o                 residual
//!   n   = (r - mean(r)) rho                 rho = 1 / sqrt(variance(r) + eps)
//!   t   = g · n,  z = t + c_0               logit
//!   loss = max(z, 0) - z y + log(1 + exp(-|z|))
//! backward, for each sample; dz = (sigmoid(z) - y) / batch
//!   dr  = dz rho (g' - n t / d_model)       layer norm: both of its means follow from the values above
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
//! Adam is Keras's (see [`Adam`]). Where it squares the gradient of each occurrence of a token, it needs
//! `Σ dx_j²` as well as `Σ dx_j`, and therefore `dq` for each sample.
//!
//! # The same bytes
//!
//! The input of a step determines its result to the last bit, on every machine. All arithmetic is
//! additions, multiplications, divisions, square roots and comparisons, which IEEE 754 defines exactly.
//! The compiler contracts nothing into fused multiply-adds. The exponential and the logarithm are this
//! crate's own, and each sum has one order: over a row, over positions and over samples, from the first
//! to the last. A vector holds eight samples of a batch, one per lane, so the width of the machine's
//! vectors cannot change a bit.
//!
//! # What was tried
//!
//! - One model per lane was the plan for sweeps. One sample per lane keeps all lanes busy for a single
//!   model too, and its working set stays in the first-level cache. So one kernel serves single runs
//!   and sweeps, and the plan was dropped.
//! - Sixteen lanes: with AVX-512 the compiler splits their loops into scalar code (670 ns instead of 91
//!   for two projections, a transposition and a product of a batch), and AVX2 gains nothing from two
//!   vectors per value.
//! - Inputs are copied to the lanes through a row buffer. Direct writes to the lanes compiled to a chain
//!   of inserts, and a step took 4% longer.
//! - Matrix products of weights alone (`W_v W_o`, `W_q W_k^T`) would save a tenth of the operations at
//!   `d_model` 8 by count, and cost more than they save from 16 on. They were not built.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod adam;
mod architecture;
mod blocks;
mod forward;
mod instructions;
mod lanes;
mod model;
mod one_block;

pub use adam::Adam;
pub use architecture::{Architecture, InvalidArchitecture, Projections};
pub use forward::{Forward, Intervention, InvalidForward, Place, forward};
pub use instructions::Instructions;
pub use model::{Gradient, Model, Predictions, Samples, State};
