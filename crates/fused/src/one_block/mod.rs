//! The one-block classifier with `[CLS]` first: the fastest step.
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
//! Where Adam squares the gradient of each occurrence of a token, it needs `Σ dx_j²` as well as `Σ dx_j`, and
//! therefore `dq` for each sample.
//!
//! # What was tried
//!
//! - One model per lane was the plan for sweeps. One sample per lane keeps all lanes busy for a single
//!   model too, and its working set stays in the first-level cache. So one kernel serves single runs
//!   and sweeps, and the plan was dropped.
//! - Sixteen lanes in plain loops: with AVX-512 the compiler splits them into scalar code (670 ns instead of 91
//!   for two projections, a transposition and a product of a batch). They pay with products that name the instructions. AVX2
//!   gains nothing from two vectors per value.
//! - Eight lanes with AVX-512's 32 registers: no gain.
//! - Vectors were turned by plain loops. The compiler made hundreds of scalar moves of them, which take
//!   longer than shuffles (`vectors.rs`).
//! - A score is a number of the token plus a number of the position. But each sample looks both up by
//!   itself. By count that costs as much as eight products on eight samples side by side, and it was not
//!   built.
//! - Matrix products of weights alone (`W_v W_o`, `W_q W_k^T`) would save a tenth of the operations at
//!   `d_model` 8 by count, and cost more than they save from 16 on. They were not built.

mod kernel;
mod layout;

use crate::adam::Sums;
use crate::architecture::Architecture;
use crate::instructions::{Body, Instructions};
use crate::lanes::{LANES, WIDE};
use crate::samples::{Predictions, Samples};
use crate::vectors::{Vectors, rows_of_samples};
use kernel::{AnySize, Block, Constants, FixedSize, Kernel, Scratch, Size};
use layout::{Layout, Parameter, Shape};

/// The place of the parameters in memory, and the values of a pass.
#[derive(Clone, Debug)]
pub(crate) struct OneBlock {
    layout: Layout,
    constants: Constants,
    scratch: Scratch<LANES>,
    /// That of passes of more samples, once there was one.
    wide: Option<Scratch<WIDE>>,
}

impl OneBlock {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        let layout = Layout::new(Shape {
            vocab_size: architecture.vocab_size,
            positions: architecture.positions,
            d_model: architecture.d_model,
            n_heads: architecture.n_heads,
        });
        Self {
            layout,
            constants: Constants {
                layer_norm_eps: architecture.norms.eps,
                scale: architecture.scale(),
            },
            scratch: Scratch::new(layout),
            wide: None,
        }
    }

    pub(crate) fn pack(&self, plain: &[f32]) -> Vec<f32> {
        self.layout.pack(plain)
    }

    pub(crate) fn unpack(&self, padded: &[f32]) -> Vec<f32> {
        self.layout.unpack(padded)
    }

    /// Numbers of the token embedding, which is first in memory.
    pub(crate) fn token_embedding_len(&self) -> usize {
        self.layout.range(Parameter::Tokens).len()
    }

    /// Values that depend on the weights alone must be computed again.
    pub(crate) fn parameters_changed(&mut self) {
        self.scratch.prepared = false;
        if let Some(wide) = &mut self.wide {
            wide.prepared = false;
        }
    }

    /// Adds the gradient of a batch's mean loss; returns that loss.
    pub(crate) fn differentiate(
        &mut self,
        set: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        batch: &[u32],
        sums: Sums<'_>,
    ) -> f32 {
        let task = Differentiate {
            samples,
            batch,
            sums,
        };
        if set.is_wide() && batch.len() > LANES {
            self.wide_lanes(parameters).dispatch(set, task)
        } else {
            self.lanes(parameters).dispatch(set, task)
        }
    }

    /// Appends the predictions of some samples.
    pub(crate) fn predict(
        &mut self,
        set: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        predictions: &mut Predictions,
    ) {
        let task = Predict {
            samples,
            chosen,
            predictions,
        };
        if set.is_wide() && chosen.len() > LANES {
            self.wide_lanes(parameters).dispatch(set, task);
        } else {
            self.lanes(parameters).dispatch(set, task);
        }
    }

    /// Passes of up to eight samples.
    fn lanes<'a>(&'a mut self, parameters: &'a [f32]) -> Passes<'a, LANES> {
        Passes {
            layout: self.layout,
            constants: self.constants,
            parameters,
            scratch: &mut self.scratch,
        }
    }

    /// Passes of up to sixteen samples.
    fn wide_lanes<'a>(&'a mut self, parameters: &'a [f32]) -> Passes<'a, WIDE> {
        let layout = self.layout;
        Passes {
            layout,
            constants: self.constants,
            parameters,
            scratch: self.wide.get_or_insert_with(|| Scratch::new(layout)),
        }
    }
}

/// Passes with some lanes.
struct Passes<'a, const L: usize> {
    layout: Layout,
    constants: Constants,
    parameters: &'a [f32],
    scratch: &'a mut Scratch<L>,
}

