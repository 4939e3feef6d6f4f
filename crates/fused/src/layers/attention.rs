//! Attention of some queries, all of them or one: from a layer's input to its context, and back.
//!
//! The input is the rows `x_j`, one for each position, after the norm if it comes first. With `s = 1 / sqrt(d_head)`, or
//! another scale, and the columns of each head apart:
//!
//! ```text
//! q_i = x_i W_q + b_q,  k_j = x_j W_k + b_k,  v_j = x_j W_v + b_v    then rotated, with rotary positions
//! z_ij = s q_i · k_j                      also times the logarithm of the number of keys, if the architecture says so
//! a_ij = softmax_j(z_ij)                  over the keys j that query i may look at; 0 without such a key
//! w_ij = a_ij                             or r a_ij + 1 - r, or z_ij, for these keys; then times the mask of dropout
//! c_i = Σ_j w_ij v_j                      context
//! y_i = x_i + m ⊙ (c_i W_o + b_o)         residual, with the mask m of dropout, and its norm if that comes after
//! ```
//!
//! A tile of queries is computed at a time, with whole rows of scores: what is made of them stays in the second cache. The weights are
//! kept for the backward pass: computed again they would cost another exponential each.
//!
//! Backward, `dy` being the gradient of the loss by `y`:
//!
//! ```text
//! dc = dy W_o^T,  dv_j = Σ_i w_ij dc_i,  dw_ij = dc_i · v_j,  da_ij = r dw_ij,  dz_ij = a_ij (da_ij - Σ_k a_ik da_ik)
//! dq_i = s Σ_j dz_ij k_j,  dk_j = s Σ_i dz_ij q_i,  dx = dy + dq W_q^T + dk W_k^T + dv W_v^T
//! ```

use std::ops::Range;

use headlight_architecture::{DropoutPlace, NormPlace, ProjectionKind, Weighting};

use super::elements::{add, scale, scale_rows};
use super::mask::mask_scores;
use super::rotary::rotate;
use super::softmax;
use crate::arrays::Array;
use crate::dropout::DroppedRows;
use crate::hook::Hook;
use crate::hook::HookPoint::{Pairs, Vectors};
use crate::kernel::Sizes;
use crate::pass::Pass;
use crate::products::Operand::{Rows, Transposed};
use crate::products::Target;
use crate::values::{layer_and_input, tile_height};

