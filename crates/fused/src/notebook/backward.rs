//! From losses to the gradient.

use super::forward::labels;
use super::kernel::{NotebookKernel, TILE};
use super::products::{add_products, add_rows, average, project, project_back};
use crate::chunk::Chunk;
use crate::gradients::transpose_lanes;
use crate::lanes::{LANES, map, one_at_a_time, square, zero_below, zip};
use crate::vectors::Vectors;

impl<V: Vectors, const D: usize, const L: usize> NotebookKernel<'_, V, D, L> {
    /// Adds the gradient of the chunk's losses, each times `share`, to `gradient`. Adds the squared
    /// gradient of each occurrence of a token to `squares`, if given.
    ///
    /// The caller must have run the forward pass of the same chunk before.
    #[inline(always)]
    pub(super) fn backward(
        &mut self,
        chunk: Chunk<'_>,
        share: f32,
        gradient: &mut [f32],
        squares: Option<&mut [f32]>,
    ) {
        self.backward_norm(chunk, share, gradient);
        self.backward_attention(gradient);
        self.backward_query();
        self.backward_embeddings(chunk, gradient, squares);
    }

    /// From the logit to the residual and the output projection.
    #[inline(always)]
    fn backward_norm(&mut self, chunk: Chunk<'_>, share: f32, gradient: &mut [f32]) {
        let (vectors, output) = (self.vectors, self.plan.output);
        let output_weight = self.parameter(output.weight);
        let per_row = 1.0 / D as f32;
        let scratch = &mut *self.scratch;
        let mut d_logit = zip(scratch.probabilities, labels(chunk), |p, y| {
            zero_below(1e-18, (p - y) * share)
        });
        // Lanes without a sample add nothing to the loss.
        d_logit[chunk.chosen.len()..].fill(0.0);
        let common = zip(d_logit, scratch.rstd, |d_logit, rstd| d_logit * rstd);
        let along = map(scratch.t, |t| t * per_row);
        let (centred, normalized) = (&scratch.centred[..D], &scratch.normalized[..D]);
        let (d_residual, part) = (&mut scratch.d_residual[..D], &mut scratch.part[..D]);
        for i in 0..D {
            one_at_a_time();
            let slope = zip(normalized[i], along, |n, along| centred[i] - n * along);
            d_residual[i] = zip(common, slope, |common, slope| common * slope);
            part[i] = zip(d_logit, normalized[i], |d_logit, n| d_logit * n);
        }
        for d_logit in d_logit {
            scratch.d_logit += d_logit;
        }
        transpose_lanes(vectors, part, &mut scratch.part_rows, D);
        add_rows::<D, L>(&scratch.part_rows, &mut scratch.d_normalized_sum);

        let rows = &mut scratch.d_residual_rows;
        transpose_lanes(vectors, d_residual, rows, D);
        add_rows::<D, L>(rows, &mut gradient[output.bias.range()]);
        let d_weight = &mut gradient[output.weight.range()];
        add_products::<D, L>(&scratch.context, rows, d_weight);
        let d_context = &mut scratch.d_context;
        project_back::<_, D, L>(vectors, output_weight, d_residual, d_context);
    }

    /// From the context to the scores and the averages of inputs.
    #[inline(always)]
    fn backward_attention(&mut self, gradient: &mut [f32]) {
        let (vectors, value, positions) = (self.vectors, self.plan.value, self.plan.positions);
        let value_weight = self.parameter(value.weight);
        let scratch = &mut *self.scratch;
        let rows = &mut scratch.d_context_rows;
        transpose_lanes(vectors, &scratch.d_context, rows, D);
        add_rows::<D, L>(rows, &mut gradient[value.bias.range()]);
        add_products::<D, L>(&scratch.pooled, rows, &mut gradient[value.weight.range()]);

        let d_pooled = &mut scratch.d_pooled[..D];
        project_back::<_, D, L>(vectors, value_weight, &scratch.d_context, d_pooled);
        transpose_lanes(vectors, d_pooled, &mut scratch.d_pooled_rows, D);
        let weights = &scratch.weights[..positions];
        let d_scores = &mut scratch.d_scores[..positions];
        let x = &scratch.x[..positions * D];
        let mut mean = [0.0; L];
        for ((d_score, weight), x) in d_scores.iter_mut().zip(weights).zip(x.chunks_exact(D)) {
            let mut d_weight = vectors.splat(0.0);
            for i in 0..D {
                let (d_pooled, x) = (vectors.load(&d_pooled[i]), vectors.load(&x[i]));
                vectors.add_product(&mut d_weight, d_pooled, x);
            }
            vectors.store(d_weight, d_score);
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
        average::<_, D, L>(vectors, d_scores, x, &mut scratch.d_u);
        transpose_lanes(vectors, &scratch.d_u, &mut scratch.part_rows, D);
        add_rows::<D, L>(&scratch.part_rows, &mut scratch.d_u_sum);
    }

    /// `dq = s W_k^T du`, and through `W_q` to the input of `[CLS]`.
    #[inline(always)]
    fn backward_query(&mut self) {
        let (vectors, plan) = (self.vectors, self.plan);
        let key_weight = self.parameter(plan.key.weight);
        let query_weight = self.parameter(plan.query.weight);
        let scratch = &mut *self.scratch;
        let d_query = &mut scratch.d_query;
        project::<_, D, L>(vectors, key_weight, &[0.0; D], &scratch.d_u, d_query);
        for d_query in d_query.as_flattened_mut() {
            *d_query *= plan.scale;
        }
        project_back::<_, D, L>(vectors, query_weight, d_query, &mut scratch.part);
        transpose_lanes(vectors, &scratch.part, &mut scratch.part_rows, D);
    }

    /// To the embeddings of the tokens and positions that occur.
    #[inline(always)]
    fn backward_embeddings(
        &mut self,
        chunk: Chunk<'_>,
        gradient: &mut [f32],
        squares: Option<&mut [f32]>,
    ) {
        let tiles = D / TILE;
        let positions = self.plan.positions;
        let scratch = &*self.scratch;
        // The positions follow the tokens.
        let (tables, _) = gradient.split_at_mut(self.plan.position_table.range().end);
        let (table, position_table) = tables.split_at_mut(self.plan.tokens.range().end);
        let table = table.as_chunks_mut::<TILE>().0;
        let position_table = &mut position_table.as_chunks_mut::<TILE>().0[..positions * tiles];
        let mut squares = squares.map(|squares| squares.as_chunks_mut::<TILE>().0);
        let u = &scratch.u.as_chunks::<TILE>().0[..tiles];
        let d_pooled = &scratch.d_pooled_rows.as_chunks::<TILE>().0[..L * tiles];
        let d_residual = &scratch.d_residual_rows.as_chunks::<TILE>().0[..L * tiles];
        let part = &scratch.part_rows.as_chunks::<TILE>().0[..L * tiles];
        let weights = &scratch.weights[..positions];
        let d_scores = &scratch.d_scores[..positions];
        let mut samples: [&[u32]; L] = [&[]; L];
        for (lane, sample) in samples.iter_mut().enumerate() {
            *sample = chunk.tokens(lane);
        }
        // The part of an input's gradient that every position has: `a_j dp + ds_j u`.
        let as_key = |j: usize, lane: usize, t: usize| {
            let (weight, d_score) = (weights[j][lane], d_scores[j][lane]);
            let (d_pooled, u) = (d_pooled[lane * tiles + t], u[t]);
            let mut d_x = [0.0; TILE];
            for i in 0..TILE {
                d_x[i] += weight * d_pooled[i] + d_score * u[i];
            }
            d_x
        };
        let count = chunk.chosen.len().min(L);
        for first in (0..count).step_by(LANES) {
            let lanes = first..count.min(first + LANES);
            for t in 0..tiles {
                // Every sample has [CLS], so its sums stay in registers.
                let (mut sum, mut squared) = (table[t], [0.0; TILE]);
                let mut position_sum = position_table[t];
                for lane in lanes.clone() {
                    let d_x = as_key(0, lane, t);
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
                        let d_x = as_key(j, lane, t);
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

    /// Adds the gradients that follow from sums over samples. Called after the last chunk of a batch.
    #[inline(always)]
    pub(super) fn finish(&mut self, gradient: &mut [f32]) {
        let plan = self.plan;
        let key_weight = &self.parameter(plan.key.weight)[..D * D];
        let gamma = &self.parameter(plan.norm.gamma)[..D];
        let beta = &self.parameter(plan.norm.beta)[..D];
        let scratch = &mut *self.scratch;
        let (query, x0) = (&scratch.query[..D], &scratch.x0[..D]);
        let d_u_sum = &mut scratch.d_u_sum[..D];

        let mut d_query = [0.0; D];
        for (d_u, row) in d_u_sum.iter().zip(key_weight.chunks_exact(D)) {
            for e in 0..D {
                d_query[e] += plan.scale * d_u * row[e];
            }
        }
        let bias = &mut gradient[plan.query.bias.range()];
        for e in 0..D {
            bias[e] += d_query[e];
        }
        let rows = gradient[plan.query.weight.range()].chunks_exact_mut(D);
        for (row, x0) in rows.zip(x0) {
            for e in 0..D {
                row[e] += x0 * d_query[e];
            }
        }
        let rows = gradient[plan.key.weight.range()].chunks_exact_mut(D);
        for (row, d_u) in rows.zip(d_u_sum.iter()) {
            for e in 0..D {
                row[e] += plan.scale * d_u * query[e];
            }
        }

        let d_logit = scratch.d_logit;
        let sum = &mut scratch.d_normalized_sum[..D];
        let classifier = &scratch.classifier[..D];
        let d_gamma = &mut gradient[plan.norm.gamma.range()];
        for i in 0..D {
            d_gamma[i] += classifier[i] * sum[i];
        }
        let d_beta = &mut gradient[plan.norm.beta.range()];
        for i in 0..D {
            d_beta[i] += classifier[i] * d_logit;
        }
        let d_classifier = &mut gradient[plan.classifier.weight.range()];
        for i in 0..D {
            d_classifier[i * plan.classifier.weight.stride] +=
                gamma[i] * sum[i] + beta[i] * d_logit;
        }
        gradient[plan.classifier.bias.range().start] += d_logit;

        scratch.d_logit = 0.0;
        sum.fill(0.0);
        d_u_sum.fill(0.0);
    }
}
