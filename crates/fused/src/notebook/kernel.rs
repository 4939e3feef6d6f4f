//! The forward pass and the gradient for some samples, as the module's documentation derives them.
//!
//! Two arrangements alternate. Values of single samples have one sample per lane ([`Lanes`]). Sums over
//! samples have one column of a parameter's row per lane, and take one sample after the other. So no
//! vector is ever summed across its lanes, and each sum has one order whatever the width of the
//! machine's vectors.

use crate::architecture::Architecture;
use crate::lanes::Lanes;
use crate::parameters::{Linear, Matrix, Norm, ParameterLayout};
use crate::vectors::Vectors;

/// Numbers of a row that are computed together.
pub(super) const TILE: usize = 8;

/// What is fixed for a model: the place of each parameter, and its other numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotebookPlan {
    pub(super) tokens: Matrix,
    pub(super) position_table: Matrix,
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) output: Linear,
    pub(super) norm: Norm,
    pub(super) classifier: Linear,
    pub(super) positions: usize,
    pub(super) eps: f32,
    /// The factor of products of queries and keys.
    pub(super) scale: f32,
}

impl NotebookPlan {
    /// `None` if the architecture lacks one of these parameters.
    pub(super) fn new(architecture: &Architecture, layout: &ParameterLayout) -> Option<Self> {
        let layer = layout.layers.first()?;
        let [query, key, value] = layer.projections?;
        Some(Self {
            tokens: layout.tokens,
            position_table: layout.positions?,
            query,
            key,
            value,
            output: layer.output,
            norm: layer.norm?,
            classifier: layout.classifier,
            positions: architecture.inputs.positions,
            eps: architecture.model.layer_norm_eps as f32,
            scale: architecture.scale(),
        })
    }
}

/// Intermediate values of a pass.
#[derive(Clone, Debug)]
pub(super) struct Scratch<const L: usize> {
    /// Whether the values that depend on the weights alone are those of the current weights.
    pub(super) prepared: bool,

    // Values that depend on the weights alone
    /// The input of `[CLS]`. `[d_model]`
    pub(super) x0: Vec<f32>,
    /// Its query. `[d_model]`
    pub(super) query: Vec<f32>,
    /// The query times the transpose of `W_k`, scaled. `[d_model]`
    pub(super) u: Vec<f32>,
    /// The classifier's weight. `[d_model]`
    pub(super) classifier: Vec<f32>,
    /// Classifier weight times gamma. `[d_model]`
    pub(super) wg: Vec<f32>,
    /// `wg` minus its mean. `[d_model]`
    pub(super) centred: Vec<f32>,
    /// The logit of a normalised row of zeros.
    pub(super) c0: f32,

    // One sample per lane
    /// Inputs. `[position, d_model]`
    pub(super) x: Vec<Lanes<L>>,
    /// Attention weights of `[CLS]`. `[position]`
    pub(super) weights: Vec<Lanes<L>>,
    /// Inputs averaged with the weights. `[d_model]`
    pub(super) pooled: Vec<Lanes<L>>,
    /// `[d_model]`
    pub(super) context: Vec<Lanes<L>>,
    /// The normalised residual before gamma and beta. `[d_model]`
    pub(super) normalized: Vec<Lanes<L>>,
    /// One over the residual's standard deviation.
    pub(super) rstd: Lanes<L>,
    /// Log-odds minus `c0`.
    pub(super) t: Lanes<L>,
    /// Log-odds.
    pub(super) logits: Lanes<L>,
    /// Probabilities of the positive class.
    pub(super) probabilities: Lanes<L>,
    /// Binary cross-entropies.
    pub(super) losses: Lanes<L>,
    /// Gradients of the scores. `[position]`
    pub(super) d_scores: Vec<Lanes<L>>,
    pub(super) d_residual: Vec<Lanes<L>>,
    pub(super) d_context: Vec<Lanes<L>>,
    pub(super) d_pooled: Vec<Lanes<L>>,
    pub(super) d_u: Vec<Lanes<L>>,
    pub(super) d_query: Vec<Lanes<L>>,
    /// The query's part of the gradient of `x0`. Before that, terms of sums over samples. `[d_model]`
    pub(super) part: Vec<Lanes<L>>,

    // One column per lane, `[sample, d_model]`
    pub(super) d_residual_rows: Vec<f32>,
    pub(super) d_context_rows: Vec<f32>,
    pub(super) d_pooled_rows: Vec<f32>,
    pub(super) part_rows: Vec<f32>,

