//! Attention of the last block where the classifier reads one position `i`: only its row is computed, and neither keys nor
//! values. For each head:
//!
//! ```text
//! u   = s W_k q_i                         so that x_j · u = s q_i · (x_j W_k); b_k adds the same to all scores
//! a   = softmax_j(x_j · u)
//! p   = Σ_j a_j x_j,  c_i = p W_v + b_v   the weights sum to 1; to 0 without a key, and then c_i is 0
//! ```
//!
//! Backward:
//!
//! ```text
//! dp = W_v dc_i,  da_j = dp · x_j,  dz_j = a_j (da_j - Σ_k a_k da_k),  du = Σ_j dz_j x_j
//! dq_i = s W_k^T du,  dx_j = a_j dp + dz_j u,  dW_v = p ⊗ dc_i,  dW_k = s du ⊗ q_i,  db_k = 0
//! ```

use super::elements::add;
use super::pass::{Pass, Sizes, apply, sees, weights_of};
use super::products::{Grid, Target, multiply, project, project_back};
use super::softmax;
use super::values::{block_and_input, block_mut_and_input};
use crate::adam::Sums;
use crate::lanes::zip;
use headlight_architecture::NormPlace;

impl<const L: usize> Pass<'_, L> {
    /// The context of the row that the classifier reads.
    pub(super) fn attend_from_read_row(&mut self, layer: usize) {
        let Sizes {
            p,
            width,
            d_head,
            d,
            inner,
            ..
        } = self.sizes();
        let read = self.architecture.inputs.read_position;
        let (place, parameters, set) = self.of_block(layer);
        let values = (&mut self.values.blocks, &self.values.embeddings);
        let (block, input) = block_mut_and_input(values.0, values.1, layer);
        let input = block.attended.source(input);
        let own = &input[read * width..][..width];
        let scale = self.architecture.scale();
        match place.projections {
            Some([query, ..]) => apply(set, parameters, query, 1, own, width, &mut block.query),
            None => block.query[..inner].copy_from_slice(own),
        }
        for head in 0..self.architecture.model.n_heads {
            let columns = head * d_head..(head + 1) * d_head;
            let u = &mut self.values.u[head * width..][..width];
            u.fill([0.0; L]);
            match place.projections {
                Some([_, key, _]) => {
                    let weights = weights_of(parameters, key);
                    project_back(set, 1, weights, columns, &block.query[..inner], width, u);
                }
                None => u[columns.clone()].copy_from_slice(&block.query[columns]),
            }
            for value in u {
                for l in 0..L {
                    value[l] *= scale;
                }
            }
        }
        let heads = self.architecture.model.n_heads;
        let weights = &mut block.weights[..heads * p];
        multiply(
            set,
            [heads, d, p],
            Grid::Of(&self.values.u, width),
            Grid::Transposed(input, width),
            Target::of(weights, p),
        );
        let may = &self.values.may;
        let may = if may.is_empty() {
            &[][..]
        } else {
            &may[read * p..][..p]
        };
        softmax::forward(set, weights, p, may);
        multiply(
            set,
            [heads, p, d],
            Grid::Of(weights, p),
            Grid::Of(input, width),
            Target::of(&mut self.values.pooled, width),
        );
        // The weights sum to 1, so the bias is added once; or to 0, if the row may look at no key.
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

    /// From the gradient of the row's context to that of the block's input, in `d_stream`.
    pub(super) fn through_read_row(&mut self, layer: usize, sums: &mut Sums<'_>) {
        self.through_read_scores(layer);
        self.through_read_query(layer);
        self.add_read_projections(layer, sums);
        let read = self.architecture.inputs.read_position;
        self.through_first_norm(layer, &(read..read + 1), sums);
    }

    /// From the gradient of the context to that of the scores, and what they add to the gradient of the input.
    fn through_read_scores(&mut self, layer: usize) {
        let Sizes {
            p,
            width,
            d_head,
            d,
            heads,
            inner,
        } = self.sizes();
        let (place, parameters, set) = self.of_block(layer);
        let values = &mut *self.values;
        let (block, input) = block_and_input(&values.blocks, &values.embeddings, layer);
        let input = block.attended.source(input);

        // dp_h = W_v dc_h
        for head in 0..heads {
            let columns = head * d_head..(head + 1) * d_head;
            let d_pooled = &mut values.d_pooled[head * width..][..width];
            d_pooled.fill([0.0; L]);
            match place.projections {
                Some([_, _, value]) => {
                    let weights = weights_of(parameters, value);
                    project_back(
                        set,
                        1,
                        weights,
                        columns,
                        &values.d_context[..inner],
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
            Target::of(d_scores, p),
        );
        softmax::backward(set, &block.weights[..heads * p], d_scores, p);
        if self.holds_weights {
            d_scores.fill([0.0; L]);
        }
        multiply(
            set,
            [heads, p, d],
            Grid::Of(d_scores, p),
            Grid::Of(input, width),
            Target::of(&mut values.d_u, width),
        );
        // dx_j = Σ_h a_j dp + ds_j u
        let stream = &mut values.d_stream[..p * width];
        let from_scores = &mut values.d_key[..p * width];
        // In other blocks the rows of this space have the width of the heads: what pads them must stay 0, here and there.
        let has_own_width = self.architecture.heads_width() != d;
        if has_own_width {
            from_scores.fill([0.0; L]);
        }
        for (weights, vectors, output) in [
            (&block.weights[..heads * p], &values.d_pooled, &mut *stream),
            (&*d_scores, &values.u, from_scores),
        ] {
            multiply(
                set,
                [p, heads, d],
                Grid::Transposed(weights, p),
                Grid::Of(vectors, width),
                Target::of(output, width),
            );
        }
        add(set, stream, from_scores);
        if has_own_width {
            from_scores.fill([0.0; L]);
        }
    }

    /// The gradient of the query, and what it and the residual add to the gradient of the row's input.
    fn through_read_query(&mut self, layer: usize) {
        let Sizes {
            width,
            d_head,
            heads,
            inner,
            ..
        } = self.sizes();
        let (read, scale) = (
            self.architecture.inputs.read_position,
            self.architecture.scale(),
        );
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
                    output[columns.clone()].fill([0.0; L]);
                    project(set, 1, weights, columns.clone(), d_u, width, output);
                }
                None => values.d_query[columns.clone()].copy_from_slice(&d_u[columns.clone()]),
            }
            for value in &mut values.d_query[columns] {
                for l in 0..L {
                    value[l] *= scale;
                }
            }
        }
        let own = &mut values.d_stream[read * width..][..width];
        if self.architecture.model.norm != NormPlace::Pre {
            add(set, own, &values.d_residual[..width]);
        }
        let d_query = &values.d_query[..inner];
        match place.projections {
            Some([query, ..]) => {
                let weights = weights_of(parameters, query);
                let columns = 0..self.architecture.heads_width();
                project_back(set, 1, weights, columns, d_query, width, own);
            }
            None => add(set, own, d_query),
        }
    }

    /// Adds the gradients of the projections.
    fn add_read_projections(&mut self, layer: usize, sums: &mut Sums<'_>) {
        let Some([query, key, value]) = self.places.blocks[layer].projections else {
            return;
        };
        let Sizes {
            p,
            width,
            d_head,
            heads,
            inner,
            ..
        } = self.sizes();
        let (read, scale) = (
            self.architecture.inputs.read_position,
            self.architecture.scale(),
        );
        let set = self.instructions;
        let values = &mut *self.values;
        let (block, input) = block_and_input(&values.blocks, &values.embeddings, layer);
        let input = block.attended.source(input);
        // dW_q = x ⊗ dq; of each head: dW_v = p ⊗ dc, dW_k = scale du ⊗ q
        let additions = &mut *self.additions;
        additions.input(set, &input[read * width..][..width], width);
        additions.linear(set, &values.d_query[..inner], inner, query, sums);
        let may = if values.may.is_empty() {
            &[][..]
        } else {
            &values.may[read * p..][..p]
        };
        let sees = sees(may);
        // Each row adds to the bias what it sees.
        let seen = &mut values.d_value[..inner];
        for (seen, gradient) in seen.iter_mut().zip(&values.d_context[..inner]) {
            *seen = zip(*gradient, sees, |gradient, sees| sees * gradient);
        }
        additions.bias(set, seen, inner, value, sums);
        for head in 0..heads {
            let columns = head * d_head..(head + 1) * d_head;
            for (left, right, factor, linear) in [
                (&values.pooled, &values.d_context[..inner], 1.0, value),
                (&values.d_u, &block.query[..inner], scale, key),
            ] {
                additions.input(set, &left[head * width..][..width], width);
                additions.head(
                    set,
                    (right, inner),
                    columns.clone(),
                    factor,
                    linear.weight,
                    sums,
                );
            }
        }
    }
}
