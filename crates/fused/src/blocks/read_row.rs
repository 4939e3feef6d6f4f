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

use headlight_architecture::NormPlace;

use super::elements::add;
use super::pass::Pass;
use super::softmax;
use super::values::block_and_input;
use crate::lanes::{Lanes, zip};
use crate::products::{Grid, Target, multiply};

impl<const L: usize> Pass<'_, L> {
    /// The context of the row that the classifier reads.
    pub(super) fn attend_from_read_row(&mut self, layer: usize) {
        let (k, read) = (self.kernel, self.architecture.inputs.read_position);
        let projections = self.places.blocks[layer].projections;
        let values = &mut *self.values;
        let (block, input) = block_and_input(&mut values.blocks, &values.embeddings, layer);
        let input = block.attended.source(input);
        let own = &input[read * k.width..][..k.width];
        match projections {
            Some([query, ..]) => k.apply(query, own, &mut block.query),
            None => block.query[..k.inner].copy_from_slice(own),
        }
        for head in 0..k.heads {
            let columns = head * k.d_head..(head + 1) * k.d_head;
            let u = &mut values.u[head * k.width..][..k.width];
            let query = &block.query[columns.clone()];
            if let Some([_, key, _]) = projections {
                let weights = &k.numbers(key.weight)[columns.start..];
                multiply(
                    k.set,
                    [1, k.d_head, k.width],
                    Grid::Of(query, k.inner),
                    Grid::NumbersTransposed(weights, k.inner),
                    Target::of(u, k.width).times(k.scale),
                );
            } else {
                u.fill([0.0; L]);
                u[columns].copy_from_slice(query);
                for value in u.as_flattened_mut() {
                    *value *= k.scale;
                }
            }
        }
        let weights = &mut block.weights[..k.heads * k.p];
        multiply(
            k.set,
            [k.heads, k.d, k.p],
            Grid::Of(&values.u, k.width),
            Grid::Transposed(input, k.width),
            Target::of(weights, k.p),
        );
        let may = row_of(&values.may, read, k.p);
        softmax::forward(k.set, weights, k.p, may);
        multiply(
            k.set,
            [k.heads, k.p, k.d],
            Grid::Of(weights, k.p),
            Grid::Of(input, k.width),
            Target::of(&mut values.pooled, k.width),
        );
        // The weights sum to 1, so the bias is added once; or to 0, if the row may look at no key.
        let sees = sees(may);
        for head in 0..k.heads {
            let columns = head * k.d_head..(head + 1) * k.d_head;
            let pooled = &values.pooled[head * k.width..][..k.width];
            let Some([_, _, value]) = projections else {
                block.context[columns.clone()].copy_from_slice(&pooled[columns]);
                continue;
            };
            let bias = k.numbers(value.bias);
            for o in columns.clone() {
                block.context[o] = sees.map(|sees| sees * bias[o]);
            }
            let weights = &k.numbers(value.weight)[columns.start..];
            multiply(
                k.set,
                [1, k.d, k.d_head],
                Grid::Of(pooled, k.width),
                Grid::Numbers(weights, k.inner),
                Target::of(&mut block.context[columns], k.inner).on_top(true),
            );
        }
    }

    /// From the gradient of the row's context to that of the block's input, in `d_stream`.
    pub(super) fn through_read_row(&mut self, layer: usize) {
        self.through_read_scores(layer);
        self.through_read_query(layer);
        self.add_read_projections(layer);
        let read = self.architecture.inputs.read_position;
        self.through_first_norm(layer, &(read..read + 1));
    }

    /// From the gradient of the context to that of the scores, and what they add to the gradient of the input.
    fn through_read_scores(&mut self, layer: usize) {
        let (k, projections) = (self.kernel, self.places.blocks[layer].projections);
        let values = &mut *self.values;
        let (block, input) = block_and_input(&mut values.blocks, &values.embeddings, layer);
        let input = block.attended.source(input);

        // dp_h = W_v dc_h
        for head in 0..k.heads {
            let columns = head * k.d_head..(head + 1) * k.d_head;
            let d_pooled = &mut values.d_pooled[head * k.width..][..k.width];
            let d_context = &values.d_context[columns.clone()];
            if let Some([_, _, value]) = projections {
                let weights = &k.numbers(value.weight)[columns.start..];
                multiply(
                    k.set,
                    [1, k.d_head, k.width],
                    Grid::Of(d_context, k.inner),
                    Grid::NumbersTransposed(weights, k.inner),
                    Target::of(d_pooled, k.width),
                );
            } else {
                d_pooled.fill([0.0; L]);
                d_pooled[columns].copy_from_slice(d_context);
            }
        }
        // da_j = dp · x_j, ds = a (da - Σ a da), du = Σ_j ds_j x_j
        let weights = &block.weights[..k.heads * k.p];
        let d_scores = &mut values.d_scores[..k.heads * k.p];
        multiply(
            k.set,
            [k.heads, k.d, k.p],
            Grid::Of(&values.d_pooled, k.width),
            Grid::Transposed(input, k.width),
            Target::of(d_scores, k.p),
        );
        softmax::backward(k.set, weights, d_scores, k.p);
        if self.holds_weights {
            d_scores.fill([0.0; L]);
        }
        multiply(
            k.set,
            [k.heads, k.p, k.d],
            Grid::Of(d_scores, k.p),
            Grid::Of(input, k.width),
            Target::of(&mut values.d_u, k.width),
        );
        // dx_j = Σ_h a_j dp + ds_j u
        let stream = &mut values.d_stream[..k.p * k.width];
        let from_scores = &mut values.d_key[..k.p * k.width];
        // In other blocks the rows of this space have the width of the heads: what pads them must stay 0, here and there.
        let has_own_width = self.architecture.heads_width() != k.d;
        if has_own_width {
            from_scores.fill([0.0; L]);
        }
        for (weights, vectors, output) in [
            (weights, &values.d_pooled, &mut *stream),
            (&*d_scores, &values.u, from_scores),
        ] {
            multiply(
                k.set,
                [k.p, k.heads, k.d],
                Grid::Transposed(weights, k.p),
                Grid::Of(vectors, k.width),
                Target::of(output, k.width),
            );
        }
        add(k.set, stream, from_scores);
        if has_own_width {
            from_scores.fill([0.0; L]);
        }
    }

    /// The gradient of the query, and what it and the residual add to the gradient of the row's input.
    fn through_read_query(&mut self, layer: usize) {
        let (k, read) = (self.kernel, self.architecture.inputs.read_position);
        let projections = self.places.blocks[layer].projections;
        let values = &mut *self.values;
        // dq_h = scale W_k^T du_h, over the head's columns
        for head in 0..k.heads {
            let columns = head * k.d_head..(head + 1) * k.d_head;
            let d_u = &values.d_u[head * k.width..][..k.width];
            let d_query = &mut values.d_query[columns.clone()];
            if let Some([_, key, _]) = projections {
                let weights = &k.numbers(key.weight)[columns.start..];
                multiply(
                    k.set,
                    [1, k.d, k.d_head],
                    Grid::Of(d_u, k.width),
                    Grid::Numbers(weights, k.inner),
                    Target::of(d_query, k.inner).times(k.scale),
                );
            } else {
                d_query.copy_from_slice(&d_u[columns]);
                for value in d_query.as_flattened_mut() {
                    *value *= k.scale;
                }
            }
        }
        let own = &mut values.d_stream[read * k.width..][..k.width];
        if k.norm != NormPlace::Pre {
            add(k.set, own, &values.d_residual[..k.width]);
        }
        let d_query = &values.d_query[..k.inner];
        match projections {
            Some([query, ..]) => k.back(query, d_query, own, true),
            None => add(k.set, own, d_query),
        }
    }

    /// Adds the gradients of the projections.
    fn add_read_projections(&mut self, layer: usize) {
        let Some([query, key, value]) = self.places.blocks[layer].projections else {
            return;
        };
        let (k, read) = (self.kernel, self.architecture.inputs.read_position);
        let (values, gradients) = (&mut *self.values, &mut self.gradients);
        let (block, input) = block_and_input(&mut values.blocks, &values.embeddings, layer);
        let input = block.attended.source(input);
        // dW_q = x ⊗ dq; of each head: dW_v = p ⊗ dc, dW_k = scale du ⊗ q
        gradients.input(&input[read * k.width..][..k.width], k.width);
        gradients.linear(&values.d_query[..k.inner], query);
        let sees = sees(row_of(&values.may, read, k.p));
        // Each row adds to the bias what it sees.
        let (seen, d_context) = (&mut values.d_value[..k.inner], &values.d_context[..k.inner]);
        for (seen, gradient) in seen.iter_mut().zip(d_context) {
            *seen = zip(*gradient, sees, |gradient, sees| sees * gradient);
        }
        gradients.bias(seen, value);
        for head in 0..k.heads {
            let columns = head * k.d_head..(head + 1) * k.d_head;
            for (left, right, factor, linear) in [
                (&values.pooled, d_context, 1.0, value),
                (&values.d_u, &block.query[..k.inner], k.scale, key),
            ] {
                gradients.input(&left[head * k.width..][..k.width], k.width);
                gradients.head(right, columns.clone(), factor, linear.weight);
            }
        }
    }
}

/// A query's row of a mask, which is empty if all queries may look at all keys.
fn row_of<const L: usize>(may: &[Lanes<L>], query: usize, keys: usize) -> &[Lanes<L>] {
    may.get(query * keys..(query + 1) * keys)
        .unwrap_or_default()
}

/// 1 where a query may look at a key, else 0.
fn sees<const L: usize>(may: &[Lanes<L>]) -> Lanes<L> {
    let mut sees = if may.is_empty() { [1.0; L] } else { [0.0; L] };
    for may in may {
        for l in 0..L {
            sees[l] = if may[l] > sees[l] { may[l] } else { sees[l] };
        }
    }
    sees
}