impl<'a, const L: usize> Passes<'a, L> {
    fn dispatch<T: Task>(self, set: Instructions, task: T) -> T::Output {
        // A page carries this module with it, so that its size counts for more than some of its speed.
        if cfg!(target_arch = "wasm32") {
            return self.dispatch_any(set, task);
        }
        let shape = self.layout.shape;
        match (shape.d_model, shape.n_heads) {
            (4, 1) => set.run::<L, _>(SizedTask::<_, _, 4, L>(self, task, FixedSize::<4>)),
            (8, 1) => set.run::<L, _>(SizedTask::<_, _, 8, L>(self, task, FixedSize::<8>)),
            (16, 1) => set.run::<L, _>(SizedTask::<_, _, 8, L>(self, task, FixedSize::<16>)),
            (32, 1) => set.run::<L, _>(SizedTask::<_, _, 8, L>(self, task, FixedSize::<32>)),
            _ => self.dispatch_any(set, task),
        }
    }

    /// The passes of sizes that the compiler does not know.
    fn dispatch_any<T: Task>(self, set: Instructions, task: T) -> T::Output {
        let any = AnySize(self.layout);
        match any.d_model() {
            4 => set.run::<L, _>(SizedTask::<_, _, 4, L>(self, task, any)),
            _ => set.run::<L, _>(SizedTask::<_, _, 8, L>(self, task, any)),
        }
    }

    #[inline(always)]
    fn kernel<S: Size, T: Vectors, const TILE: usize>(
        self,
        size: S,
        vectors: T,
    ) -> Kernel<'a, S, T, TILE, L> {
        Kernel::new(
            size,
            vectors,
            self.layout,
            self.constants,
            self.parameters,
            self.scratch,
        )
    }
}

impl<'a> Samples<'a> {
    #[inline(always)]
    fn block(self, samples: &'a [u32]) -> Block<'a> {
        Block {
            tokens: self.tokens,
            labels: self.labels,
            samples,
        }
    }
}

/// A computation with a model.
trait Task {
    type Output;
    fn run<S: Size, const TILE: usize, const L: usize>(
        self,
        passes: Passes<'_, L>,
        size: S,
        vectors: impl Vectors,
    ) -> Self::Output;
}

/// A task, and the size of the model's rows, which the compiler may know.
struct SizedTask<'a, T, S, const TILE: usize, const L: usize>(Passes<'a, L>, T, S);

impl<T: Task, S: Size, const TILE: usize, const L: usize> Body for SizedTask<'_, T, S, TILE, L> {
    type Output = T::Output;

    #[inline(always)]
    fn run(self, vectors: impl Vectors) -> T::Output {
        self.1.run::<S, TILE, L>(self.0, self.2, vectors)
    }
}

struct Differentiate<'a> {
    samples: Samples<'a>,
    batch: &'a [u32],
    sums: Sums<'a>,
}

impl Task for Differentiate<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<S: Size, const TILE: usize, const L: usize>(
        self,
        passes: Passes<'_, L>,
        size: S,
        vectors: impl Vectors,
    ) -> f32 {
        let share = 1.0 / self.batch.len() as f32;
        let Sums {
            gradient,
            mut squares,
            ..
        } = self.sums;
        let mut kernel = passes.kernel::<S, _, TILE>(size, vectors);
        let mut loss = 0.0;
        for samples in self.batch.chunks(L) {
            let block = self.samples.block(samples);
            kernel.forward(block);
            for lane in 0..samples.len() {
                loss += kernel.scratch.losses[lane];
            }
            kernel.backward(block, share, gradient, squares.as_deref_mut());
        }
        kernel.finish(gradient);
        loss * share
    }
}

struct Predict<'a> {
    samples: Samples<'a>,
    chosen: &'a [u32],
    predictions: &'a mut Predictions,
}

impl Task for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Size, const TILE: usize, const L: usize>(
        self,
        passes: Passes<'_, L>,
        size: S,
        vectors: impl Vectors,
    ) {
        let mut kernel = passes.kernel::<S, _, TILE>(size, vectors);
        for samples in self.chosen.chunks(L) {
            let block = self.samples.block(samples);
            kernel.forward(block);
            let scratch = &*kernel.scratch;
            let lanes = samples.len();
            self.predictions
                .logits
                .extend_from_slice(&scratch.logits[..lanes]);
            self.predictions
                .probabilities
                .extend_from_slice(&scratch.probabilities[..lanes]);
            self.predictions
                .losses
                .extend_from_slice(&scratch.losses[..lanes]);
            let count = scratch.weights.len();
            let start = self.predictions.attention.len();
            self.predictions
                .attention
                .resize(start + lanes * count, 0.0);
            let attention = &mut self.predictions.attention[start..];
            for (tile, weights) in scratch.weights.chunks(LANES).enumerate() {
                let mut columns = [[0.0; L]; LANES];
                columns[..weights.len()].copy_from_slice(weights);
                for first in (0..lanes).step_by(LANES) {
                    let own = lanes.min(first + LANES) - first;
                    let rows = rows_of_samples(vectors, &columns, first / LANES);
                    for (lane, row) in rows[..own].iter().enumerate() {
                        let row = &row[..weights.len()];
                        let start = (first + lane) * count + tile * LANES;
                        attention[start..][..row.len()].copy_from_slice(row);
                    }
                }
            }
        }
    }
}
