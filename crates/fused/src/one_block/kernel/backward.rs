//! From losses to the gradient.

use super::products::{add_products, add_rows, average, project, project_back, to_rows};
use super::{Block, Kernel, Size, head_of};
use crate::lanes::{LANES, Lanes, map, one_at_a_time, square, zero_below, zip};
use crate::one_block::layout::Parameter;
use crate::vectors::Vectors;

impl<S: Size, T: Vectors, const TILE: usize, const L: usize> Kernel<'_, S, T, TILE, L> {
    /// Adds the gradient of the block's losses, each times `share`, to `gradient`. Adds the squared
    /// gradient of each occurrence of a token to `squares`, if given.
    ///
    /// The caller must have run the forward pass of the same block before.
    #[inline(always)]
    pub(crate) fn backward(
        &mut self,
        block: Block<'_>,
        share: f32,
        gradient: &mut [f32],
        squares: Option<&mut [f32]>,
    ) {
        self.through_norm(block, share, gradient);
        self.through_attention(gradient);
        self.through_embeddings(block, gradient, squares);
    }

    /// From the logit to the residual and the output projection.
    #[inline(always)]
    fn through_norm(&mut self, block: Block<'_>, share: f32, gradient: &mut [f32]) {
        let (d, width) = (self.size.d_model(), self.size.width());
        let per_row = 1.0 / d as f32;
        let output_weight = &self.parameters[self.layout.range(Parameter::OutputWeight)];
        let scratch = &mut *self.scratch;
        let mut d_logit = zip(scratch.probabilities, block.labels(), |p, y| {
            zero_below(1e-18, (p - y) * share)
        });
        // Lanes<L> without a sample of their own add nothing to the loss.
        d_logit[block.samples.len()..].fill(0.0);
        let common = zip(d_logit, scratch.rstd, |d_logit, rstd| d_logit * rstd);
        let along = map(scratch.t, |t| t * per_row);
        let (centred, normalized) = (&scratch.centred[..width], &scratch.normalized[..width]);
        let (d_residual, part) = (&mut scratch.d_residual[..width], &mut scratch.part[..width]);
        for i in 0..d {
            one_at_a_time();
            let slope = zip(normalized[i], along, |n, along| centred[i] - n * along);
            d_residual[i] = zip(common, slope, |common, slope| common * slope);
            part[i] = zip(d_logit, normalized[i], |d_logit, n| d_logit * n);
        }
        for d_logit in d_logit {
            scratch.d_logit += d_logit;
        }
        to_rows::<T, TILE, L>(self.vectors, &scratch.part, width, &mut scratch.part_rows);
        add_rows::<L>(&scratch.part_rows, width, &mut scratch.d_normalized_sum);

        to_rows::<T, TILE, L>(
            self.vectors,
            &scratch.d_residual,
            width,
            &mut scratch.d_residual_rows,
        );
        let rows = &scratch.d_residual_rows;
        add_rows::<L>(
            rows,
            width,
            &mut gradient[self.layout.range(Parameter::OutputBias)],
        );
        add_products::<TILE, L>(
            &scratch.context,
            rows,
            width,
            &mut gradient[self.layout.range(Parameter::OutputWeight)],
        );
        project_back::<T, TILE, L>(
            self.vectors,
            output_weight,
            width,
            0..width,
            &scratch.d_residual,
            &mut scratch.d_context,
        );
    }

    /// From the context to the scores, the averages of inputs, and the query.
    #[inline(always)]
    fn through_attention(&mut self, gradient: &mut [f32]) {
        let width = self.size.width();
        let n_heads = self.size.n_heads();
        let positions = self.layout.shape.positions;
        let value_weight = &self.parameters[self.layout.range(Parameter::ValueWeight)];
        let d_head = self.size.d_model() / n_heads;
        let all_columns = if n_heads == 1 { 0..width } else { 0..d_head };
        let scratch = &mut *self.scratch;

        to_rows::<T, TILE, L>(
            self.vectors,
            &scratch.d_context,
            width,
            &mut scratch.d_context_rows,
        );
        let rows = &scratch.d_context_rows;
        add_rows::<L>(
            rows,
            width,
            &mut gradient[self.layout.range(Parameter::ValueBias)],
        );
        let d_value_weight = &mut gradient[self.layout.range(Parameter::ValueWeight)];
        if n_heads == 1 {
            add_products::<TILE, L>(&scratch.pooled, rows, width, d_value_weight);
        } else {
            for (head, pooled) in scratch.pooled.chunks_exact(width).enumerate() {
                let columns = head * d_head..(head + 1) * d_head;
                for (pooled, sums) in pooled.iter().zip(d_value_weight.chunks_exact_mut(width)) {
                    for (row, pooled) in rows.chunks_exact(width).zip(pooled) {
                        for e in columns.clone() {
                            sums[e] += pooled * row[e];
                        }
                    }
                }
            }
        }

        for head in 0..n_heads {
            let columns = all_columns.start + head * d_head..all_columns.end + head * d_head;
            let d_pooled = &mut scratch.d_pooled[head * width..(head + 1) * width];
            project_back::<T, TILE, L>(
                self.vectors,
                value_weight,
                width,
                columns,
                &scratch.d_context,
                d_pooled,
            );
            to_rows::<T, TILE, L>(
                self.vectors,
                d_pooled,
                width,
                &mut scratch.d_pooled_rows[head * L * width..(head + 1) * L * width],
            );
            let weights = &scratch.weights[head * positions..(head + 1) * positions];
            let d_scores = &mut scratch.d_scores[head * positions..(head + 1) * positions];
            let x = &scratch.x[..positions * width];
            let mut mean = [0.0; L];
            for ((d_score, weight), x) in
                d_scores.iter_mut().zip(weights).zip(x.chunks_exact(width))
            {
                let mut d_weight = self.vectors.splat(0.0);
                for i in 0..width {
                    let (d_pooled, x) = (&d_pooled[i], &x[i]);
                    let (d_pooled, x) = (self.vectors.load(d_pooled), self.vectors.load(x));
                    self.vectors.add_product(&mut d_weight, d_pooled, x);
                }
                self.vectors.store(d_weight, d_score);
                for l in 0..L {
                    mean[l] += weight[l] * d_score[l];
                }
            }
            for (d_score, weight) in d_scores.iter_mut().zip(weights) {
                one_at_a_time();
                for l in 0..L {
                    d_score[l] = weight[l] * (d_score[l] - mean[l]);
                }
            }
            let d_u = &mut scratch.d_u[head * width..(head + 1) * width];
            average::<T, TILE, L>(self.vectors, d_scores, x, width, d_u);
            to_rows::<T, TILE, L>(self.vectors, d_u, width, &mut scratch.part_rows);
            let sum = &mut scratch.d_u_sum[head * width..(head + 1) * width];
            add_rows::<L>(&scratch.part_rows, width, sum);
        }
        self.through_query();
    }

    /// `dq = W_k^T du / sqrt(d_head)`, and through `W_q` to the input of `[CLS]`.
    #[inline(always)]
    fn through_query(&mut self) {
        let width = self.size.width();
        let n_heads = self.size.n_heads();
        let d_head = self.size.d_model() / n_heads;
        let key_weight = &self.parameters[self.layout.range(Parameter::KeyWeight)];
        let query_weight = &self.parameters[self.layout.range(Parameter::QueryWeight)];
        let scale = self.constants.scale;
        let scratch = &mut *self.scratch;
        let d_u = &scratch.d_u;
        project::<T, TILE, L>(
            self.vectors,
            key_weight,
            |_| 0.0,
            width,
            |i, e| &d_u[head_of(e, d_head, n_heads) * width + i],
            &mut scratch.d_query,
        );
        for d_query in scratch.d_query.as_flattened_mut() {
            *d_query *= scale;
        }
        project_back::<T, TILE, L>(
            self.vectors,
            query_weight,
            width,
            0..width,
            &scratch.d_query,
            &mut scratch.part,
        );
        to_rows::<T, TILE, L>(self.vectors, &scratch.part, width, &mut scratch.part_rows);
    }

    /// To the embeddings of the tokens and positions that occur.
    #[inline(always)]
    fn through_embeddings(
        &mut self,
        block: Block<'_>,
        gradient: &mut [f32],
        squares: Option<&mut [f32]>,
    ) {
        let width = self.size.width();
        let tiles = width / TILE;
        let n_heads = self.size.n_heads();
        let positions = self.layout.shape.positions;
        let scratch = &*self.scratch;
        let (tables, _) = gradient.split_at_mut(self.layout.range(Parameter::Positions).end);
        let (table, position_table) = tables.split_at_mut(self.layout.range(Parameter::Tokens).end);
        let table = table.as_chunks_mut::<TILE>().0;
        let position_table = position_table.as_chunks_mut::<TILE>().0;
        let mut squares = squares.map(|squares| squares.as_chunks_mut::<TILE>().0);
        let u = &scratch.u.as_chunks::<TILE>().0[..n_heads * tiles];
        let d_pooled = &scratch.d_pooled_rows.as_chunks::<TILE>().0[..n_heads * L * tiles];
        let d_residual = &scratch.d_residual_rows.as_chunks::<TILE>().0[..L * tiles];
        let part = &scratch.part_rows.as_chunks::<TILE>().0[..L * tiles];
        let weights = &scratch.weights[..n_heads * positions];
        let d_scores = &scratch.d_scores[..n_heads * positions];
        let position_table = &mut position_table[..positions * tiles];
        let mut samples: [&[u32]; L] = [&[]; L];
        for (lane, sample) in samples.iter_mut().enumerate() {
            *sample = block.tokens(lane, positions);
        }
        let as_key = AsKey {
            weights,
            d_scores,
            d_pooled,
            u,
            n_heads,
            positions,
            tiles,
        };
        let count = block.samples.len().min(L);
        for first in (0..count).step_by(LANES) {
            let lanes = first..count.min(first + LANES);
            for t in 0..tiles {
                // Every sample has [CLS], so its sums stay in registers.
                let (mut sum, mut squared) = (table[t], [0.0; TILE]);
                let mut position_sum = position_table[t];
                for lane in lanes.clone() {
                    let d_x = as_key.at(0, lane, t);
                    let (residual, part) = (d_residual[lane * tiles + t], part[lane * tiles + t]);
                    for i in 0..TILE {
                        let d_x = d_x[i] + (residual[i] + part[i]);
                        sum[i] += d_x;
                        squared[i] += square(d_x);
                        position_sum[i] += d_x;
                    }
                }
                table[t] = sum;
                position_table[t] = position_sum;
                if let Some(squares) = &mut squares {
                    for i in 0..TILE {
                        squares[t][i] += squared[i];
                    }
                }
                for j in 1..positions {
                    let mut position_sum = position_table[j * tiles + t];
                    for lane in lanes.clone() {
                        let d_x = as_key.at(j, lane, t);
                        let row = samples[lane][j] as usize * tiles + t;
                        let sum = &mut table[row];
                        for i in 0..TILE {
                            sum[i] += d_x[i];
                            position_sum[i] += d_x[i];
                        }
                        if let Some(squares) = &mut squares {
                            let sum = &mut squares[row];
                            for i in 0..TILE {
                                sum[i] += square(d_x[i]);
                            }
                        }
                    }
                    position_table[j * tiles + t] = position_sum;
                }
            }
        }
    }

    /// Adds the gradients that follow from sums over samples. Called after the last block of a batch.
    #[inline(always)]
    pub(crate) fn finish(&mut self, gradient: &mut [f32]) {
        let width = self.size.width();
        let scale = self.constants.scale;
        let d_head = self.size.d_model() / self.size.n_heads();
        let n_heads = self.size.n_heads();
        let key_weight = &self.parameter(Parameter::KeyWeight)[..width * width];
        let gamma = &self.parameter(Parameter::Gamma)[..width];
        let beta = &self.parameter(Parameter::Beta)[..width];
        let classifier = &self.parameter(Parameter::ClassifierWeight)[..width];
        let scratch = &*self.scratch;
        let d_u_sum = &scratch.d_u_sum[..n_heads * width];
        let (query, x0) = (&scratch.query[..width], &scratch.x0[..width]);

        let mut d_query = [0.0; TILE];
        for t in 0..width / TILE {
            let columns = t * TILE..(t + 1) * TILE;
            d_query.fill(0.0);
            for (i, row) in key_weight.chunks_exact(width).enumerate() {
                let row = &row[columns.clone()];
                for e in 0..TILE {
                    d_query[e] += scale
                        * d_u_sum[head_of(t * TILE + e, d_head, n_heads) * width + i]
                        * row[e];
                }
            }
            let bias = &mut gradient[self.layout.range(Parameter::QueryBias)][columns.clone()];
            for e in 0..TILE {
                bias[e] += d_query[e];
            }
            let rows = &mut gradient[self.layout.range(Parameter::QueryWeight)];
            for (row, x0) in rows.chunks_exact_mut(width).zip(x0) {
                let row = &mut row[columns.clone()];
                for e in 0..TILE {
                    row[e] += x0 * d_query[e];
                }
            }
        }
        let rows = gradient[self.layout.range(Parameter::KeyWeight)].chunks_exact_mut(width);
        for (i, row) in rows.enumerate().take(width) {
            for e in 0..width {
                row[e] += scale * d_u_sum[head_of(e, d_head, n_heads) * width + i] * query[e];
            }
        }

        let d_logit = scratch.d_logit;
        let sum = &scratch.d_normalized_sum[..width];
        let d_gamma = &mut gradient[self.layout.range(Parameter::Gamma)];
        for i in 0..width {
            d_gamma[i] += classifier[i] * sum[i];
        }
        let d_beta = &mut gradient[self.layout.range(Parameter::Beta)];
        for i in 0..width {
            d_beta[i] += classifier[i] * d_logit;
        }
        let d_classifier = &mut gradient[self.layout.range(Parameter::ClassifierWeight)];
        for i in 0..width {
            d_classifier[i] += gamma[i] * sum[i] + beta[i] * d_logit;
        }
        gradient[self.layout.range(Parameter::ClassifierBias).start] += d_logit;

        let scratch = &mut *self.scratch;
        scratch.d_logit = 0.0;
        scratch.d_normalized_sum.fill(0.0);
        scratch.d_u_sum.fill(0.0);
    }
}

/// The parts of an input's gradient that every position has; `[CLS]` has others too.
struct AsKey<'a, const TILE: usize, const L: usize> {
    weights: &'a [Lanes<L>],
    d_scores: &'a [Lanes<L>],
    d_pooled: &'a [[f32; TILE]],
    u: &'a [[f32; TILE]],
    n_heads: usize,
    positions: usize,
    tiles: usize,
}

impl<const TILE: usize, const L: usize> AsKey<'_, TILE, L> {
    /// `Σ_head a_j dp + ds_j u` for one sample.
    #[inline(always)]
    fn at(&self, j: usize, lane: usize, t: usize) -> [f32; TILE] {
        let mut d_x = [0.0; TILE];
        for head in 0..self.n_heads {
            let weight = self.weights[head * self.positions + j][lane];
            let d_score = self.d_scores[head * self.positions + j][lane];
            let d_pooled = self.d_pooled[(head * L + lane) * self.tiles + t];
            let u = self.u[head * self.tiles + t];
            for i in 0..TILE {
                d_x[i] += weight * d_pooled[i] + d_score * u[i];
            }
        }
        d_x
    }
}
