//! The notebook's classifier, the fastest step: one layer, one head, rows of 8 or 16 numbers, and `[CLS]` first.
//!
//! # Derivation
//!
//! The input at position `j` of a sample is the row `x_j = token_embedding[token_j] + position_embedding[j]`. There
//! is one layer, and the classifier reads `[CLS]` alone. So only the attention row of `[CLS]` matters,
//! and `x_0` is the same for all samples. With `s = 1 / sqrt(d_head)`, or another scale:
//!
//! ```text
//! once for the weights
//!   q   = x_0 W_q + b_q                     query of [CLS]
//!   u   = s W_k q                           so that x_j · u = s q · (x_j W_k)
//!   g   = w ⊙ gamma,  c_0 = w · beta + b    gain and bias of the norm, folded into the classifier w, b
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
//! - Vectors were transposed by plain loops. The compiler made hundreds of scalar moves of them, which take
//!   longer than shuffles (`vectors.rs`).
//! - A score is a number of the token plus a number of the position. But each sample looks both up by
//!   itself. By count that costs as much as eight products on eight samples side by side, and it was not
//!   built.
//! - Matrix products of weights alone (`W_v W_o`, `W_q W_k^T`) would save a tenth of the operations at
//!   `d_model` 8 by count, and cost more than they save from 16 on. They were not built.
//! - Several heads and other widths had this kernel too, with sizes that the compiler did not know. No committed config
//!   uses them, and the general engine computes them in 1.4 to 1.8 times the time.

mod backward;
mod forward;
mod kernel;
mod products;

use crate::architecture::Architecture;
use crate::chunk::Chunk;
use crate::gradients::GradientPart;
use crate::instructions::{Body, Instructions};
use crate::lanes::{LANES, LANES_16};
use crate::parameters::ParameterLayout;
use crate::samples::{BatchPredictions, Samples};
use crate::vectors::{Vectors, rows_of_samples};
use kernel::{NotebookKernel, NotebookPlan, Scratch};

/// The place of the parameters in memory, and the values of a pass.
#[derive(Clone, Debug)]
pub(crate) struct NotebookEngine {
    pub(crate) layout: ParameterLayout,
    plan: NotebookPlan,
    d_model: usize,
    scratch: Scratch<LANES>,
    /// That of passes of more samples, once there was one.
    wide: Option<Scratch<LANES_16>>,
}

impl NotebookEngine {
    /// `None` for an architecture that is not the notebook's.
    pub(crate) fn new(architecture: &Architecture) -> Option<Self> {
        if !architecture.is_notebook() {
            return None;
        }
        let layout = ParameterLayout::new(architecture);
        let plan = NotebookPlan::new(architecture, &layout)?;
        Some(Self {
            plan,
            layout,
            d_model: architecture.model.d_model,
            scratch: Scratch::new(architecture.model.d_model, architecture.inputs.positions),
            wide: None,
        })
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
        isa: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        batch: &[u32],
        part: GradientPart<'_>,
    ) -> f32 {
        self.run(isa, parameters, (samples, batch), Task::Train(part))
    }

    /// Appends the predictions of some samples.
    pub(crate) fn predict(
        &mut self,
        isa: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        predictions: &mut BatchPredictions,
    ) {
        self.run(
            isa,
            parameters,
            (samples, chosen),
            Task::Predict(predictions),
        );
    }

