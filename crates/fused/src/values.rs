//! What a pass computes, one sample per lane. Rows have the padded width of `d_model`, of `d_ff`, or of all heads together.

use headlight_architecture::{NormPlace, Readout, Weighting};

use crate::aligned::Aligned;
use crate::architecture::Architecture;
use crate::kernel::Sizes;
use crate::lanes::Lanes;
use crate::layers::activation::Hidden;
use crate::layers::norm::NormValues;
use crate::layers::residual::Sublayer;
use crate::parameters::padded;

/// The values of attention.
#[derive(Clone, Debug)]
pub(crate) struct AttentionValues<const L: usize> {
    /// Queries, keys and values. `[position, heads]`
    pub(crate) query: Aligned<L>,
    pub(crate) key: Aligned<L>,
    pub(crate) value: Aligned<L>,
    /// The softmax of the scores, where weights are something else, or have dropout. `[head, query, key]`
    pub(crate) softmax: Aligned<L>,
    /// `[head, query, key]`, or `[head, key]` if only one query is computed.
    pub(crate) weights: Aligned<L>,
    /// `[position, heads]`
    pub(crate) context: Aligned<L>,
}

impl<const L: usize> AttentionValues<L> {
    /// Makes room for the softmax of the scores, if it must be kept beside weights.
    pub(crate) fn keep_softmax(&mut self, is_kept: bool) {
        if is_kept && self.softmax.is_empty() {
            self.softmax = Aligned::zeros(self.weights.len());
        }
    }
}

/// The values of a layer.
#[derive(Clone, Debug)]
pub(crate) struct LayerValues<const L: usize> {
    pub(crate) attention: AttentionValues<L>,
    pub(crate) after_attention: Sublayer<L>,
    /// Of the feed-forward part; it and `fed` are empty without one.
    pub(crate) hidden: Hidden<L>,
    pub(crate) after_feed_forward: Sublayer<L>,
}

/// The mask of a chunk, and what follows from it.
#[derive(Clone, Debug)]
pub(crate) struct MaskValues<const L: usize> {
    /// 1 where a query may look, else 0; empty if every query may look at every key. `[query, key]`
    pub(crate) allowed: Aligned<L>,
    /// The logarithm of the number of keys that each query may look at; empty if scores do not depend on it. `[query]`
    pub(crate) log_counts: Aligned<L>,
}

/// Of the last layer, where only one row is computed, without keys and values. `[head, d_model]`
#[derive(Clone, Debug)]
pub(crate) struct ReadRowValues<const L: usize> {
    /// Queries times the transpose of `W_k`, scaled.
    pub(crate) u: Aligned<L>,
    /// Inputs averaged by weight.
    pub(crate) pooled: Aligned<L>,
    pub(crate) d_u: Aligned<L>,
    pub(crate) d_pooled: Aligned<L>,
}

/// From the last layer's output to logits.
#[derive(Clone, Debug)]
pub(crate) struct ReadoutValues<const L: usize> {
    /// The norm of the last layer's output; empty without it.
    pub(crate) final_norm: NormValues<L>,
    /// 1 over the number of positions that the classifier reads where a position is one of them, else 0; empty if it reads
    /// one. `[position]`
    pub(crate) shares: Aligned<L>,
    /// What the classifier reads, and its gradient. `[answer, d_model]`
    pub(crate) read: Aligned<L>,
    pub(crate) d_read: Aligned<L>,
    /// The classifier's hidden layer, and its gradient.
    pub(crate) hidden: Hidden<L>,
    pub(crate) d_hidden: Aligned<L>,
    /// Logits or their gradients in padded rows.
    pub(crate) rows: Aligned<L>,
}

/// What is computed of each answer.
#[derive(Clone, Debug)]
pub(crate) struct AnswerValues<const L: usize> {
    /// `[answer, logit]`
    pub(crate) logits: Aligned<L>,
    pub(crate) d_logits: Aligned<L>,
    /// Of the positive class, or of each of several classes. `[answer, logit]`
    pub(crate) probabilities: Aligned<L>,
    /// `[answer]`
    pub(crate) losses: Aligned<L>,
}

/// The gradients of attention's values in the layer that the backward pass has come to.
#[derive(Clone, Debug)]
pub(crate) struct AttentionGradients<const L: usize> {
    pub(crate) context: Aligned<L>,
    pub(crate) query: Aligned<L>,
    pub(crate) key: Aligned<L>,
    pub(crate) value: Aligned<L>,
    /// Of a tile of queries, `[query, key]`, or of one query, `[head, key]`.
    pub(crate) scores: Aligned<L>,
}

/// The gradients of the other values of that layer.
#[derive(Clone, Debug)]
pub(crate) struct LayerGradients<const L: usize> {
    /// Of its output; after its backward pass, of its input. `[position, d_model]`
    pub(crate) stream: Aligned<L>,
    /// Of attention's residual; before that, memory for masked gradients. `[position, d_model]`
    pub(crate) residual: Aligned<L>,
    /// Of what the feed-forward part reads after its norm; empty without a norm there. `[position, d_model]`
    pub(crate) source: Aligned<L>,
    /// `[position, d_ff]`
    pub(crate) hidden: Aligned<L>,
}

