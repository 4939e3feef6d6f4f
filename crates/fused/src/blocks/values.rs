//! What a pass computes for eight samples, one sample per lane.

use super::hidden::Hidden;
use crate::aligned::Aligned;
use crate::architecture::Architecture;
use crate::lanes::Lanes;
use crate::places::padded;
use headlight_architecture::{NormPlace, Reads, Weighting};

/// The values of one block. Rows have the padded width of `d_model`, of `d_ff`, or of all heads together.
#[derive(Clone, Debug)]
pub(super) struct BlockValues<const L: usize> {
    /// Queries, keys and values. `[position, heads]`
    pub(super) query: Aligned<L>,
    pub(super) key: Aligned<L>,
    pub(super) value: Aligned<L>,
    /// The softmax of the scores, where weights are something else. `[head, query, key]`
    pub(super) softmax: Aligned<L>,
    /// `[head, query, key]`, or `[head, key]` if only one query is computed.
    pub(super) weights: Aligned<L>,
    /// `[position, heads]`
    pub(super) context: Aligned<L>,
    /// Attention with its norm and its residual addition, then the feed-forward layer.
    pub(super) attended: Sublayer<L>,
    pub(super) hidden: Hidden<L>,
    pub(super) fed: Sublayer<L>,
}

/// The norm and the residual addition of attention or of a feed-forward layer.
#[derive(Clone, Debug)]
pub(super) struct Sublayer<const L: usize> {
    place: NormPlace,
    /// Empty without a norm.
    pub(super) norm: NormValues<L>,
    /// The input plus what was computed of it; empty where the norm follows, which has it then. `[position, d_model]`
    sum: Aligned<L>,
}

/// The values of a norm.
#[derive(Clone, Debug)]
pub(super) struct NormValues<const L: usize> {
    /// Before the norm; then normalised, before gain and bias. `[position, d_model]`
    pub(super) normalized: Aligned<L>,
    /// One over the standard deviation. `[position]`
    pub(super) rstd: Aligned<L>,
    /// `[position, d_model]`
    pub(super) output: Aligned<L>,
}

impl<const L: usize> NormValues<L> {
    fn new(rows: usize, width: usize) -> Self {
        Self {
            normalized: Aligned::zeros(rows * width),
            rstd: Aligned::zeros(rows),
            output: Aligned::zeros(rows * width),
        }
    }
}

impl<const L: usize> Sublayer<L> {
    fn new(place: NormPlace, rows: usize, width: usize) -> Self {
        let has_norm = place != NormPlace::None;
        let has_sum = place != NormPlace::Post;
        Self {
            place,
            norm: NormValues::new(if has_norm { rows } else { 0 }, width),
            sum: Aligned::zeros(if has_sum { rows * width } else { 0 }),
        }
    }

    /// What attention or the feed-forward layer reads: the sublayer's own input, or that after the norm.
    #[inline(always)]
    pub(super) fn source<'a>(&'a self, input: &'a [Lanes<L>]) -> &'a [Lanes<L>] {
        match self.place {
            NormPlace::Pre => &self.norm.output,
            NormPlace::Post | NormPlace::None => input,
        }
    }

    /// The residual.
    #[inline(always)]
    pub(super) fn sum_mut(&mut self) -> &mut [Lanes<L>] {
        match self.place {
            NormPlace::Post => &mut self.norm.normalized,
            NormPlace::Pre | NormPlace::None => &mut self.sum,
        }
    }

    /// What it gives on: the residual, or that after the norm.
    #[inline(always)]
    pub(super) fn output(&self) -> &[Lanes<L>] {
        match self.place {
            NormPlace::Post => &self.norm.output,
            NormPlace::Pre | NormPlace::None => &self.sum,
        }
    }

    #[inline(always)]
    fn output_mut(&mut self) -> &mut [Lanes<L>] {
        match self.place {
            NormPlace::Post => &mut self.norm.output,
            NormPlace::Pre | NormPlace::None => &mut self.sum,
        }
    }
}

/// How many queries a tile has, so that its rows take 128 kB. A multiple of what products compute at a time.
pub(super) const fn tile_height<const L: usize>(positions: usize) -> usize {
    let rows = 32_768 / (positions * L);
    if rows < 4 { 4 } else { rows / 4 * 4 }
}

/// All values of a pass.
#[derive(Clone, Debug)]
pub(super) struct Values<const L: usize> {
    /// The norm of the first block's input; empty without it.
    pub(super) first_norm: NormValues<L>,
    /// The first block's input. `[position, d_model]`
    pub(super) embeddings: Aligned<L>,
    /// 1 where a query may look, else 0; empty if every query may look at every key. `[query, key]`
    pub(super) may: Aligned<L>,
    /// What scores are multiplied by because of the number of keys; empty if they are not. `[query]`
    pub(super) lengths: Aligned<L>,
    pub(super) blocks: Vec<BlockValues<L>>,
    /// The norm of the last block's output; empty without it.
    pub(super) last_norm: NormValues<L>,
    /// 1 over the number of positions that the classifier reads where a position is one of them, else 0; empty if it reads
    /// one. `[position]`
    pub(super) shares: Aligned<L>,
    /// What the classifier reads. `[answer, d_model]`
    pub(super) read: Aligned<L>,
    /// The classifier's hidden layer.
    pub(super) hidden: Hidden<L>,
    /// `[answer, logit]`
    pub(super) logits: Aligned<L>,
    /// Logits or their gradients in padded rows.
    pub(super) logit_rows: Aligned<L>,
    /// Of the positive class, or of each of several classes. `[answer, logit]`
    pub(super) probabilities: Aligned<L>,
    /// `[answer]`
    pub(super) losses: Aligned<L>,

