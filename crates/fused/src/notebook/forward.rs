//! From tokens to probabilities.

use super::kernel::{NotebookKernel, Scratch, TILE};
use super::products::{average, project};
use crate::chunk::Chunk;
use crate::lanes::{
    LANES, Lanes, ZERO, exp_of_negative, larger, log_1p, map, one_at_a_time, select_negative,
    zero_below, zip,
};
use crate::vectors::Vectors;

impl<V: Vectors, const D: usize, const L: usize> NotebookKernel<'_, V, D, L> {
    /// The forward pass, from tokens to probabilities. A page has it once for training and for predictions.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn forward(&mut self, chunk: Chunk<'_>) {
        self.load(chunk);
        self.attend();
        self.classify(chunk);
    }

    /// Embeddings of tokens and positions, one sample per lane.
    #[inline(always)]
    fn load(&mut self, chunk: Chunk<'_>) {
        let tiles = D / TILE;
        let positions = self.plan.positions;
        let table = self.parameter(self.plan.tokens).as_chunks::<TILE>().0;
        let position_table = self.parameter(self.plan.position_table);
        let position_table = &position_table.as_chunks::<TILE>().0[..positions * tiles];
        let x = &mut self.scratch.x.as_chunks_mut::<TILE>().0[..positions * tiles];
        let mut samples: [&[u32]; L] = [&[]; L];
        for (lane, sample) in samples.iter_mut().enumerate() {
            *sample = chunk.tokens(lane);
        }
        for j in 1..positions {
            for t in 0..tiles {
                let position = position_table[j * tiles + t];
                let x = &mut x[j * tiles + t];
                for part in 0..L / LANES {
                    let mut rows = [ZERO; LANES];
                    for lane in 0..LANES {
                        let sample = samples[part * LANES + lane];
                        let row = table[sample[j] as usize * tiles + t];
                        for i in 0..TILE {
                            rows[lane][i] = row[i] + position[i];
                        }
                    }
                    for (x, column) in x.iter_mut().zip(self.vectors.transpose(rows)) {
                        x[part * LANES..][..LANES].copy_from_slice(&column);
                    }
                }
            }
        }
    }

    /// Scores, weights, and inputs averaged with the weights.
    #[inline(always)]
    fn attend(&mut self) {
        let (vectors, positions) = (self.vectors, self.plan.positions);
        let Scratch {
            x,
            u,
            weights,
            pooled,
            ..
        } = &mut *self.scratch;
        let (u, x) = (&u[..D], &x[..positions * D]);
        let weights = &mut weights[..positions];
        let mut highest = [f32::NEG_INFINITY; L];
        for (weight, x) in weights.iter_mut().zip(x.chunks_exact(D)) {
            let mut score = vectors.splat(0.0);
            for i in 0..D {
                vectors.add_product(&mut score, vectors.splat(u[i]), vectors.load(&x[i]));
            }
            vectors.store(score, weight);
            highest = zip(*weight, highest, larger);
        }
        let mut sum = [0.0; L];
        for weight in weights.iter_mut() {
            one_at_a_time();
            *weight = zip(*weight, highest, |score, highest| {
                zero_below(1e-18, exp_of_negative(score - highest))
            });
            sum = zip(sum, *weight, |sum, weight| sum + weight);
        }
        let inverse = map(sum, |sum| 1.0 / sum);
        for weight in weights.iter_mut() {
            one_at_a_time();
            *weight = zip(*weight, inverse, |weight, inverse| weight * inverse);
        }
        average::<_, D, L>(vectors, weights, x, pooled);
    }

    /// Context, residual, norm, logit, probability, loss.
    #[inline(always)]
    fn classify(&mut self, chunk: Chunk<'_>) {
        let plan = self.plan;
        let value_bias = &self.parameter(plan.value.bias)[..D];
        let output_bias = &self.parameter(plan.output.bias)[..D];
        let value_weight = self.parameter(plan.value.weight);
        let output_weight = self.parameter(plan.output.weight);
        let Scratch {
            x0,
            wg,
            c0,
            pooled,
            context,
            normalized,
            rstd,
            t,
            logits,
            probabilities,
            losses,
            ..
        } = &mut *self.scratch;
        let (x0, wg) = (&x0[..D], &wg[..D]);
        project::<_, D, L>(self.vectors, value_weight, value_bias, pooled, context);
        let residual = &mut normalized[..D];
        project::<_, D, L>(self.vectors, output_weight, output_bias, context, residual);
        let per_row = 1.0 / D as f32;
        let mut mean = [0.0; L];
        for i in 0..D {
            one_at_a_time();
            residual[i] = map(residual[i], |o| o + x0[i]);
            mean = zip(mean, residual[i], |mean, r| mean + r);
        }
        let mean = map(mean, |mean| mean * per_row);
        let mut variance = [0.0; L];
        for r in residual.iter_mut() {
            one_at_a_time();
            *r = zip(*r, mean, |r, mean| r - mean);
            variance = zip(variance, *r, |variance, r| variance + r * r);
        }
        *rstd = map(variance, |variance| {
            1.0 / (variance * per_row + plan.eps).sqrt()
        });
        let normalized = residual;
        *t = [0.0; L];
        for i in 0..D {
            one_at_a_time();
            normalized[i] = zip(normalized[i], *rstd, |r, rstd| r * rstd);
            *t = zip(*t, normalized[i], |t, normalized| t + wg[i] * normalized);
        }
        let labels = labels(chunk);
        *logits = map(*t, |t| t + *c0);
        let e = map(*logits, |logit| exp_of_negative(-logit.abs()));
        let inverse = map(e, |e| 1.0 / (1.0 + e));
        *probabilities = zip(e, inverse, |e, inverse| e * inverse);
        *probabilities = select_negative(*logits, *probabilities, inverse);
        // max(z, 0) - z y + log(1 + exp(-|z|))
        let linear = zip(*logits, labels, |logit, label| {
            larger(logit, 0.0) - logit * label
        });
        *losses = zip(linear, e, |linear, e| linear + log_1p(e));
    }
}

/// 1 or 0 for each lane.
#[inline(always)]
pub(super) fn labels<const L: usize>(chunk: Chunk<'_>) -> Lanes<L> {
    let mut labels = [0.0; L];
    for (lane, label) in labels.iter_mut().enumerate() {
        *label = chunk.label(lane, 0, 1) as f32;
    }
    labels
}