/// All values of a pass.
#[derive(Clone, Debug)]
pub(crate) struct Values<const L: usize> {
    /// The first layer's input. `[position, d_model]`
    pub(crate) embeddings: Aligned<L>,
    /// The norm that makes it; empty without one.
    pub(crate) embedding_norm: NormValues<L>,
    pub(crate) mask: MaskValues<L>,
    pub(crate) layers: Vec<LayerValues<L>>,
    pub(crate) read_row: ReadRowValues<L>,
    pub(crate) readout: ReadoutValues<L>,
    pub(crate) answers: AnswerValues<L>,
    pub(crate) d_attention: AttentionGradients<L>,
    pub(crate) d_layer: LayerGradients<L>,
}

/// How many queries a tile has, so that its rows take 128 kB. A multiple of what products compute at a time.
pub(crate) const fn tile_height<const L: usize>(positions: usize) -> usize {
    let rows = 32_768 / (positions * L);
    if rows < 4 { 4 } else { rows / 4 * 4 }
}

impl<const L: usize> Values<L> {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        let (model, activation) = (&architecture.model, architecture.model.activation);
        let Sizes {
            width,
            n_heads,
            heads_width: heads,
            ..
        } = Sizes::of(architecture);
        let p = architecture.inputs.positions;
        let lanes = |count: usize| Aligned::zeros(count);
        let only = |exists: bool, count: usize| lanes(if exists { count } else { 0 });
        let is_mixed = matches!(model.attention.weighting(), Weighting::Rate(_));
        let (ff_width, ff_rows) = (padded(model.d_ff), if model.d_ff > 0 { p } else { 0 });
        let layer = || LayerValues {
            attention: AttentionValues {
                query: lanes(p * heads),
                key: lanes(p * heads),
                value: lanes(p * heads),
                softmax: only(is_mixed, n_heads * p * p),
                weights: lanes(n_heads * p * p),
                context: lanes(p * heads),
            },
            after_attention: Sublayer::new(model.norm, p, width),
            hidden: Hidden::new(activation, p * ff_width),
            after_feed_forward: Sublayer::new(model.norm, ff_rows, width),
        };
        let (answers, n_logits) = (architecture.answers(), architecture.n_logits());
        let hidden = answers * padded(model.classifier_hidden);
        let read_rows = architecture.last_rows(p).len();
        Self {
            embeddings: lanes(p * width),
            embedding_norm: NormValues::new(if model.embedding_norm { p } else { 0 }, width),
            mask: MaskValues {
                allowed: only(architecture.is_masked(), p * p),
                log_counts: only(model.attention.log_length, p),
            },
            layers: (0..model.n_layers).map(|_| layer()).collect(),
            read_row: ReadRowValues {
                u: lanes(n_heads * width),
                pooled: lanes(n_heads * width),
                d_u: lanes(n_heads * width),
                d_pooled: lanes(n_heads * width),
            },
            readout: ReadoutValues {
                final_norm: NormValues::new(
                    if model.has_final_norm() { read_rows } else { 0 },
                    width,
                ),
                shares: only(architecture.readout == Readout::Mean, p),
                read: lanes(answers * width),
                d_read: lanes(answers * width),
                hidden: Hidden::new(activation, hidden),
                d_hidden: lanes(hidden),
                rows: lanes(answers * padded(n_logits)),
            },
            answers: AnswerValues {
                logits: lanes(answers * n_logits),
                d_logits: lanes(answers * n_logits),
                probabilities: lanes(answers * n_logits),
                losses: lanes(answers),
            },
            d_attention: AttentionGradients {
                context: lanes(p * heads),
                query: lanes(p * heads),
                key: lanes(p * heads.max(width)),
                value: lanes(p * heads),
                scores: lanes(p * n_heads.max(p.min(tile_height::<L>(p)))),
            },
            d_layer: LayerGradients {
                stream: lanes(p * width),
                residual: lanes(p * width),
                source: only(model.norm == NormPlace::Pre, ff_rows * width),
                hidden: lanes(p * ff_width),
            },
        }
    }
}

/// The values of a layer, and its input, which is the output of the one before it.
pub(crate) fn layer_and_input<'a, const L: usize>(
    layers: &'a mut [LayerValues<L>],
    embeddings: &'a [Lanes<L>],
    layer: usize,
) -> (&'a mut LayerValues<L>, &'a [Lanes<L>]) {
    let (before, rest) = layers.split_at_mut(layer);
    let input = before.last().map_or(embeddings, LayerValues::output);
    (&mut rest[0], input)
}

impl<const L: usize> LayerValues<L> {
    /// What the next layer reads.
    #[inline(always)]
    pub(crate) fn output(&self) -> &[Lanes<L>] {
        let has_feed_forward = !self.hidden.output.is_empty();
        if has_feed_forward {
            self.after_feed_forward.output()
        } else {
            self.after_attention.output()
        }
    }

    #[inline(always)]
    pub(crate) fn output_mut(&mut self) -> &mut [Lanes<L>] {
        let has_feed_forward = !self.hidden.output.is_empty();
        if has_feed_forward {
            self.after_feed_forward.output_mut()
        } else {
            self.after_attention.output_mut()
        }
    }
}