impl<const L: usize> Pass<'_, L> {
    /// With the norm first, normalises a layer's input.
    pub(crate) fn normalize_input(&mut self, layer: usize) {
        let (k, s, values) = (self.kernel, self.kernel.sizes, &mut *self.values);
        let slots = self.layout.layers[layer].norm;
        let (layer_values, input) = layer_and_input(&mut values.layers, &values.embeddings, layer);
        let count = self.positions * s.width;
        layer_values
            .after_attention
            .normalize_before(k, slots, &input[..count]);
    }

    /// Attention of some queries: their contexts, from the first row on.
    pub(crate) fn attend(&mut self, layer: usize, rows: Range<usize>) {
        self.project_rows(layer, rows.clone());
        self.values.mask.count_keys(self.positions);
        let (k, s, p) = (self.kernel, self.kernel.sizes, self.positions);
        let config = &self.architecture.model.attention;
        let dropped = self.rows_at(DropoutPlace::Attention(layer));
        let has_dropout = self.dropout.is_at(dropped.place);
        let (attention, mask) = (&mut self.values.layers[layer].attention, &self.values.mask);
        attention.keep_softmax(has_dropout);
        // A hook has all queries of a head at once.
        let (hook, height) = (&mut self.hook, tile_height::<L>(p));
        let height = hook.as_ref().map_or(height, |_| rows.len());
        for tile in tiles(s, &rows, height) {
            let count = tile.queries.len();
            let allowed = mask.rows(tile.queries.clone(), p);
            let weights = &mut attention.weights[tile.pairs(p)];
            let query = Rows(&attention.query[tile.first..], s.heads_width);
            let key = Transposed(&attention.key[tile.column..], s.heads_width);
            let into = Target::of(weights, p).times(k.scale);
            k.multiply([count, s.d_head, p], query, key, into);
            if config.log_length {
                scale_rows(k.isa, weights, p, &mask.log_counts[tile.queries.clone()]);
            }
            hook.visit(Pairs(Array::Scores, layer, tile.head), weights);
            match config.weighting() {
                Weighting::Softmax => softmax::forward(k.isa, weights, p, allowed),
                Weighting::Rate(share) => {
                    let softmax = &mut attention.softmax[tile.pairs(p)];
                    softmax.copy_from_slice(weights);
                    softmax::forward(k.isa, softmax, p, allowed);
                    softmax::mix(k.isa, softmax, share as f32, p, allowed, weights);
                }
                Weighting::Scores => mask_scores(k.isa, weights, allowed),
            }
            hook.visit(Pairs(Array::Weights, layer, tile.head), weights);
            if has_dropout && config.weighting() == Weighting::Softmax {
                attention.softmax[tile.pairs(p)].copy_from_slice(weights);
            }
            self.dropout.apply(k.isa, tile.narrow(dropped), weights);
            let value = Rows(&attention.value[tile.column..], s.heads_width);
            let into = Target::of(&mut attention.context[tile.first..], s.heads_width);
            k.multiply([count, p, s.d_head], Rows(weights, p), value, into);
        }
        hook.visit(Vectors(Array::Context, layer), &mut attention.context);
    }

    /// Queries of some rows, and keys and values of all.
    fn project_rows(&mut self, layer: usize, rows: Range<usize>) {
        let (k, s, values) = (self.kernel, self.kernel.sizes, &mut *self.values);
        let slots = &self.layout.layers[layer];
        let (layer_values, input) = layer_and_input(&mut values.layers, &values.embeddings, layer);
        let source = &layer_values.after_attention.source(input)[..self.positions * s.width];
        let queried = &source[rows.start * s.width..rows.end * s.width];
        let attention = &mut layer_values.attention;
        let (count, all) = (rows.len() * s.heads_width, self.positions * s.heads_width);
        if let Some([query, key, value]) = slots.projections {
            k.project(key, source, &mut attention.key);
            if self.architecture.model.attention.projections == ProjectionKind::Shared {
                attention.value[..all].copy_from_slice(&attention.key[..all]);
                attention.query[..count]
                    .copy_from_slice(&attention.key[rows.start * s.heads_width..][..count]);
            } else {
                k.project(query, queried, &mut attention.query);
                k.project(value, source, &mut attention.value);
            }
        } else {
            attention.query[..count].copy_from_slice(queried);
            attention.key[..all].copy_from_slice(source);
            attention.value[..all].copy_from_slice(source);
        }
        if let Some(tables) = &self.architecture.rotation {
            let query = &mut attention.query[..count];
            rotate(k.isa, query, s, rows.start, tables, 1.0);
            rotate(k.isa, &mut attention.key[..all], s, 0, tables, 1.0);
        }
        for (array, vectors) in [
            (Array::Query, &mut attention.query),
            (Array::Key, &mut attention.key),
            (Array::Value, &mut attention.value),
        ] {
            self.hook.visit(Vectors(array, layer), vectors);
        }
    }

    /// From the contexts of some rows to what attention gives on, from the first row on.
    pub(crate) fn project_context(&mut self, layer: usize, rows: Range<usize>) {
        let dropped = self.rows_at(DropoutPlace::AttentionOutput(layer));
        let (k, s, values) = (self.kernel, self.kernel.sizes, &mut *self.values);
        let slots = &self.layout.layers[layer];
        let (layer_values, input) = layer_and_input(&mut values.layers, &values.embeddings, layer);
        let input = &input[rows.start * s.width..rows.end * s.width];
        let residual = layer_values.after_attention.residual_mut();
        let added = [input, &layer_values.attention.context[..]];
        self.dropout
            .project_onto(k, dropped, slots.output, added, residual);
        self.hook.visit(Vectors(Array::Residual, layer), residual);
        layer_values
            .after_attention
            .normalize_after(k, slots.norm, rows.len());
    }

    /// From the gradient of what attention gives on, in `d_layer.stream`, to those of the residual and of the contexts.
    pub(crate) fn backward_context(&mut self, layer: usize, rows: usize) {
        let (k, s, slots) = (self.kernel, self.kernel.sizes, &self.layout.layers[layer]);
        let dropped = self.rows_at(DropoutPlace::AttentionOutput(layer));
        let (values, gradients) = (&mut *self.values, &mut self.gradients);
        let layer_values = &values.layers[layer];
        let gradient = &mut values.d_layer.stream[..rows * s.width];
        let d_context = &mut values.d_attention.context;
        let norm = slots.norm;
        layer_values
            .after_attention
            .backward_after(k, norm, gradient, gradients);
        values.d_layer.residual[..gradient.len()].copy_from_slice(gradient);
        self.dropout.apply(k.isa, dropped, gradient);
        k.project_back(slots.output, gradient, d_context, false);
        let context = &layer_values.attention.context[..rows * s.heads_width];
        let input = gradients.input(context, s.heads_width);
        gradients.linear(input, gradient, slots.output);
    }

    /// From the gradient of the contexts to those of queries, keys and values.
    pub(crate) fn backward_attention(&mut self, layer: usize, rows: Range<usize>) {
        let (k, s, p) = (self.kernel, self.kernel.sizes, self.positions);
        let config = &self.architecture.model.attention;
        let dropped = self.rows_at(DropoutPlace::Attention(layer));
        let (attention, mask) = (&self.values.layers[layer].attention, &self.values.mask);
        let d = &mut self.values.d_attention;
        for tile in tiles(s, &rows, tile_height::<L>(p)) {
            let count = tile.queries.len();
            let is_first = tile.queries.start == rows.start;
            let is_last = tile.queries.end == rows.end;
            let allowed = mask.rows(tile.queries.clone(), p);
            let weights = &attention.weights[tile.pairs(p)];
            let d_scores = &mut d.scores[..count * p];
            let d_context = Rows(&d.context[tile.first..], s.heads_width);
            // dv = W^T dc
            let into = Target::of(&mut d.value[tile.column..], s.heads_width).on_top(!is_first);
            k.multiply(
                [p, count, s.d_head],
                Transposed(weights, p),
                d_context,
                into,
            );
            // dW = dc V^T
            let value = Transposed(&attention.value[tile.column..], s.heads_width);
            k.multiply(
                [count, s.d_head, p],
                d_context,
                value,
                Target::of(d_scores, p),
            );
            self.dropout.apply(k.isa, tile.narrow(dropped), d_scores);
            match config.weighting() {
                Weighting::Softmax if self.dropout.is_at(dropped.place) => {
                    softmax::backward(k.isa, &attention.softmax[tile.pairs(p)], d_scores, p);
                }
                Weighting::Softmax => softmax::backward(k.isa, weights, d_scores, p),
                Weighting::Rate(share) => {
                    scale(k.isa, d_scores, share as f32);
                    softmax::backward(k.isa, &attention.softmax[tile.pairs(p)], d_scores, p);
                }
                Weighting::Scores => mask_scores(k.isa, d_scores, allowed),
            }
            if config.log_length {
                scale_rows(k.isa, d_scores, p, &mask.log_counts[tile.queries.clone()]);
            }
            if self.holds_weights {
                d_scores.fill([0.0; L]);
            }
            // dq = s dZ K
            let key = Rows(&attention.key[tile.column..], s.heads_width);
            let into = Target::of(&mut d.query[tile.first..], s.heads_width).times(k.scale);
            k.multiply([count, p, s.d_head], Rows(d_scores, p), key, into);
            // dk = s dZ^T Q
            let query = Rows(&attention.query[tile.first..], s.heads_width);
            let into = Target::of(&mut d.key[tile.column..], s.heads_width).on_top(!is_first);
            let into = into.times(if is_last { k.scale } else { 1.0 });
            k.multiply([p, count, s.d_head], Transposed(d_scores, p), query, into);
        }
        if let Some(tables) = &self.architecture.rotation {
            let d_query = &mut d.query[..rows.len() * s.heads_width];
            rotate(k.isa, d_query, s, rows.start, tables, -1.0);
            let d_key = &mut d.key[..p * s.heads_width];
            rotate(k.isa, d_key, s, 0, tables, -1.0);
        }
    }

    /// From the gradients of queries, keys, values and residual to that of attention's input, in `d_layer.stream`.
    pub(crate) fn backward_projections(&mut self, layer: usize, rows: Range<usize>) {
        self.start_stream(rows.clone());
        let (k, s, p) = (self.kernel, self.kernel.sizes, self.positions);
        let slots = &self.layout.layers[layer];
        let (values, gradients) = (&mut *self.values, &mut self.gradients);
        let stream = &mut values.d_layer.stream[..p * s.width];
        let queried = rows.start * s.heads_width..rows.end * s.heads_width;
        let all = p * s.heads_width;
        let d = &mut values.d_attention;
        let query = &mut d.query[..queried.len()];
        let (key, value) = (&mut d.key[..all], &mut d.value[..all]);
        let is_separate = self.architecture.model.attention.projections == ProjectionKind::Separate;
        if !is_separate {
            // In the order of the three, whatever the number of queries.
            if rows.len() == p {
                add(k.isa, query, key);
                key.copy_from_slice(query);
            } else {
                add(k.isa, &mut key[queried], query);
            }
            add(k.isa, key, value);
        }
        let Some([to_query, to_key, to_value]) = slots.projections else {
            add(k.isa, stream, key);
            return;
        };
        let (layer_values, input) = layer_and_input(&mut values.layers, &values.embeddings, layer);
        let source = &layer_values.after_attention.source(input)[..p * s.width];
        if !is_separate {
            let input = gradients.input(source, s.width);
            gradients.linear(input, key, to_key);
            k.project_back(to_key, key, stream, true);
            return;
        }
        let queried = rows.start * s.width..rows.end * s.width;
        let mut input = gradients.input(&source[queried.clone()], s.width);
        gradients.linear(input, query, to_query);
        k.project_back(to_query, query, &mut stream[queried], true);
        if rows.len() < p {
            input = gradients.input(source, s.width);
        }
        for (gradient, slots) in [(key, to_key), (value, to_value)] {
            gradients.linear(input, gradient, slots);
            k.project_back(slots, gradient, stream, true);
        }
    }

    /// The gradient of attention's input before attention has added to it: that of the residual of some rows, unless a norm
    /// is between the two.
    fn start_stream(&mut self, rows: Range<usize>) {
        let (s, d) = (self.kernel.sizes, &mut self.values.d_layer);
        let is_pre = self.architecture.model.norm == NormPlace::Pre;
        let stream = &mut d.stream[..self.positions * s.width];
        if is_pre || rows.len() < self.positions {
            stream.fill([0.0; L]);
        }
        if !is_pre {
            let stream_rows = &mut stream[rows.start * s.width..rows.end * s.width];
            stream_rows.copy_from_slice(&d.residual[..stream_rows.len()]);
        }
    }

    /// With the norm first, from the gradient of attention's input in `d_layer.stream` to that of the layer's.
    pub(crate) fn backward_input_norm(&mut self, layer: usize, rows: Range<usize>) {
        let (k, s, values) = (self.kernel, self.kernel.sizes, &mut *self.values);
        let slots = self.layout.layers[layer].norm;
        if self.architecture.model.norm == NormPlace::Pre {
            let d = &mut values.d_layer;
            let stream = &mut d.stream[..self.positions * s.width];
            let attended = &values.layers[layer].after_attention;
            attended.backward_before(k, slots, stream, &mut self.gradients);
            let stream_rows = &mut stream[rows.start * s.width..rows.end * s.width];
            add(k.isa, stream_rows, &d.residual[..stream_rows.len()]);
        }
    }
}

