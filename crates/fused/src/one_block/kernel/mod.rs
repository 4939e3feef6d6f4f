//! The forward pass and the gradient for some samples, as the crate's documentation derives them.
//!
//! Two arrangements alternate. Values of single samples have one sample per lane ([`Lanes`]). Sums over
//! samples have one column of a parameter's row per lane, and take one sample after the other. So no
//! vector is ever summed across its lanes, and each sum has one order whatever the width of the
//! machine's vectors.

mod backward;
mod forward;
mod products;

use crate::lanes::Lanes;
use crate::one_block::layout::{Layout, Parameter};
use crate::vectors::Vectors;

/// The sizes of rows. The compiler knows the common ones.
pub(crate) trait Size: Copy {
    /// Numbers in a row.
    fn d_model(self) -> usize;
    /// Numbers in a padded row.
    fn width(self) -> usize;
    /// Attention heads.
    fn n_heads(self) -> usize;
}

/// One head, and rows that need no padding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedSize<const D: usize>;

impl<const D: usize> Size for FixedSize<D> {
    #[inline(always)]
    fn d_model(self) -> usize {
        D
    }
    #[inline(always)]
    fn width(self) -> usize {
        D
    }
    #[inline(always)]
    fn n_heads(self) -> usize {
        1
    }
}

/// Any other sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnySize(pub(crate) Layout);

impl Size for AnySize {
    #[inline(always)]
    fn d_model(self) -> usize {
        self.0.shape.d_model
    }
    #[inline(always)]
    fn width(self) -> usize {
        self.0.width
    }
    #[inline(always)]
    fn n_heads(self) -> usize {
        self.0.shape.n_heads
    }
}

/// The head that a column belongs to; columns of padding count to the last.
#[inline(always)]
fn head_of(column: usize, d_head: usize, n_heads: usize) -> usize {
    if n_heads == 1 {
        0
    } else {
        (column / d_head).min(n_heads - 1)
    }
}

/// Intermediate values of a pass. Rows are padded.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<const L: usize> {
    /// Whether the values that depend on the weights alone are those of the current weights.
    pub(crate) prepared: bool,

    // Values that depend on the weights alone
    /// The input of `[CLS]`. `[width]`
    x0: Vec<f32>,
    /// Its query. `[width]`
    query: Vec<f32>,
    /// The query times the transpose of `W_k`, scaled. `[head, width]`
    u: Vec<f32>,
    /// Classifier weight times gamma. `[width]`
    wg: Vec<f32>,
    /// `wg` minus its mean. `[width]`
    centred: Vec<f32>,
    /// The logit of a normalised row of zeros.
    c0: f32,

    // One sample per lane
    /// Inputs. `[position, width]`
    x: Vec<Lanes<L>>,
    /// Attention weights of `[CLS]`. `[head, position]`
    pub(crate) weights: Vec<Lanes<L>>,
    /// Inputs averaged with the weights. `[head, width]`
    pooled: Vec<Lanes<L>>,
    /// `[width]`
    context: Vec<Lanes<L>>,
    /// The normalised residual before gamma and beta. `[width]`
    normalized: Vec<Lanes<L>>,
    /// One over the residual's standard deviation.
    rstd: Lanes<L>,
    /// Log-odds minus `c0`.
    t: Lanes<L>,
    /// Log-odds.
    pub(crate) logits: Lanes<L>,
    /// Probabilities of the positive class.
    pub(crate) probabilities: Lanes<L>,
    /// Binary cross-entropies.
    pub(crate) losses: Lanes<L>,
    /// Gradients of the scores. `[head, position]`
    d_scores: Vec<Lanes<L>>,
    d_residual: Vec<Lanes<L>>,
    d_context: Vec<Lanes<L>>,
    d_pooled: Vec<Lanes<L>>,
    d_u: Vec<Lanes<L>>,
    d_query: Vec<Lanes<L>>,
    /// The query's part of the gradient of `x0`. Before that, terms of sums over samples. `[width]`
    part: Vec<Lanes<L>>,

    // One column per lane, `[sample, width]`
    d_residual_rows: Vec<f32>,
    d_context_rows: Vec<f32>,
    /// `[head, sample, width]`
    d_pooled_rows: Vec<f32>,
    part_rows: Vec<f32>,

    // Sums over the samples of a batch
    /// Of the logit's gradient.
    d_logit: f32,
    /// Of the logit's gradient times the normalised residual. `[width]`
    d_normalized_sum: Vec<f32>,
    /// Of `d_u`. `[head, width]`
    d_u_sum: Vec<f32>,
}

impl<const L: usize> Scratch<L> {
    pub(crate) fn new(layout: Layout) -> Self {
        let (width, heads) = (layout.width, layout.shape.n_heads);
        let positions = layout.shape.positions;
        let row = || vec![0.0; width];
        let lanes = |count: usize| vec![[0.0; L]; count];
        Self {
            prepared: false,
            x0: row(),
            query: row(),
            u: vec![0.0; heads * width],
            wg: row(),
            centred: row(),
            c0: 0.0,
            x: lanes(positions * width),
            weights: lanes(heads * positions),
            pooled: lanes(heads * width),
            context: lanes(width),
            normalized: lanes(width),
            rstd: [0.0; L],
            t: [0.0; L],
            logits: [0.0; L],
            probabilities: [0.0; L],
            losses: [0.0; L],
            d_scores: lanes(heads * positions),
            d_residual: lanes(width),
            d_context: lanes(width),
            d_pooled: lanes(heads * width),
            d_u: lanes(heads * width),
            d_query: lanes(width),
            part: lanes(width),
            d_residual_rows: vec![0.0; L * width],
            d_context_rows: vec![0.0; L * width],
            d_pooled_rows: vec![0.0; heads * L * width],
            part_rows: vec![0.0; L * width],
            d_logit: 0.0,
            d_normalized_sum: row(),
            d_u_sum: vec![0.0; heads * width],
        }
    }
}

