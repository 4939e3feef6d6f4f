//! The backward pass for eight samples, in the reverse order of the forward pass.
//!
//! `dy` stands for the gradient of the loss by `y`. A projection `y = x W + b` gives `dx = dy W^T`, and, summed over
//! positions and samples, `dW = Σ x ⊗ dy` and `db = Σ dy`. `norm` has its own derivative in `norm.rs`, the softmax in
//! `softmax.rs`. For each head:
//!
//! ```text
//! all rows:         dv_j = Σ_i a_ij dc_i,  da_ij = dc_i · v_j,  ds_ij = a_ij (da_ij - Σ_k a_ik da_ik)
//!                   dq_i = s Σ_j ds_ij k_j,  dk_j = s Σ_i ds_ij q_i
//! row of [CLS], i:  dp = W_v dc_i,  da_j = dp · x_j,  ds_j as above,  du = Σ_j ds_j x_j
//!                   dq_i = s W_k^T du,  dx_j = a_j dp + ds_j u,  dW_v = p ⊗ dc_i,  dW_k = s du ⊗ q_i,  db_k = 0
//! ```

use super::elements::{add, through_rectifier};
use super::pass::{Pass, Sizes, sees, weights_of};
use super::places::{Matrix, Norm, padded};
use super::products::{Grid, multiply, project, project_back};
use super::values::block_and_input;
use super::{Chunk, classifier, embedding, norm, softmax};
use crate::adam::Sums;
use crate::architecture::Projections;
use crate::lanes::{LANES, ZERO, zero_below};

