//! From tokens to probabilities.

use super::products::{average, project};
use super::{Block, Kernel, Scratch, Size, head_of};
use crate::lanes::{
    LANES, ZERO, exp_of_negative, larger, log_1p, map, one_at_a_time, select_negative, zero_below,
    zip,
};
use crate::one_block::layout::Parameter;
use crate::vectors::Vectors;

impl<S: Size, T: Vectors, const TILE: usize, const L: usize> Kernel<'_, S, T, TILE, L> {
    /// The forward pass, from tokens to probabilities. A page has it once for training and for predictions.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn forward(&mut self, block: Block<'_>) {
        self.load(block);
        self.attend();
        self.classify(block);
    }

    /// Embeddings of tokens and positions, one sample per lane.
    #[inline(always)]
    fn load(&mut self, block: Block<'_>) {
        let width = self.size.width();
        let tiles = width / TILE;
        let positions = self.layout.shape.positions;
        let table = &self.parameters[self.layout.range(Parameter::Tokens)];
        let table = table.as_chunks::<TILE>().0;
        let position_table = &self.parameters[self.layout.range(Parameter::Positions)];
        let position_table = &position_table.as_chunks::<TILE>().0[..positions * tiles];
        let x = &mut self.scratch.x.as_chunks_mut::<TILE>().0[..positions * tiles];
        let mut samples: [&[u32]; L] = [&[]; L];
        for (lane, sample) in samples.iter_mut().enumerate() {
            *sample = block.tokens(lane, positions);
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
                    for (x, column) in x.iter_mut().zip(self.vectors.turn(rows)) {
                        x[part * LANES..][..LANES].copy_from_slice(&column);
                    }
                }
            }
        }
    }

    /// Scores, weights, and inputs averaged with the weights.
    #[inline(always)]
    fn attend(&mut self) {
        let width = self.size.width();
        let positions = self.layout.shape.positions;
        let vectors = self.vectors;
        let Scratch {
            x,
            u,
            weights,
            pooled,
            ..
        } = &mut *self.scratch;
        for head in 0..self.size.n_heads() {
            let u = &u[head * width..(head + 1) * width];
            let weights = &mut weights[head * positions..(head + 1) * positions];
            let x = &x[..positions * width];
            let mut highest = [f32::NEG_INFINITY; L];
            for (weight, x) in weights.iter_mut().zip(x.chunks_exact(width)) {
                let mut score = vectors.splat(0.0);
                for i in 0..width {
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
            average::<T, TILE, L>(
                vectors,
                weights,
                x,
                width,
                &mut pooled[head * width..(head + 1) * width],
            );
        }
    }

    /// Context, residual, norm, logit, probability, loss.
    #[inline(always)]
    fn classify(&mut self, block: Block<'_>) {
        let (d, width) = (self.size.d_model(), self.size.width());
        let n_heads = self.size.n_heads();
        let parameters = self.parameters;
        let layout = self.layout;
        let of = |parameter| &parameters[layout.range(parameter)];
        let value_bias = &of(Parameter::ValueBias)[..width];
        let output_bias = &of(Parameter::OutputBias)[..width];
        let d_head = d / n_heads;
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
        let pooled = &pooled[..n_heads * width];
        let context = &mut context[..width];
        let normalized = &mut normalized[..width];
        let (x0, wg) = (&x0[..width], &wg[..width]);
        project::<T, TILE, L>(
            self.vectors,
            of(Parameter::ValueWeight),
            |e| value_bias[e],
            width,
            |i, e| &pooled[head_of(e, d_head, n_heads) * width + i],
            context,
        );
        let residual = normalized;
        project::<T, TILE, L>(
            self.vectors,
            of(Parameter::OutputWeight),
            |i| output_bias[i],
            width,
            |e, _| &context[e],
            residual,
        );
        let per_row = 1.0 / d as f32;
        let mut mean = [0.0; L];
        for i in 0..d {
            one_at_a_time();
            residual[i] = map(residual[i], |o| o + x0[i]);
            mean = zip(mean, residual[i], |mean, r| mean + r);
        }
        let mean = map(mean, |mean| mean * per_row);
        let mut variance = [0.0; L];
        for r in &mut residual[..d] {
            one_at_a_time();
            *r = zip(*r, mean, |r, mean| r - mean);
            variance = zip(variance, *r, |variance, r| variance + r * r);
        }
        let epsilon = self.constants.layer_norm_eps;
        *rstd = map(variance, |variance| {
            1.0 / (variance * per_row + epsilon).sqrt()
        });
        let normalized = residual;
        *t = [0.0; L];
        for i in 0..d {
            one_at_a_time();
            normalized[i] = zip(normalized[i], *rstd, |r, rstd| r * rstd);
            *t = zip(*t, normalized[i], |t, normalized| t + wg[i] * normalized);
        }
        let labels = block.labels();
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