/// The samples of a dataset that a pass computes side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    /// Row-major tokens of the whole dataset. `[sample, position]`
    pub(crate) tokens: &'a [u32],
    /// 1 or 0 for each sample of the dataset.
    pub(crate) labels: &'a [u32],
    /// At most as many as there are lanes; the last one fills the other lanes too.
    pub(crate) samples: &'a [u32],
}

impl Block<'_> {
    #[inline(always)]
    fn sample(&self, lane: usize) -> usize {
        self.samples[lane.min(self.samples.len() - 1)] as usize
    }

    /// 1 or 0 for each lane.
    #[inline(always)]
    fn labels<const L: usize>(&self) -> Lanes<L> {
        let mut labels = [0.0; L];
        for (lane, label) in labels.iter_mut().enumerate() {
            *label = self.labels[self.sample(lane)] as f32;
        }
        labels
    }

    #[inline(always)]
    fn tokens(&self, lane: usize, positions: usize) -> &[u32] {
        let start = self.sample(lane) * positions;
        &self.tokens[start..start + positions]
    }
}

/// The fixed numbers of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    pub(crate) layer_norm_eps: f32,
    /// The factor of products of queries and keys.
    pub(crate) scale: f32,
}

/// The passes for one size of rows and one set of weights.
pub(crate) struct Kernel<'a, S, T, const TILE: usize, const L: usize> {
    size: S,
    vectors: T,
    layout: Layout,
    constants: Constants,
    parameters: &'a [f32],
    pub(crate) scratch: &'a mut Scratch<L>,
}

impl<'a, S: Size, T: Vectors, const TILE: usize, const L: usize> Kernel<'a, S, T, TILE, L> {
    #[inline(always)]
    pub(crate) fn new(
        size: S,
        vectors: T,
        layout: Layout,
        constants: Constants,
        parameters: &'a [f32],
        scratch: &'a mut Scratch<L>,
    ) -> Self {
        let mut kernel = Self {
            size,
            vectors,
            layout: Layout {
                width: size.width(),
                ..layout
            },
            constants,
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
    fn parameter(&self, parameter: Parameter) -> &[f32] {
        &self.parameters[self.layout.range(parameter)]
    }

    /// Columns of a head.
    #[inline(always)]
    fn columns(&self, head: usize) -> std::ops::Range<usize> {
        let d_head = self.size.d_model() / self.size.n_heads();
        head * d_head..(head + 1) * d_head
    }

    /// Computes the values that depend on the weights alone.
    #[inline(always)]
    fn prepare(&mut self) {
        let (d, width) = (self.size.d_model(), self.size.width());
        let parameters = self.parameters;
        let layout = self.layout;
        let of = |parameter| &parameters[layout.range(parameter)];
        let (tokens, positions) = (of(Parameter::Tokens), of(Parameter::Positions));
        for i in 0..width {
            self.scratch.x0[i] = tokens[i] + positions[i];
            self.scratch.x[i] = [self.scratch.x0[i]; L];
        }
        // q = x_0 W_q + b_q
        let (weight, bias) = (of(Parameter::QueryWeight), of(Parameter::QueryBias));
        let (query, x0) = (&mut self.scratch.query[..width], &self.scratch.x0[..width]);
        let weight = &weight[..width * width];
        query.copy_from_slice(bias);
        for i in 0..width {
            let row = &weight[i * width..(i + 1) * width];
            for e in 0..width {
                query[e] += x0[i] * row[e];
            }
        }
        // u_h = W_k q_h / sqrt(d_head)
        let scale = self.constants.scale;
        let weight = of(Parameter::KeyWeight);
        for head in 0..self.size.n_heads() {
            let columns = self.columns(head);
            let query = &self.scratch.query[..width];
            let u = &mut self.scratch.u[head * width..(head + 1) * width];
            for (u, row) in u
                .iter_mut()
                .zip(weight[..width * width].chunks_exact(width))
            {
                let mut sum = 0.0;
                for e in columns.clone() {
                    sum += row[e] * query[e];
                }
                *u = sum * scale;
            }
        }
        let (gamma, beta) = (of(Parameter::Gamma), of(Parameter::Beta));
        let classifier = of(Parameter::ClassifierWeight);
        let (mut mean, mut c0) = (0.0, of(Parameter::ClassifierBias)[0]);
        for i in 0..d {
            let wg = classifier[i] * gamma[i];
            self.scratch.wg[i] = wg;
            mean += wg;
            c0 += classifier[i] * beta[i];
        }
        mean /= d as f32;
        for i in 0..d {
            self.scratch.centred[i] = self.scratch.wg[i] - mean;
        }
        self.scratch.c0 = c0;
    }
}
