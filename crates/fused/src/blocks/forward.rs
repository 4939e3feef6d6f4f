//! The forward pass for eight samples.
//!
//! The input of a block is the rows `x_j`, one for each position: of the first block, the token's row of the embedding,
//! plus the position's. With `s = 1 / sqrt(d_head)`, or another scale, and the columns of each head apart:
//!
//! ```text
//! q_j = x_j W_q + b_q,  k_j = x_j W_k + b_k,  v_j = x_j W_v + b_v
//! a_ij = softmax_j(s q_i · k_j)           over the keys j that query i may look at; 0 without such a key
//! c_i = Σ_j a_ij v_j                      context
//! y_i = norm(x_i + c_i W_o + b_o)
//! h_i = max(y_i W_1 + b_1, 0)             feed-forward layer, if there is one
//! y'_i = norm(y_i + h_i W_2 + b_2)
//! ```
//!
//! The classifier reads `[CLS]` alone. So the last block computes its row `i` only, and neither keys nor values:
//!
//! ```text
//! u   = s W_k q_i                         so that x_j · u = s q_i · (x_j W_k); b_k adds the same to all scores
//! p   = Σ_j a_j x_j,  c_i = p W_v + b_v   the weights sum to 1; to 0 without a key, and then c_i is 0
//! ```

use super::elements::{rectify, shift};
use super::pass::{Pass, Sizes, sees, weights_of};
use super::places::{Linear, padded};
use super::probe::{Site, reach};
use super::products::{Grid, multiply, project, project_back};
use super::values::block_mut_and_input;
use super::{Chunk, classifier, embedding, norm, softmax};
use crate::architecture::Projections;
use crate::arrays::Array;
use crate::instructions::Instructions;
use crate::lanes::{LANES, Lanes, ZERO, exp_of_negative, log, log_1p};