/// Some queries of a head.
struct Tile {
    head: usize,
    /// The head's first column.
    column: usize,
    queries: Range<usize>,
    /// Where the columns of the head start in the row of the first query, among the rows of all queries that are computed.
    first: usize,
    /// Rows of pairs before those of the tile.
    row: usize,
}

impl Tile {
    /// Their scores or weights, among those of all heads and queries that are computed.
    fn pairs(&self, keys: usize) -> Range<usize> {
        self.row * keys..(self.row + self.queries.len()) * keys
    }

    /// Narrows the rows of all queries to theirs.
    fn narrow(&self, dropped: DroppedRows) -> DroppedRows {
        DroppedRows {
            first: self.head * dropped.whole + self.queries.start,
            row_step: 1,
            ..dropped
        }
    }
}

/// Each head with each tile of its queries.
fn tiles(sizes: Sizes, queries: &Range<usize>, height: usize) -> impl Iterator<Item = Tile> {
    let (start, end, count) = (queries.start, queries.end, queries.len());
    (0..sizes.n_heads).flat_map(move |head| {
        let column = head * sizes.d_head;
        (start..end).step_by(height).map(move |from| Tile {
            head,
            column,
            queries: from..end.min(from + height),
            first: (from - start) * sizes.heads_width + column,
            row: head * count + from - start,
        })
    })
}