    // Sums over the samples of a batch
    /// Of the logit's gradient.
    pub(super) d_logit: f32,
    /// Of the logit's gradient times the normalised residual. `[d_model]`
    pub(super) d_normalized_sum: Vec<f32>,
    /// Of `d_u`. `[d_model]`
    pub(super) d_u_sum: Vec<f32>,
}

impl<const L: usize> Scratch<L> {
    pub(super) fn new(d_model: usize, positions: usize) -> Self {
        let row = || vec![0.0; d_model];
        let rows = || vec![0.0; L * d_model];
        let lanes = |count: usize| vec![[0.0; L]; count];
        Self {
            prepared: false,
            x0: row(),
            query: row(),
            u: row(),
            classifier: row(),
            wg: row(),
            centred: row(),
            c0: 0.0,
            x: lanes(positions * d_model),
            weights: lanes(positions),
            pooled: lanes(d_model),
            context: lanes(d_model),
            normalized: lanes(d_model),
            rstd: [0.0; L],
            t: [0.0; L],
            logits: [0.0; L],
            probabilities: [0.0; L],
            losses: [0.0; L],
            d_scores: lanes(positions),
            d_residual: lanes(d_model),
            d_context: lanes(d_model),
            d_pooled: lanes(d_model),
            d_u: lanes(d_model),
            d_query: lanes(d_model),
            part: lanes(d_model),
            d_residual_rows: rows(),
            d_context_rows: rows(),
            d_pooled_rows: rows(),
            part_rows: rows(),
            d_logit: 0.0,
            d_normalized_sum: row(),
            d_u_sum: row(),
        }
    }
}

/// The passes for rows of `D` numbers, and one set of weights.
pub(super) struct NotebookKernel<'a, V, const D: usize, const L: usize> {
    pub(super) vectors: V,
    pub(super) plan: &'a NotebookPlan,
    pub(super) parameters: &'a [f32],
    pub(super) scratch: &'a mut Scratch<L>,
}

impl<'a, V: Vectors, const D: usize, const L: usize> NotebookKernel<'a, V, D, L> {
    #[inline(always)]
    pub(super) fn new(
        vectors: V,
        plan: &'a NotebookPlan,
        parameters: &'a [f32],
        scratch: &'a mut Scratch<L>,
    ) -> Self {
        let mut kernel = Self {
            vectors,
            plan,
            parameters,
            scratch,
        };
        if !kernel.scratch.prepared {
            kernel.prepare();
            kernel.scratch.prepared = true;
        }
        kernel
    }

    #[inline(always)]
    pub(super) fn parameter(&self, matrix: Matrix) -> &'a [f32] {
        &self.parameters[matrix.range()]
    }

    /// Computes the values that depend on the weights alone.
    #[inline(always)]
    fn prepare(&mut self) {
        let plan = self.plan;
        let tokens = self.parameter(plan.tokens);
        let positions = self.parameter(plan.position_table);
        let query_weight = &self.parameter(plan.query.weight)[..D * D];
        let query_bias = self.parameter(plan.query.bias);
        let key_weight = &self.parameter(plan.key.weight)[..D * D];
        let gamma = self.parameter(plan.norm.gamma);
        let beta = self.parameter(plan.norm.beta);
        let classifier = self.parameter(plan.classifier.weight);
        let mut c0 = self.parameter(plan.classifier.bias)[0];
        let scratch = &mut *self.scratch;
        for i in 0..D {
            scratch.x0[i] = tokens[i] + positions[i];
            scratch.x[i] = [scratch.x0[i]; L];
        }
        // q = x_0 W_q + b_q
        let (query, x0) = (&mut scratch.query[..D], &scratch.x0[..D]);
        query.copy_from_slice(query_bias);
        for (x0, row) in x0.iter().zip(query_weight.chunks_exact(D)) {
            for e in 0..D {
                query[e] += x0 * row[e];
            }
        }
        // u = s W_k q
        for (u, row) in scratch.u.iter_mut().zip(key_weight.chunks_exact(D)) {
            let mut sum = 0.0;
            for e in 0..D {
                sum += row[e] * query[e];
            }
            *u = sum * plan.scale;
        }
        let mut mean = 0.0;
        for i in 0..D {
            // A matrix with one column: its rows are padded.
            let weight = classifier[i * plan.classifier.weight.stride];
            let wg = weight * gamma[i];
            scratch.classifier[i] = weight;
            scratch.wg[i] = wg;
            mean += wg;
            c0 += weight * beta[i];
        }
        mean /= D as f32;
        for i in 0..D {
            scratch.centred[i] = scratch.wg[i] - mean;
        }
        scratch.c0 = c0;
    }
}