impl Pass<'_> {
    /// From tokens to losses. If `whole`, the last block computes all rows, not that of `[CLS]` alone.
    pub(super) fn forward(&mut self, chunk: Chunk<'_>, whole: bool) {
        self.embed(chunk);
        let site = Site::Vectors(Array::Embeddings, 0);
        reach(&mut self.probe, site, &mut self.values.embeddings);
        self.allow(chunk);
        let last = self.architecture.n_layers - 1;
        for layer in 0..self.architecture.n_layers {
            if layer < last || whole {
                reach(&mut self.probe, Site::Mask(layer), &mut self.values.may);
                self.attend(layer);
                self.finish_block(layer, self.architecture.positions);
                let output = self.values.blocks[layer].output_mut();
                let site = Site::Vectors(Array::Output, layer);
                reach(&mut self.probe, site, output);
            } else {
                self.attend_from_cls(layer);
                self.finish_block(layer, 1);
            }
        }
        let row = if whole {
            self.architecture.cls_position
        } else {
            0
        };
        self.classify(chunk, row);
    }

    fn embed(&mut self, chunk: Chunk<'_>) {
        let parameters = self.parameters;
        embedding::forward(
            self.instructions,
            chunk,
            &parameters[self.places.tokens.range()],
            self.places
                .positions
                .map_or(&[], |matrix| &parameters[matrix.range()]),
            self.width(),
            &mut self.values.embeddings,
        );
    }

    /// Which keys each query may look at.
    fn allow(&mut self, chunk: Chunk<'_>) {
        let positions = self.architecture.positions;
        if self.values.may.is_empty() {
            return;
        }
        for key in 0..positions {
            let mut seen = [1.0; LANES];
            if let Some(padding) = self.architecture.padding_token {
                for lane in 0..LANES {
                    seen[lane] = if chunk.token(lane, key) == padding {
                        0.0
                    } else {
                        1.0
                    };
                }
            }
            for query in 0..positions {
                let at = query * positions + key;
                let open = self.architecture.mask.as_ref().is_none_or(|mask| mask[at]);
                self.values.may[at] = if open { seen } else { ZERO };
            }
        }
    }

    /// Attention of all positions: context.
    fn attend(&mut self, layer: usize) {
        let Sizes {
            p, width, d_head, ..
        } = self.sizes();
        let (place, parameters, set) = self.of_block(layer);
        let values = (&mut self.values.blocks, &self.values.embeddings);
        let (block, input) = block_mut_and_input(values.0, values.1, layer);
        match place.projections {
            Some(projections) => {
                let shared = self.architecture.projections == Projections::Shared;
                let outputs = [&mut block.query, &mut block.key, &mut block.value];
                for (index, (linear, output)) in projections.into_iter().zip(outputs).enumerate() {
                    if !(shared && index > 0) {
                        apply(set, parameters, linear, p, input, width, output);
                    }
                }
                if shared {
                    block.key.copy_from_slice(&block.query);
                    block.value.copy_from_slice(&block.query);
                }
            }
            None => {
                for output in [&mut block.query, &mut block.key, &mut block.value] {
                    output.copy_from_slice(input);
                }
            }
        }
        for (array, vectors) in [
            (Array::Query, &mut block.query),
            (Array::Key, &mut block.key),
            (Array::Value, &mut block.value),
        ] {
            reach(&mut self.probe, Site::Vectors(array, layer), vectors);
        }
        for head in 0..self.architecture.n_heads {
            let column = head * d_head;
            let weights = &mut block.weights[head * p * p..][..p * p];
            multiply(
                set,
                [p, d_head, p],
                Grid::Of(&block.query[column..], width),
                Grid::Transposed(&block.key[column..], width),
                self.architecture.scale(),
                weights,
                p,
            );
            let site = Site::Pairs(Array::Scores, layer, head);
            reach(&mut self.probe, site, weights);
            softmax::forward(set, weights, p, &self.values.may);
            let site = Site::Pairs(Array::Weights, layer, head);
            reach(&mut self.probe, site, weights);
            multiply(
                set,
                [p, p, d_head],
                Grid::Of(weights, p),
                Grid::Of(&block.value[column..], width),
                1.0,
                &mut block.context[column..],
                width,
            );
        }
        let site = Site::Vectors(Array::Context, layer);
        reach(&mut self.probe, site, &mut block.context);
    }

    /// Attention of `[CLS]` alone: its context. Keys and values are not computed.
    fn attend_from_cls(&mut self, layer: usize) {
        let Sizes {
            p, width, d_head, ..
        } = self.sizes();
        let d = self.architecture.d_model;
        let cls = self.architecture.cls_position;
        let (place, parameters, set) = self.of_block(layer);
        let values = (&mut self.values.blocks, &self.values.embeddings);
        let (block, input) = block_mut_and_input(values.0, values.1, layer);
        let own = &input[cls * width..][..width];
        let scale = self.architecture.scale();
        match place.projections {
            Some([query, ..]) => apply(set, parameters, query, 1, own, width, &mut block.query),
            None => block.query[..width].copy_from_slice(own),
        }
        for head in 0..self.architecture.n_heads {
            let columns = head * d_head..(head + 1) * d_head;
            let u = &mut self.values.u[head * width..][..width];
            u.fill(ZERO);
            match place.projections {
                Some([_, key, _]) => {
                    let weights = weights_of(parameters, key);
                    project_back(set, 1, weights, columns, &block.query[..width], width, u);
                }
                None => u[columns.clone()].copy_from_slice(&block.query[columns]),
            }
            for value in u {
                for l in 0..LANES {
                    value[l] *= scale;
                }
            }
        }
        let heads = self.architecture.n_heads;
        let weights = &mut block.weights[..heads * p];
        multiply(
            set,
            [heads, d, p],
            Grid::Of(&self.values.u, width),
            Grid::Transposed(input, width),
            1.0,
            weights,
            p,
        );
        let may = &self.values.may;
        let may = if may.is_empty() {
            &[][..]
        } else {
            &may[cls * p..][..p]
        };
        softmax::forward(set, weights, p, may);
        multiply(
            set,
            [heads, p, d],
            Grid::Of(weights, p),
            Grid::Of(input, width),
            1.0,
            &mut self.values.pooled,
            width,
        );
        // The weights sum to 1, so the bias is added once; or to 0, if `[CLS]` may look at no key.
        let sees = sees(may);
        for head in 0..heads {
            let columns = head * d_head..(head + 1) * d_head;
            let pooled = &self.values.pooled[head * width..][..width];
            match place.projections {
                Some([_, _, value]) => {
                    let bias = &parameters[value.bias.range()];
                    let weights = weights_of(parameters, value);
                    for o in columns.clone() {
                        block.context[o] = sees.map(|sees| sees * bias[o]);
                    }
                    project(set, 1, weights, columns, pooled, width, &mut block.context);
                }
                None => block.context[columns.clone()].copy_from_slice(&pooled[columns]),
            }
        }
    }

    /// From the context to the block's output, for all positions or for `[CLS]` alone.
    fn finish_block(&mut self, layer: usize, rows: usize) {
        let (width, d) = (self.width(), self.architecture.d_model);
        let (place, parameters, set) = self.of_block(layer);
        let eps = self.architecture.layer_norm_eps;
        let first = if rows == 1 {
            self.architecture.cls_position
        } else {
            0
        };
        let values = (&mut self.values.blocks, &self.values.embeddings);
        let (block, input) = block_mut_and_input(values.0, values.1, layer);
        let input = &input[first * width..][..rows * width];

        let bias = &parameters[place.output.bias.range()];
        let weights = weights_of(parameters, place.output);
        let residual = &mut block.attended.normalized;
        shift(set, input, bias, &mut residual[..rows * width], width);
        project(
            set,
            rows,
            weights,
            0..width,
            &block.context,
            width,
            residual,
        );
        let site = Site::Vectors(Array::Residual, layer);
        reach(&mut self.probe, site, residual);
        let [gamma, beta] =
            [place.norm.gamma, place.norm.beta].map(|place| &parameters[place.range()]);
        norm::forward(set, &mut block.attended, rows, width, gamma, beta, d, eps);

        let Some(place) = place.feed_forward else {
            return;
        };
        let ff_width = padded(self.architecture.d_ff);
        let input = &block.attended.output[..rows * width];
        apply(
            set,
            parameters,
            place.hidden,
            rows,
            input,
            width,
            &mut block.hidden,
        );
        rectify(set, &mut block.hidden[..rows * ff_width]);
        let site = Site::Vectors(Array::FeedForwardHidden, layer);
        reach(&mut self.probe, site, &mut block.hidden);
        let bias = &parameters[place.output.bias.range()];
        let weights = weights_of(parameters, place.output);
        let residual = &mut block.fed.normalized;
        shift(set, input, bias, &mut residual[..rows * width], width);
        project(
            set,
            rows,
            weights,
            0..width,
            &block.hidden,
            ff_width,
            residual,
        );
        let site = Site::Vectors(Array::FeedForwardResidual, layer);
        reach(&mut self.probe, site, residual);
        let [gamma, beta] =
            [place.norm.gamma, place.norm.beta].map(|place| &parameters[place.range()]);
        norm::forward(set, &mut block.fed, rows, width, gamma, beta, d, eps);
    }

    /// Logits, probabilities and losses.
    fn classify(&mut self, chunk: Chunk<'_>, row: usize) {
        let (width, d) = (self.width(), self.architecture.d_model);
        let count = self.architecture.n_logits();
        let weight = &self.parameters[self.places.classifier.weight.range()];
        let bias = &self.parameters[self.places.classifier.bias.range()];
        let values = &mut *self.values;
        let Some(block) = values.blocks.last() else {
            return;
        };
        let output = &block.output()[row * width..][..d];
        classifier::forward(self.instructions, output, weight, bias, &mut values.logits);
        if count == 1 {
            let labels = chunk.labels().map(f32::from);
            let logit = values.logits[0];
            for l in 0..LANES {
                let z = logit[l];
                let e = exp_of_negative(-z.abs());
                let part = 1.0 / (1.0 + e);
                values.probabilities[0][l] = if z < 0.0 { e * part } else { part };
                let positive = if z > 0.0 { z } else { 0.0 };
                let loss = positive - z * labels[l] + log_1p(e);
                values.losses[l] = loss;
            }
        } else {
            let mut most = values.logits[0];
            for logit in &values.logits {
                for l in 0..LANES {
                    most[l] = if logit[l] > most[l] {
                        logit[l]
                    } else {
                        most[l]
                    };
                }
            }
            let mut sum = ZERO;
            for (logit, probability) in values.logits.iter().zip(&mut values.probabilities) {
                for l in 0..LANES {
                    probability[l] = exp_of_negative(logit[l] - most[l]);
                    sum[l] += probability[l];
                }
            }
            for probability in &mut values.probabilities {
                for l in 0..LANES {
                    probability[l] /= sum[l];
                }
            }
            let labels = chunk.labels();
            for l in 0..LANES {
                values.losses[l] = most[l] - values.logits[usize::from(labels[l])][l] + log(sum[l]);
            }
        }
    }
}

/// `output = input W + b`.
fn apply(
    set: Instructions,
    parameters: &[f32],
    linear: Linear,
    rows: usize,
    input: &[Lanes],
    width: usize,
    output: &mut [Lanes],
) {
    let bias = &parameters[linear.bias.range()];
    let weights = weights_of(parameters, linear);
    for row in output.chunks_exact_mut(weights.stride).take(rows) {
        for (output, bias) in row.iter_mut().zip(bias) {
            *output = [*bias; LANES];
        }
    }
    project(set, rows, weights, 0..weights.stride, input, width, output);
}