    /// Runs a task in passes of eight samples, or of sixteen where the instructions pay with so many.
    fn run(
        &mut self,
        isa: Instructions,
        parameters: &[f32],
        samples: (Samples<'_>, &[u32]),
        task: Task<'_>,
    ) -> f32 {
        let (plan, d_model) = (&self.plan, self.d_model);
        let is_wide = isa.has_sixteen_lanes() && samples.1.len() > LANES;
        let call = Call(plan, parameters, samples, task);
        if is_wide {
            let new = || Scratch::new(d_model, plan.positions);
            dispatch(isa, d_model, call, self.wide.get_or_insert_with(new))
        } else {
            dispatch(isa, d_model, call, &mut self.scratch)
        }
    }
}

/// What is computed of some samples.
enum Task<'a> {
    Train(GradientPart<'a>),
    Predict(&'a mut BatchPredictions),
}

/// A computation: the model, its parameters, the samples that were chosen of some, and the task.
struct Call<'a>(
    &'a NotebookPlan,
    &'a [f32],
    (Samples<'a>, &'a [u32]),
    Task<'a>,
);

/// A computation in passes of `L` samples, with rows of `D` numbers, which the compiler knows.
struct SizedCall<'a, const D: usize, const L: usize>(Call<'a>, &'a mut Scratch<L>);

fn dispatch<const L: usize>(
    isa: Instructions,
    d_model: usize,
    call: Call<'_>,
    scratch: &mut Scratch<L>,
) -> f32 {
    if d_model == 8 {
        isa.run::<L, _>(SizedCall::<8, L>(call, scratch))
    } else {
        isa.run::<L, _>(SizedCall::<16, L>(call, scratch))
    }
}

impl<const D: usize, const L: usize> Body for SizedCall<'_, D, L> {
    /// The mean loss of a batch.
    type Output = f32;

    #[inline(always)]
    fn run(self, vectors: impl Vectors) -> f32 {
        let Self(Call(plan, parameters, (samples, chosen), task), scratch) = self;
        let mut kernel = NotebookKernel::<_, D, L>::new(vectors, plan, parameters, scratch);
        match task {
            Task::Train(part) => kernel.differentiate(samples, chosen, part),
            Task::Predict(predictions) => {
                kernel.predict(samples, chosen, predictions);
                0.0
            }
        }
    }
}

impl<V: Vectors, const D: usize, const L: usize> NotebookKernel<'_, V, D, L> {
    /// Adds the gradient of a batch's mean loss; returns that loss.
    #[inline(always)]
    fn differentiate(
        &mut self,
        samples: Samples<'_>,
        batch: &[u32],
        part: GradientPart<'_>,
    ) -> f32 {
        let share = 1.0 / batch.len() as f32;
        let (gradient, mut squares) = (part.gradient, part.squares);
        let mut loss = 0.0;
        for chosen in batch.chunks(L) {
            let chunk = Chunk::of(samples, chosen, self.plan.positions);
            self.forward(chunk);
            for lane in 0..chosen.len() {
                loss += self.scratch.losses[lane];
            }
            self.backward(chunk, share, gradient, squares.as_deref_mut());
        }
        self.finish(gradient);
        loss * share
    }

    /// Appends the predictions of some samples.
    #[inline(always)]
    fn predict(&mut self, samples: Samples<'_>, chosen: &[u32], into: &mut BatchPredictions) {
        for chosen in chosen.chunks(L) {
            self.forward(Chunk::of(samples, chosen, self.plan.positions));
            let (scratch, lanes) = (&*self.scratch, chosen.len());
            into.logits.extend_from_slice(&scratch.logits[..lanes]);
            into.probabilities
                .extend_from_slice(&scratch.probabilities[..lanes]);
            into.losses.extend_from_slice(&scratch.losses[..lanes]);
            let (count, start) = (scratch.weights.len(), into.attention.len());
            into.attention.resize(start + lanes * count, 0.0);
            let attention = &mut into.attention[start..];
            for (tile, weights) in scratch.weights.chunks(LANES).enumerate() {
                let mut columns = [[0.0; L]; LANES];
                columns[..weights.len()].copy_from_slice(weights);
                for first in (0..lanes).step_by(LANES) {
                    let rows = rows_of_samples(self.vectors, &columns, first / LANES);
                    for (lane, row) in (first..lanes).zip(&rows) {
                        let row = &row[..weights.len()];
                        attention[lane * count + tile * LANES..][..row.len()].copy_from_slice(row);
                    }
                }
            }
        }
    }
}