impl Pass<'_> {
    /// Starts from the chunk's losses, each times `share`: leaves their gradients by the logits in `d_logits`.
    pub(super) fn start_from_losses(&mut self, chunk: Chunk<'_>, share: f32) {
        let values = &mut *self.values;
        let labels = chunk.labels();
        let one_logit = values.d_logits.len() == 1;
        for (k, d_logit) in values.d_logits.iter_mut().enumerate() {
            *d_logit = ZERO;
            for l in 0..chunk.chosen.len() {
                let target = if one_logit {
                    f32::from(labels[l])
                } else {
                    f32::from(u8::from(usize::from(labels[l]) == k))
                };
                d_logit[l] = zero_below(1e-18, (values.probabilities[k][l] - target) * share);
            }
        }
    }

    /// Adds the gradient of all parameters, from that of the logits in `d_logits`; leaves that of the first block's
    /// input in `d_stream`. The forward pass of the same chunk must have run before, and not `whole`.
    pub(super) fn backward(&mut self, chunk: Chunk<'_>, sums: &mut Sums<'_>) {
        self.through_classifier(sums);
        let last = self.architecture.n_layers - 1;
        for layer in (0..self.architecture.n_layers).rev() {
            if layer == last {
                self.through_finish(layer, 1, sums);
                self.through_cls_attention(layer);
                self.through_cls_query(layer);
                self.add_cls_projections(layer, sums);
            } else {
                self.through_finish(layer, self.architecture.positions, sums);
                self.through_attention(layer);
                self.through_projections(layer, sums);
            }
        }
        self.through_embeddings(chunk, sums);
    }

    fn through_classifier(&mut self, sums: &mut Sums<'_>) {
        let (width, d) = (self.width(), self.architecture.d_model);
        let place = self.places.classifier;
        let values = &mut *self.values;
        let Some(block) = values.blocks.last() else {
            return;
        };
        let start = place.weight.range().start;
        let (d_weight, d_bias) = sums.gradient[start..].split_at_mut(place.weight.range().len());
        classifier::backward(
            self.instructions,
            &block.output()[..d],
            &self.parameters[place.weight.range()],
            &values.d_logits,
            &mut values.d_stream[..width],
            d_weight,
            d_bias,
        );
    }

    /// From the gradient of a block's output in `d_stream` to those of its context and, in `d_residual`, of the
    /// residual.
    fn through_finish(&mut self, layer: usize, rows: usize, sums: &mut Sums<'_>) {
        let (width, d) = (self.width(), self.architecture.d_model);
        let ff_width = padded(self.architecture.d_ff);
        let (place, parameters, set) = self.of_block(layer);
        let values = &mut *self.values;
        let block = &values.blocks[layer];
        let gradient = &mut values.d_stream[..rows * width];
        if let Some(place) = place.feed_forward {
            let gamma = &parameters[place.norm.gamma.range()];
            let (d_gamma, d_beta) = pair(sums.gradient, place.norm);
            norm::backward(
                set, &block.fed, rows, width, gamma, d, gradient, d_gamma, d_beta,
            );
            // Now of the residual: through W_2, the rectifier and W_1, and past them.
            let hidden = &block.hidden[..rows * ff_width];
            let d_hidden = &mut values.d_hidden[..rows * ff_width];
            let weights = weights_of(parameters, place.output);
            d_hidden.fill(ZERO);
            project_back(set, rows, weights, 0..d, gradient, ff_width, d_hidden);
            through_rectifier(set, hidden, d_hidden);
            let transposed = &mut values.transposed;
            transposed.input(set, hidden, ff_width);
            transposed.add_linear(set, gradient, width, place.output, sums);
            transposed.input(set, &block.attended.output[..rows * width], width);
            transposed.add_linear(set, d_hidden, ff_width, place.hidden, sums);
            let weights = weights_of(parameters, place.hidden);
            project_back(
                set,
                rows,
                weights,
                0..self.architecture.d_ff,
                d_hidden,
                width,
                gradient,
            );
        }
        let gamma = &parameters[place.norm.gamma.range()];
        let (d_gamma, d_beta) = pair(sums.gradient, place.norm);
        norm::backward(
            set,
            &block.attended,
            rows,
            width,
            gamma,
            d,
            gradient,
            d_gamma,
            d_beta,
        );
        let weights = weights_of(parameters, place.output);
        let d_context = &mut values.d_context[..rows * width];
        d_context.fill(ZERO);
        project_back(set, rows, weights, 0..d, gradient, width, d_context);
        let transposed = &mut values.transposed;
        transposed.input(set, &block.context[..rows * width], width);
        transposed.add_linear(set, gradient, width, place.output, sums);
        values.d_residual[..rows * width].copy_from_slice(gradient);
    }

    /// From the gradient of the context to those of queries, keys and values.
    fn through_attention(&mut self, layer: usize) {
        let Sizes {
            p, width, d_head, ..
        } = self.sizes();
        let (scale, set) = (self.architecture.scale(), self.instructions);
        let values = &mut *self.values;
        let block = &values.blocks[layer];
        for head in 0..self.architecture.n_heads {
            let column = head * d_head;
            let weights = &block.weights[head * p * p..][..p * p];
            let d_scores = &mut values.d_scores[..p * p];
            // dv = A^T dc
            multiply(
                set,
                [p, p, d_head],
                Grid::Transposed(weights, p),
                Grid::Of(&values.d_context[column..], width),
                1.0,
                &mut values.d_value[column..],
                width,
            );
            // dA = dc V^T
            multiply(
                set,
                [p, d_head, p],
                Grid::Of(&values.d_context[column..], width),
                Grid::Transposed(&block.value[column..], width),
                1.0,
                d_scores,
                p,
            );
            softmax::backward(set, weights, d_scores, p);
            // dq = scale dS K, dk = scale dS^T Q
            multiply(
                set,
                [p, p, d_head],
                Grid::Of(d_scores, p),
                Grid::Of(&block.key[column..], width),
                scale,
                &mut values.d_query[column..],
                width,
            );
            multiply(
                set,
                [p, p, d_head],
                Grid::Transposed(d_scores, p),
                Grid::Of(&block.query[column..], width),
                scale,
                &mut values.d_key[column..],
                width,
            );
        }
    }

    /// From the gradients of queries, keys, values and residual to that of the block's input, in `d_stream`.
    fn through_projections(&mut self, layer: usize, sums: &mut Sums<'_>) {
        let Sizes { p, width, d, .. } = self.sizes();
        let (place, parameters, set) = self.of_block(layer);
        let values = &mut *self.values;
        let stream = &mut values.d_stream[..p * width];
        stream.copy_from_slice(&values.d_residual[..p * width]);
        let [query, key, value] = [&mut values.d_query, &mut values.d_key, &mut values.d_value];
        let own = self.architecture.projections == Projections::Separate;
        if !own {
            add(set, query, key);
            add(set, query, value);
        }
        let Some(linears) = place.projections else {
            add(set, stream, query);
            return;
        };
        let (_, input) = block_and_input(&values.blocks, &values.embeddings, layer);
        let transposed = &mut values.transposed;
        transposed.input(set, input, width);
        let gradients = linears.into_iter().zip([query, key, value]);
        for (linear, gradient) in gradients.take(if own { 3 } else { 1 }) {
            transposed.add_linear(set, gradient, width, linear, sums);
            let weights = weights_of(parameters, linear);
            project_back(set, p, weights, 0..d, gradient, width, stream);
        }
    }

    /// From the gradient of `[CLS]`'s context to that of its scores, and what they add to the gradient of the block's
    /// input, in `d_stream`.
    fn through_cls_attention(&mut self, layer: usize) {
        let Sizes {
            p,
            width,
            d_head,
            d,
            heads,
        } = self.sizes();
        let (place, parameters, set) = self.of_block(layer);
        let values = &mut *self.values;
        let (block, input) = block_and_input(&values.blocks, &values.embeddings, layer);

        // dp_h = W_v dc_h
        for head in 0..heads {
            let columns = head * d_head..(head + 1) * d_head;
            let d_pooled = &mut values.d_pooled[head * width..][..width];
            d_pooled.fill(ZERO);
            match place.projections {
                Some([_, _, value]) => {
                    let weights = weights_of(parameters, value);
                    project_back(
                        set,
                        1,
                        weights,
                        columns,
                        &values.d_context[..width],
                        width,
                        d_pooled,
                    );
                }
                None => d_pooled[columns.clone()].copy_from_slice(&values.d_context[columns]),
            }
        }
        // da_j = dp · x_j, ds = a (da - Σ a da), du = Σ_j ds_j x_j
        let d_scores = &mut values.d_scores[..heads * p];
        multiply(
            set,
            [heads, d, p],
            Grid::Of(&values.d_pooled, width),
            Grid::Transposed(input, width),
            1.0,
            d_scores,
            p,
        );
        softmax::backward(set, &block.weights[..heads * p], d_scores, p);
        multiply(
            set,
            [heads, p, d],
            Grid::Of(d_scores, p),
            Grid::Of(input, width),
            1.0,
            &mut values.d_u,
            width,
        );
        // dx_j = Σ_h a_j dp + ds_j u
        let stream = &mut values.d_stream[..p * width];
        let from_scores = &mut values.d_key;
        for (weights, vectors, output) in [
            (&block.weights[..heads * p], &values.d_pooled, &mut *stream),
            (&*d_scores, &values.u, from_scores),
        ] {
            multiply(
                set,
                [p, heads, d],
                Grid::Transposed(weights, p),
                Grid::Of(vectors, width),
                1.0,
                output,
                width,
            );
        }
        add(set, stream, from_scores);
    }

    /// The gradient of `[CLS]`'s query, and what it and the residual add to the gradient of its input.
    fn through_cls_query(&mut self, layer: usize) {
        let Sizes {
            width,
            d_head,
            d,
            heads,
            ..
        } = self.sizes();
        let (cls, scale) = (self.architecture.cls_position, self.architecture.scale());
        let (place, parameters, set) = self.of_block(layer);
        let values = &mut *self.values;
        // dq_h = scale W_k^T du_h, over the head's columns
        for head in 0..heads {
            let columns = head * d_head..(head + 1) * d_head;
            let d_u = &values.d_u[head * width..][..width];
            match place.projections {
                Some([_, key, _]) => {
                    let weights = weights_of(parameters, key);
                    let output = &mut values.d_query;
                    output[columns.clone()].fill(ZERO);
                    project(set, 1, weights, columns.clone(), d_u, width, output);
                }
                None => values.d_query[columns.clone()].copy_from_slice(&d_u[columns.clone()]),
            }
            for value in &mut values.d_query[columns] {
                for l in 0..LANES {
                    value[l] *= scale;
                }
            }
        }
        let own = &mut values.d_stream[cls * width..][..width];
        add(set, own, &values.d_residual[..width]);
        let d_query = &values.d_query[..width];
        match place.projections {
            Some([query, ..]) => {
                let weights = weights_of(parameters, query);
                project_back(set, 1, weights, 0..d, d_query, width, own);
            }
            None => add(set, own, d_query),
        }
    }

    /// Adds the gradients of the projections where only `[CLS]` has a query.
    fn add_cls_projections(&mut self, layer: usize, sums: &mut Sums<'_>) {
        let Some([query, key, value]) = self.places.blocks[layer].projections else {
            return;
        };
        let Sizes {
            p,
            width,
            d_head,
            d,
            heads,
        } = self.sizes();
        let (cls, scale) = (self.architecture.cls_position, self.architecture.scale());
        let set = self.instructions;
        let values = &mut *self.values;
        let (block, input) = block_and_input(&values.blocks, &values.embeddings, layer);
        // dW_q = x ⊗ dq; of each head: dW_v = p ⊗ dc, dW_k = scale du ⊗ q
        let transposed = &mut values.transposed;
        transposed.input(set, &input[cls * width..][..width], width);
        transposed.add_linear(set, &values.d_query[..width], width, query, sums);
        let may = if values.may.is_empty() {
            &[][..]
        } else {
            &values.may[cls * p..][..p]
        };
        let sees = sees(may);
        for i in 0..d {
            for l in 0..LANES {
                sums.gradient[value.bias.range().start + i] += sees[l] * values.d_context[i][l];
            }
        }
        for head in 0..heads {
            let columns = head * d_head..(head + 1) * d_head;
            for (left, right, factor, linear) in [
                (&values.pooled, &values.d_context[..width], 1.0, value),
                (&values.d_u, &block.query[..width], scale, key),
            ] {
                transposed.input(set, &left[head * width..][..width], width);
                transposed.gradient(set, right, width);
                transposed.keep_columns(columns.clone());
                transposed.add_products(set, columns.clone(), factor, sums.of(linear.weight));
            }
        }
    }

    fn through_embeddings(&mut self, chunk: Chunk<'_>, sums: &mut Sums<'_>) {
        let (p, width) = (self.architecture.positions, self.width());
        let tokens = self.places.tokens.range();
        let (d_tokens, others) = sums.gradient.split_at_mut(tokens.end);
        // The position embedding follows the token embedding.
        let d_positions = match self.places.positions {
            Some(_) => &mut others[..p * width],
            None => &mut [],
        };
        embedding::backward(
            self.instructions,
            chunk,
            &self.values.d_stream[..p * width],
            width,
            d_tokens,
            d_positions,
            sums.squares.as_deref_mut().unwrap_or_default(),
        );
    }
}

impl Sums<'_> {
    pub(super) fn of(&mut self, matrix: Matrix) -> &mut [f32] {
        &mut self.gradient[matrix.range()]
    }
}

/// Both rows of a norm.
fn pair(gradient: &mut [f32], norm: Norm) -> (&mut [f32], &mut [f32]) {
    let gamma = norm.gamma.range();
    let size = gamma.len();
    gradient[gamma.start..norm.beta.range().end].split_at_mut(size)
}
