//! What a pass computes for eight samples, one sample per lane.

use alloc::vec;
use alloc::vec::Vec;

use super::places::padded;
use super::transposed::Transposed;
use crate::architecture::Architecture;
use crate::lanes::{Lanes, ZERO};

/// The values of one block. Rows have the padded width of `d_model`, or of `d_ff`.
#[derive(Clone, Debug)]
pub(super) struct BlockValues {
    /// Queries, keys and values. `[position, d_model]`
    pub(super) query: Vec<Lanes>,
    pub(super) key: Vec<Lanes>,
    pub(super) value: Vec<Lanes>,
    /// After the softmax. `[head, query, key]`, or `[head, key]` if only the row of `[CLS]` is computed.
    pub(super) weights: Vec<Lanes>,
    /// `[position, d_model]`
    pub(super) context: Vec<Lanes>,
    pub(super) attended: NormValues,
    /// After the rectifier. `[position, d_ff]`
    pub(super) hidden: Vec<Lanes>,
    pub(super) fed: NormValues,
}

/// The values of a layer norm.
#[derive(Clone, Debug)]
pub(super) struct NormValues {
    /// Before the norm; then normalised, before scale and shift. `[position, d_model]`
    pub(super) normalized: Vec<Lanes>,
    /// One over the standard deviation. `[position]`
    pub(super) rstd: Vec<Lanes>,
    /// `[position, d_model]`
    pub(super) output: Vec<Lanes>,
}

impl NormValues {
    fn new(rows: usize, width: usize) -> Self {
        Self {
            normalized: vec![ZERO; rows * width],
            rstd: vec![ZERO; rows],
            output: vec![ZERO; rows * width],
        }
    }
}

/// All values of a pass.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// The first block's input. `[position, d_model]`
    pub(super) embeddings: Vec<Lanes>,
    /// 1 where a query may look, else 0; empty if every query may look at every key. `[query, key]`
    pub(super) may: Vec<Lanes>,
    pub(super) blocks: Vec<BlockValues>,
    /// `[logit]`
    pub(super) logits: Vec<Lanes>,
    /// Of the positive class, or of each of several classes. `[logit]`
    pub(super) probabilities: Vec<Lanes>,
    pub(super) losses: Lanes,

    // Of the last block, where only the row of `[CLS]` is computed
    /// Queries times the transpose of `W_k`, scaled. `[head, d_model]`
    pub(super) u: Vec<Lanes>,
    /// Inputs averaged by weight. `[head, d_model]`
    pub(super) pooled: Vec<Lanes>,

    // Gradients
    /// `[logit]`
    pub(super) d_logits: Vec<Lanes>,
    /// Of a block's output; after its backward pass, of its input. `[position, d_model]`
    pub(super) d_stream: Vec<Lanes>,
    /// Of a residual. `[position, d_model]`
    pub(super) d_residual: Vec<Lanes>,
    pub(super) d_context: Vec<Lanes>,
    pub(super) d_query: Vec<Lanes>,
    pub(super) d_key: Vec<Lanes>,
    pub(super) d_value: Vec<Lanes>,
    /// `[head, query, key]`
    pub(super) d_scores: Vec<Lanes>,
    pub(super) d_hidden: Vec<Lanes>,
    pub(super) d_u: Vec<Lanes>,
    pub(super) d_pooled: Vec<Lanes>,

    /// For the gradients of projections.
    pub(super) transposed: Transposed,
}

impl Values {
    pub(super) fn new(architecture: &Architecture) -> Self {
        let (p, heads) = (architecture.positions, architecture.n_heads);
        let (width, ff_width) = (padded(architecture.d_model), padded(architecture.d_ff));
        let lanes = |count: usize| vec![ZERO; count];
        let masked = architecture.mask.is_some() || architecture.padding_token.is_some();
        let block = || BlockValues {
            query: lanes(p * width),
            key: lanes(p * width),
            value: lanes(p * width),
            weights: lanes(heads * p * p),
            context: lanes(p * width),
            attended: NormValues::new(p, width),
            hidden: lanes(p * ff_width),
            fed: NormValues::new(if architecture.d_ff > 0 { p } else { 0 }, width),
        };
        Self {
            embeddings: lanes(p * width),
            may: lanes(if masked { p * p } else { 0 }),
            blocks: (0..architecture.n_layers).map(|_| block()).collect(),
            logits: lanes(architecture.n_logits()),
            probabilities: lanes(architecture.n_logits()),
            losses: ZERO,
            u: lanes(heads * width),
            pooled: lanes(heads * width),
            d_logits: lanes(architecture.n_logits()),
            d_stream: lanes(p * width),
            d_residual: lanes(p * width),
            d_context: lanes(p * width),
            d_query: lanes(p * width),
            d_key: lanes(p * width),
            d_value: lanes(p * width),
            d_scores: lanes(heads * p * p),
            d_hidden: lanes(p * ff_width),
            d_u: lanes(heads * width),
            d_pooled: lanes(heads * width),
            transposed: Transposed::new(p, width.max(ff_width)),
        }
    }
}

/// The input of a block, which is the output of the one before it, and the block's own values.
pub(super) fn block_and_input<'a>(
    blocks: &'a [BlockValues],
    embeddings: &'a [Lanes],
    layer: usize,
) -> (&'a BlockValues, &'a [Lanes]) {
    let before = blocks[..layer].last();
    (
        &blocks[layer],
        before.map_or(embeddings, BlockValues::output),
    )
}

/// As [`block_and_input`], with values to be written.
pub(super) fn block_mut_and_input<'a>(
    blocks: &'a mut [BlockValues],
    embeddings: &'a [Lanes],
    layer: usize,
) -> (&'a mut BlockValues, &'a [Lanes]) {
    let (before, rest) = blocks.split_at_mut(layer);
    (
        &mut rest[0],
        before.last().map_or(embeddings, BlockValues::output),
    )
}

impl BlockValues {
    /// What the next block reads.
    #[inline(always)]
    pub(super) fn output(&self) -> &[Lanes] {
        if self.fed.output.is_empty() {
            &self.attended.output
        } else {
            &self.fed.output
        }
    }

    #[inline(always)]
    pub(super) fn output_mut(&mut self) -> &mut [Lanes] {
        if self.fed.output.is_empty() {
            &mut self.attended.output
        } else {
            &mut self.fed.output
        }
    }
}
