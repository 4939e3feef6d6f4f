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
use super::kernel::Kernel;
use super::pass::Pass;
use super::probe::{Site, reach};
use super::rotate::rotate;
use super::softmax;
use super::values::{block_and_input, tile_height};
use crate::architecture::Architecture;
use crate::arrays::Array;
use crate::lanes::{Lanes, log};
use crate::products::{Grid, Target, multiply};
use headlight_architecture::{ProjectionKind, Weighting};

impl<const L: usize> Pass<'_, L> {
    /// Attention of some queries: their contexts, from the first row on.
    pub(super) fn attend(&mut self, layer: usize, rows: Range<usize>) {
        let k = self.kernel;
        self.count_keys();
        let (architecture, count, p) = (self.architecture, rows.len(), k.p);
        self.project_rows(layer, &rows);
        let values = &mut *self.values;
        let block = &mut values.blocks[layer];
        let height = if self.probe.is_some() {
            count
        } else {
            tile_height::<L>(p)
        };
        for (head, tile) in tiles(k.heads, count, height) {
            let column = head * k.d_head;
            let pairs = (head * count + tile.start) * p..(head * count + tile.end) * p;
            let queries = rows.start + tile.start..rows.start + tile.end;
            let may = match &values.may[..] {
                [] => &[][..],
                may => &may[queries.start * p..queries.end * p],
            };
            let weights = &mut block.weights[pairs.clone()];
            multiply(
                k.set,
                [tile.len(), k.d_head, p],
                Grid::Of(&block.query[tile.start * k.inner + column..], k.inner),
                Grid::Transposed(&block.key[column..], k.inner),
                Target::of(weights, p).times(k.scale),
            );
            if architecture.model.attention.log_length {
                scale_rows(k.set, weights, p, &values.lengths[queries]);
            }
            let site = Site::Pairs(Array::Scores, layer, head);
            reach(&mut self.probe, site, weights);
            match architecture.model.attention.weighting() {
                Weighting::Softmax => softmax::forward(k.set, weights, p, may),
                Weighting::Rate(share) => {
                    let share = share as f32;
                    let softmax = &mut block.softmax[pairs];
                    softmax.copy_from_slice(weights);
                    softmax::forward(k.set, softmax, p, may);
                    softmax::mix(k.set, softmax, share, p, may, weights);
                }
                Weighting::Scores => softmax::hide(k.set, weights, may),
            }
            let site = Site::Pairs(Array::Weights, layer, head);
            reach(&mut self.probe, site, weights);
            multiply(
                k.set,
                [tile.len(), p, k.d_head],
                Grid::Of(weights, p),
                Grid::Of(&block.value[column..], k.inner),
                Target::of(&mut block.context[tile.start * k.inner + column..], k.inner),
            );
        }
        let site = Site::Vectors(Array::Context, layer);
        reach(&mut self.probe, site, &mut block.context);
    }

    /// Queries of some rows, and keys and values of all.
    fn project_rows(&mut self, layer: usize, rows: &Range<usize>) {
        let k = self.kernel;
        let (architecture, count) = (self.architecture, rows.len());
        let place = self.places.blocks[layer];
        let values = &mut *self.values;
        let (block, input) = block_and_input(&mut values.blocks, &values.embeddings, layer);
        let source = block.attended.source(input);
        let source = &source[..k.p * k.width];
        let own = &source[rows.start * k.width..rows.end * k.width];
        if let Some([query, key, value]) = place.projections {
            k.apply(key, source, &mut block.key);
            if architecture.model.attention.projections == ProjectionKind::Shared {
                let all = k.p * k.inner;
                block.value[..all].copy_from_slice(&block.key[..all]);
                let own = &block.key[rows.start * k.inner..rows.end * k.inner];
                block.query[..count * k.inner].copy_from_slice(own);
            } else {
                k.apply(query, own, &mut block.query);
                k.apply(value, source, &mut block.value);
            }
        } else {
            block.query[..own.len()].copy_from_slice(own);
            block.key[..source.len()].copy_from_slice(source);
            block.value[..source.len()].copy_from_slice(source);
        }
        turn(
            k,
            architecture,
            &mut block.query[..count * k.inner],
            rows.start,
            1.0,
        );
        turn(k, architecture, &mut block.key[..k.p * k.inner], 0, 1.0);
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
        let p = self.kernel.p;
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
    pub(super) fn through_attention(&mut self, layer: usize, rows: &Range<usize>) {
        let k = self.kernel;
        let (architecture, count, p) = (self.architecture, rows.len(), k.p);
        let values = &mut *self.values;
        let block = &values.blocks[layer];
        for (head, tile) in tiles(k.heads, count, tile_height::<L>(p)) {
            let column = head * k.d_head;
            let (is_first, is_last) = (tile.start == 0, tile.end == count);
            let pairs = (head * count + tile.start) * p..(head * count + tile.end) * p;
            let queries = rows.start + tile.start..rows.start + tile.end;
            let own = tile.start * k.inner + column;
            let weights = &block.weights[pairs.clone()];
            let d_context = &values.d_context[own..];
            let d_scores = &mut values.d_scores[..tile.len() * p];
            // dv = W^T dc
            multiply(
                k.set,
                [p, tile.len(), k.d_head],
                Grid::Transposed(weights, p),
                Grid::Of(d_context, k.inner),
                Target::of(&mut values.d_value[column..], k.inner).on_top(!is_first),
            );
            // dW = dc V^T
            multiply(
                k.set,
                [tile.len(), k.d_head, p],
                Grid::Of(d_context, k.inner),
                Grid::Transposed(&block.value[column..], k.inner),
                Target::of(d_scores, p),
            );
            match architecture.model.attention.weighting() {
                Weighting::Softmax => softmax::backward(k.set, weights, d_scores, p),
                Weighting::Rate(share) => {
                    let share = share as f32;
                    softmax::scale(k.set, d_scores, share);
                    softmax::backward(k.set, &block.softmax[pairs], d_scores, p);
                }
                Weighting::Scores if values.may.is_empty() => {}
                Weighting::Scores => {
                    let may = &values.may[queries.start * p..queries.end * p];
                    softmax::hide(k.set, d_scores, may);
                }
            }
            if architecture.model.attention.log_length {
                scale_rows(k.set, d_scores, p, &values.lengths[queries]);
            }
            if self.holds_weights {
                d_scores.fill([0.0; L]);
            }
            // dq = scale dZ K, dk = scale dZ^T Q
            multiply(
                k.set,
                [tile.len(), p, k.d_head],
                Grid::Of(d_scores, p),
                Grid::Of(&block.key[column..], k.inner),
                Target::of(&mut values.d_query[own..], k.inner).times(k.scale),
            );
            multiply(
                k.set,
                [p, tile.len(), k.d_head],
                Grid::Transposed(d_scores, p),
                Grid::Of(&block.query[own..], k.inner),
                Target::of(&mut values.d_key[column..], k.inner)
                    .on_top(!is_first)
                    .times(if is_last { k.scale } else { 1.0 }),
            );
        }
        let d_query = &mut values.d_query[..count * k.inner];
        turn(k, architecture, d_query, rows.start, -1.0);
        turn(k, architecture, &mut values.d_key[..p * k.inner], 0, -1.0);
    }

    /// From the gradients of queries, keys, values and residual to that of the block's input, in `d_stream`.
    pub(super) fn through_projections(&mut self, layer: usize, rows: &Range<usize>) {
        let (k, place) = (self.kernel, self.places.blocks[layer]);
        self.start_stream(rows);
        let (values, gradients) = (&mut *self.values, &mut self.gradients);
        let stream = &mut values.d_stream[..k.p * k.width];
        let (own, all) = (rows.start * k.inner..rows.end * k.inner, k.p * k.inner);
        let query = &mut values.d_query[..own.len()];
        let (key, value) = (&mut values.d_key[..all], &mut values.d_value[..all]);
        let is_separate = self.architecture.model.attention.projections == ProjectionKind::Separate;
        if !is_separate {
            // In the order of the three, whatever the number of queries.
            if rows.len() == k.p {
                add(k.set, query, key);
                key.copy_from_slice(query);
            } else {
                add(k.set, &mut key[own], query);
            }
            add(k.set, key, value);
        }
        let Some([to_query, to_key, to_value]) = place.projections else {
            add(k.set, stream, key);
            self.through_first_norm(layer, rows);
            return;
        };
        let (block, input) = block_and_input(&mut values.blocks, &values.embeddings, layer);
        let source = &block.attended.source(input)[..k.p * k.width];
        if is_separate {
            // All rows are the input of keys and values, too.
            let queried = rows.start * k.width..rows.end * k.width;
            gradients.input(&source[queried.clone()], k.width);
            gradients.linear(query, to_query);
            k.back(to_query, query, &mut stream[queried], true);
        }
        if !is_separate || rows.len() < k.p {
            gradients.input(source, k.width);
        }
        gradients.linear(key, to_key);
        k.back(to_key, key, stream, true);
        if is_separate {
            gradients.linear(value, to_value);
            k.back(to_value, value, stream, true);
        }
        self.through_first_norm(layer, rows);
    }
}

/// Rotates queries or keys, the first of them at position `first`, if positions are rotary; back with a `sign` of -1.
fn turn<const L: usize>(
    k: Kernel<'_>,
    architecture: &Architecture,
    rows: &mut [Lanes<L>],
    first: usize,
    sign: f32,
) {
    if let Some(tables) = &architecture.rotation {
        rotate(
            k.set,
            rows,
            [k.inner, k.heads, k.d_head / 2],
            first,
            tables,
            sign,
        );
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