    // Of the last block, where only one row is computed, without keys and values
    /// Queries times the transpose of `W_k`, scaled. `[head, d_model]`
    pub(super) u: Aligned<L>,
    /// Inputs averaged by weight. `[head, d_model]`
    pub(super) pooled: Aligned<L>,

    // Gradients
    /// `[answer, logit]`
    pub(super) d_logits: Aligned<L>,
    /// Of what the classifier reads, and of its hidden layer.
    pub(super) d_read: Aligned<L>,
    pub(super) d_classifier_hidden: Aligned<L>,
    /// Of a block's output; after its backward pass, of its input. `[position, d_model]`
    pub(super) d_stream: Aligned<L>,
    /// Of a residual. `[position, d_model]`
    pub(super) d_residual: Aligned<L>,
    /// Of what a feed-forward layer reads after its norm. `[position, d_model]`
    pub(super) d_source: Aligned<L>,
    pub(super) d_context: Aligned<L>,
    pub(super) d_query: Aligned<L>,
    pub(super) d_key: Aligned<L>,
    pub(super) d_value: Aligned<L>,
    /// Of a tile of queries, `[query, key]`, or of one query, `[head, key]`.
    pub(super) d_scores: Aligned<L>,
    pub(super) d_hidden: Aligned<L>,
    pub(super) d_u: Aligned<L>,
    pub(super) d_pooled: Aligned<L>,
}

impl<const L: usize> Values<L> {
    pub(super) fn new(architecture: &Architecture) -> Self {
        let (model, activation) = (&architecture.model, architecture.model.activation);
        let (p, heads) = (architecture.inputs.positions, model.n_heads);
        let [width, ff_width] = [model.d_model, model.d_ff].map(padded);
        let inner = padded(architecture.heads_width());
        let lanes = |count: usize| Aligned::zeros(count);
        let only = |exists: bool, count: usize| Aligned::zeros(if exists { count } else { 0 });
        let is_mixed = matches!(model.attention.weighting(), Weighting::Rate(_));
        let ff_rows = if model.d_ff > 0 { p } else { 0 };
        let block = || BlockValues {
            query: lanes(p * inner),
            key: lanes(p * inner),
            value: lanes(p * inner),
            softmax: only(is_mixed, heads * p * p),
            weights: lanes(heads * p * p),
            context: lanes(p * inner),
            attended: Sublayer::new(model.norm, p, width),
            hidden: Hidden::new(activation, p * ff_width),
            fed: Sublayer::new(model.norm, ff_rows, width),
        };
        let hidden = padded(model.classifier_hidden);
        let (answers, n_logits) = (architecture.answers(), architecture.n_logits());
        let reads_one = architecture.reads == Reads::Position;
        let read_rows = if reads_one { 1 } else { p };
        Self {
            first_norm: NormValues::new(if model.embedding_norm { p } else { 0 }, width),
            embeddings: lanes(p * width),
            may: only(architecture.is_masked(), p * p),
            lengths: only(model.attention.log_length, p),
            blocks: (0..model.n_layers).map(|_| block()).collect(),
            last_norm: NormValues::new(if model.has_final_norm() { read_rows } else { 0 }, width),
            shares: only(architecture.reads == Reads::Mean, p),
            read: lanes(answers * width),
            hidden: Hidden::new(activation, answers * hidden),
            logits: lanes(answers * n_logits),
            logit_rows: lanes(answers * padded(n_logits)),
            probabilities: lanes(answers * n_logits),
            losses: lanes(answers),
            u: lanes(heads * width),
            pooled: lanes(heads * width),
            d_logits: lanes(answers * n_logits),
            d_read: lanes(answers * width),
            d_classifier_hidden: lanes(answers * hidden),
            d_stream: lanes(p * width),
            d_residual: lanes(p * width),
            d_source: only(model.norm == NormPlace::Pre, ff_rows * width),
            d_context: lanes(p * inner),
            d_query: lanes(p * inner),
            d_key: lanes(p * inner.max(width)),
            d_value: lanes(p * inner),
            d_scores: lanes(p * heads.max(p.min(tile_height::<L>(p)))),
            d_hidden: lanes(p * ff_width),
            d_u: lanes(heads * width),
            d_pooled: lanes(heads * width),
        }
    }
}

/// The values of a block, and its input, which is the output of the one before it.
pub(super) fn block_and_input<'a, const L: usize>(
    blocks: &'a mut [BlockValues<L>],
    embeddings: &'a [Lanes<L>],
    layer: usize,
) -> (&'a mut BlockValues<L>, &'a [Lanes<L>]) {
    let (before, rest) = blocks.split_at_mut(layer);
    (
        &mut rest[0],
        before.last().map_or(embeddings, BlockValues::output),
    )
}

impl<const L: usize> BlockValues<L> {
    /// What the next block reads.
    #[inline(always)]
    pub(super) fn output(&self) -> &[Lanes<L>] {
        if self.hidden.output.is_empty() {
            self.attended.output()
        } else {
            self.fed.output()
        }
    }

    #[inline(always)]
    pub(super) fn output_mut(&mut self) -> &mut [Lanes<L>] {
        if self.hidden.output.is_empty() {
            self.attended.output_mut()
        } else {
            self.fed.output_mut()
        }
    }
}
