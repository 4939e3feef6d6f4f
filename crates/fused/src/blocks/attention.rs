//! Attention of some queries, all of them or one: from a block's input to its context, and back.
//!
//! The input is the rows `x_j`, one for each position, after the norm if it comes first. With `s = 1 / sqrt(d_head)`, or
//! another scale, and the columns of each head apart:
//!
//! ```text
//! q_i = x_i W_q + b_q,  k_j = x_j W_k + b_k,  v_j = x_j W_v + b_v    then rotated, with rotary positions
//! z_ij = s q_i · k_j                      also times the logarithm of the number of keys, if the architecture says so
//! a_ij = softmax_j(z_ij)                  over the keys j that query i may look at; 0 without such a key
//! w_ij = a_ij                             or r a_ij + 1 - r, or z_ij, for these keys
//! c_i = Σ_j w_ij v_j                      context
//! ```
//!
//! A tile of queries is computed at a time, with whole rows of scores: what is made of them stays in the second cache. The weights are
//! kept for the backward pass: computed again they would cost another exponential each.
//!
//! Backward, `dy` being the gradient of the loss by `y`:
//!
//! ```text
//! dv_j = Σ_i w_ij dc_i,  dw_ij = dc_i · v_j,  da_ij = r dw_ij,  dz_ij = a_ij (da_ij - Σ_k a_ik da_ik)
//! dq_i = s Σ_j dz_ij k_j,  dk_j = s Σ_i dz_ij q_i,  dx = dq W_q^T + dk W_k^T + dv W_v^T
//! ```

use std::ops::Range;

use super::elements::{add, scale_rows};
use super::pass::{Pass, Sizes, apply, weights_of};
use super::probe::{Site, reach};
use super::products::{Grid, Target, multiply, project_back};
use super::rotate::rotate;
use super::softmax;
use super::values::{block_and_input, block_mut_and_input, tile_height};
use crate::adam::Sums;
use crate::arrays::Array;
use crate::lanes::log;
use headlight_architecture::{ProjectionKind, Weighting};

impl<const L: usize> Pass<'_, L> {
    /// Attention of some queries: their contexts, from the first row on.
    pub(super) fn attend(&mut self, layer: usize, rows: Range<usize>) {
        let Sizes {
            p,
            d_head,
            heads,
            inner,
            ..
        } = self.sizes();
        self.count_keys();
        let (architecture, count) = (self.architecture, rows.len());
        let set = self.instructions;
        self.project_rows(layer, &rows);
        let values = &mut *self.values;
        let block = &mut values.blocks[layer];
        let height = if self.probe.is_some() {
            count
        } else {
            tile_height::<L>(p)
        };
        for (head, tile) in tiles(heads, count, height) {
            let column = head * d_head;
            let pairs = (head * count + tile.start) * p..(head * count + tile.end) * p;
            let queries = rows.start + tile.start..rows.start + tile.end;
            let may = match &values.may[..] {
                [] => &[][..],
                may => &may[queries.start * p..queries.end * p],
            };
            let weights = &mut block.weights[pairs.clone()];
            multiply(
                set,
                [tile.len(), d_head, p],
                Grid::Of(&block.query[tile.start * inner + column..], inner),
                Grid::Transposed(&block.key[column..], inner),
                Target::of(weights, p).times(architecture.scale()),
            );
            if architecture.model.attention.log_length {
                scale_rows(set, weights, p, &values.lengths[queries]);
            }
            let site = Site::Pairs(Array::Scores, layer, head);
            reach(&mut self.probe, site, weights);
            match architecture.model.attention.weighting() {
                Weighting::Softmax => softmax::forward(set, weights, p, may),
                Weighting::Rate(share) => {
                    let share = share as f32;
                    let softmax = &mut block.softmax[pairs];
                    softmax.copy_from_slice(weights);
                    softmax::forward(set, softmax, p, may);
                    softmax::mix(set, softmax, share, p, may, weights);
                }
                Weighting::Scores => softmax::hide(set, weights, may),
            }
            let site = Site::Pairs(Array::Weights, layer, head);
            reach(&mut self.probe, site, weights);
            multiply(
                set,
                [tile.len(), p, d_head],
                Grid::Of(weights, p),
                Grid::Of(&block.value[column..], inner),
                Target::of(&mut block.context[tile.start * inner + column..], inner),
            );
        }
        let site = Site::Vectors(Array::Context, layer);
        reach(&mut self.probe, site, &mut block.context);
    }

    /// Queries of some rows, and keys and values of all.
    fn project_rows(&mut self, layer: usize, rows: &Range<usize>) {
        let Sizes {
            p,
            width,
            d_head,
            heads,
            inner,
            ..
        } = self.sizes();
        let (architecture, count) = (self.architecture, rows.len());
        let (place, parameters, set) = self.of_block(layer);
        let values = &mut *self.values;
        let (block, input) = block_mut_and_input(&mut values.blocks, &values.embeddings, layer);
        let source = block.attended.source(input);
        let own = &source[rows.start * width..rows.end * width];
        if let Some([query, key, value]) = place.projections {
            apply(set, parameters, key, p, source, width, &mut block.key);
            if architecture.model.attention.projections == ProjectionKind::Shared {
                block.value[..p * inner].copy_from_slice(&block.key[..p * inner]);
                let own = &block.key[rows.start * inner..rows.end * inner];
                block.query[..count * inner].copy_from_slice(own);
            } else {
                apply(set, parameters, query, count, own, width, &mut block.query);
                apply(set, parameters, value, p, source, width, &mut block.value);
            }
        } else {
            block.query[..count * width].copy_from_slice(own);
            block.key[..p * width].copy_from_slice(&source[..p * width]);
            block.value[..p * width].copy_from_slice(&source[..p * width]);
        }
        if let Some(tables) = &architecture.rotation {
            let query = &mut block.query[..count * inner];
            rotate(
                set,
                query,
                inner,
                heads,
                rows.start,
                tables,
                d_head / 2,
                1.0,
            );
            rotate(
                set,
                &mut block.key[..p * inner],
                inner,
                heads,
                0,
                tables,
                d_head / 2,
                1.0,
            );
        }
        for (array, vectors) in [
            (Array::Query, &mut block.query),
            (Array::Key, &mut block.key),
            (Array::Value, &mut block.value),
        ] {
            reach(&mut self.probe, Site::Vectors(array, layer), vectors);
        }
    }

    /// The logarithm of the number of keys that each query may look at; 0 for none.
    fn count_keys(&mut self) {
        let p = self.positions;
        let values = &mut *self.values;
        for (query, length) in values.lengths.iter_mut().take(p).enumerate() {
            let mut count = [p as f32; L];
            if !values.may.is_empty() {
                count = [0.0; L];
                for may in &values.may[query * p..][..p] {
                    for l in 0..L {
                        count[l] += may[l];
                    }
                }
            }
            *length = count.map(|count| if count > 1.0 { log(count) } else { 0.0 });
        }
    }

    /// From the gradient of the contexts to those of queries, keys and values.
    pub(super) fn through_attention(&mut self, layer: usize, rows: Range<usize>) {
        let Sizes {
            p,
            d_head,
            heads,
            inner,
            ..
        } = self.sizes();
        let (architecture, set) = (self.architecture, self.instructions);
        let (scale, count) = (architecture.scale(), rows.len());
        let values = &mut *self.values;
        let block = &values.blocks[layer];
        for (head, tile) in tiles(heads, count, tile_height::<L>(p)) {
            let column = head * d_head;
            let (is_first, is_last) = (tile.start == 0, tile.end == count);
            let pairs = (head * count + tile.start) * p..(head * count + tile.end) * p;
            let queries = rows.start + tile.start..rows.start + tile.end;
            let own = tile.start * inner + column;
            let weights = &block.weights[pairs.clone()];
            let d_context = &values.d_context[own..];
            let d_scores = &mut values.d_scores[..tile.len() * p];
            // dv = W^T dc
            multiply(
                set,
                [p, tile.len(), d_head],
                Grid::Transposed(weights, p),
                Grid::Of(d_context, inner),
                Target::of(&mut values.d_value[column..], inner).on_top(!is_first),
            );
            // dW = dc V^T
            multiply(
                set,
                [tile.len(), d_head, p],
                Grid::Of(d_context, inner),
                Grid::Transposed(&block.value[column..], inner),
                Target::of(d_scores, p),
            );
            match architecture.model.attention.weighting() {
                Weighting::Softmax => softmax::backward(set, weights, d_scores, p),
                Weighting::Rate(share) => {
                    let share = share as f32;
                    softmax::scale(set, d_scores, share);
                    softmax::backward(set, &block.softmax[pairs], d_scores, p);
                }
                Weighting::Scores if values.may.is_empty() => {}
                Weighting::Scores => {
                    let may = &values.may[queries.start * p..queries.end * p];
                    softmax::hide(set, d_scores, may);
                }
            }
            if architecture.model.attention.log_length {
                scale_rows(set, d_scores, p, &values.lengths[queries]);
            }
            if self.holds_weights {
                d_scores.fill([0.0; L]);
            }
            // dq = scale dZ K, dk = scale dZ^T Q
            multiply(
                set,
                [tile.len(), p, d_head],
                Grid::Of(d_scores, p),
                Grid::Of(&block.key[column..], inner),
                Target::of(&mut values.d_query[own..], inner).times(scale),
            );
            multiply(
                set,
                [p, tile.len(), d_head],
                Grid::Transposed(d_scores, p),
                Grid::Of(&block.query[own..], inner),
                Target::of(&mut values.d_key[column..], inner)
                    .on_top(!is_first)
                    .times(if is_last { scale } else { 1.0 }),
            );
        }
        if let Some(tables) = &architecture.rotation {
            let (d_query, d_key) = (
                &mut values.d_query[..count * inner],
                &mut values.d_key[..p * inner],
            );
            rotate(
                set,
                d_query,
                inner,
                heads,
                rows.start,
                tables,
                d_head / 2,
                -1.0,
            );
            rotate(set, d_key, inner, heads, 0, tables, d_head / 2, -1.0);
        }
    }

    /// From the gradients of queries, keys, values and residual to that of the block's input, in `d_stream`.
    pub(super) fn through_projections(
        &mut self,
        layer: usize,
        rows: Range<usize>,
        sums: &mut Sums<'_>,
    ) {
        let Sizes {
            p, width, inner, ..
        } = self.sizes();
        let (place, parameters, set) = self.of_block(layer);
        self.start_stream(&rows);
        let values = &mut *self.values;
        let stream = &mut values.d_stream[..p * width];
        let (own, all) = (rows.start * inner..rows.end * inner, p * inner);
        let query = &mut values.d_query[..rows.len() * inner];
        let (key, value) = (&mut values.d_key[..all], &mut values.d_value[..all]);
        let is_separate = self.architecture.model.attention.projections == ProjectionKind::Separate;
        if !is_separate {
            // In the order of the three, whatever the number of queries.
            if rows.len() == p {
                add(set, query, key);
                key.copy_from_slice(query);
            } else {
                add(set, &mut key[own], query);
            }
            add(set, key, value);
        }
        let Some([to_query, to_key, to_value]) = place.projections else {
            add(set, stream, key);
            self.through_first_norm(layer, &rows, sums);
            return;
        };
        let (block, input) = block_and_input(&values.blocks, &values.embeddings, layer);
        let source = &block.attended.source(input)[..p * width];
        let additions = &mut *self.additions;
        let d = self.architecture.heads_width();
        let queried = rows.start * width..rows.end * width;
        if is_separate {
            // All rows are the input of keys and values, too.
            additions.input(set, &source[queried.clone()], width);
            additions.linear(set, query, inner, to_query, sums);
            let weights = weights_of(parameters, to_query);
            project_back(
                set,
                rows.len(),
                weights,
                0..d,
                query,
                width,
                &mut stream[queried],
            );
        }
        if !is_separate || rows.len() < p {
            additions.input(set, source, width);
        }
        for (linear, gradient) in [(to_key, key), (to_value, value)]
            .into_iter()
            .take(if is_separate { 2 } else { 1 })
        {
            additions.linear(set, gradient, inner, linear, sums);
            let weights = weights_of(parameters, linear);
            project_back(set, p, weights, 0..d, gradient, width, stream);
        }
        self.through_first_norm(layer, &rows, sums);
    }
}

/// Each head with each tile of its queries.
fn tiles(
    heads: usize,
    queries: usize,
    height: usize,
) -> impl Iterator<Item = (usize, Range<usize>)> {
    let tiles = move |head| {
        let starts = (0..queries).step_by(height);
        starts.map(move |start| (head, start..queries.min(start + height)))
    };
    (0..heads).flat_map(tiles)
}
