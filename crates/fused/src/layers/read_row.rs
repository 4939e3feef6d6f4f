//! Attention of the last layer where the classifier reads one position `i`: only its row is computed, and neither keys nor
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
//!
//! With dropout the weights `m_j a_j` have any sum: `p = Σ_j m_j a_j x_j`, `c_i = p W_v + (Σ_j m_j a_j) b_v`,
//! `da_j = m_j (dp · x_j + dc_i · b_v)` and `dx_j = m_j a_j dp + dz_j u`.

use headlight_architecture::{DropoutPlace, NormPlace};

use super::elements::add;
use super::softmax;
use crate::lanes::{Lanes, zip};
use crate::parameters::Linear;
use crate::pass::Pass;
use crate::products::Operand::{Rows, Transposed};
use crate::products::Target;
use crate::values::layer_and_input;

impl<const L: usize> Pass<'_, L> {
    /// The context of the row that the classifier reads.
    pub(crate) fn attend_from_read_row(&mut self, layer: usize) {
        let (read, projections) = self.read_row_and_projections(layer);
        let (k, s, p) = (self.kernel, self.kernel.sizes, self.positions);
        let dropped = self.rows_at(DropoutPlace::Attention(layer));
        let values = &mut *self.values;
        let (layer_values, input) = layer_and_input(&mut values.layers, &values.embeddings, layer);
        let input = layer_values.after_attention.source(input);
        let attention = &mut layer_values.attention;
        let has_dropout = self.dropout.is_at(dropped.place);
        attention.keep_softmax(has_dropout);
        let row = &input[read * s.width..][..s.width];
        match projections {
            Some([query, ..]) => k.project(query, row, &mut attention.query),
            None => attention.query[..s.heads_width].copy_from_slice(row),
        }
        let [key, value] = [1, 2].map(|index| projections.map(|all| all[index]));
        let (u, pooled) = (&mut values.read_row.u, &mut values.read_row.pooled);
        for (head, u) in u.chunks_exact_mut(s.width).enumerate() {
            k.project_head_back(key, head, k.scale, &attention.query[s.columns(head)], u);
        }
        let weights = &mut attention.weights[..s.n_heads * p];
        let (sizes, into) = ([s.n_heads, s.d_model, p], Target::of(weights, p));
        k.multiply(sizes, Rows(u, s.width), Transposed(input, s.width), into);
        softmax::forward(k.isa, weights, p, values.mask.rows(read..read + 1, p));
        if has_dropout {
            attention.softmax[..weights.len()].copy_from_slice(weights);
            self.dropout.apply(k.isa, dropped, weights);
        }
        let (sizes, into) = ([s.n_heads, p, s.d_model], Target::of(pooled, s.width));
        k.multiply(sizes, Rows(weights, p), Rows(input, s.width), into);
        // Without dropout the weights sum to 1, so the bias is added once; or to 0, if the row may look at no key.
        let has_key = values.mask.has_key(read, p);
        for (head, pooled) in pooled.chunks_exact(s.width).enumerate() {
            let context = &mut attention.context[s.columns(head)];
            if let Some(value) = value {
                let bias = &k.numbers(value.bias)[s.columns(head)];
                let share = if has_dropout {
                    sum(&weights[head * p..][..p])
                } else {
                    has_key
                };
                for (context, bias) in context.iter_mut().zip(bias) {
                    *context = share.map(|share| share * bias);
                }
            }
            k.project_head(
                value,
                head,
                pooled,
                Target::of(context, s.heads_width).on_top(true),
            );
        }
    }

    /// The position that the classifier reads, and the projections of the layer, if it has any.
    fn read_row_and_projections(&self, layer: usize) -> (usize, Option<[Linear; 3]>) {
        let read = self.architecture.inputs.read_position;
        (read, self.layout.layers[layer].projections)
    }

    /// From the gradient of the row's context to that of attention's input, in `d_layer.stream`.
    pub(crate) fn backward_read_row(&mut self, layer: usize) {
        self.backward_read_scores(layer);
        self.backward_read_query(layer);
        self.add_read_projections(layer);
    }

    /// From the gradient of the context to that of the scores, and what they add to the gradient of the input.
    fn backward_read_scores(&mut self, layer: usize) {
        let (_, projections) = self.read_row_and_projections(layer);
        let (k, s, p) = (self.kernel, self.kernel.sizes, self.positions);
        let dropped = self.rows_at(DropoutPlace::Attention(layer));
        let values = &mut *self.values;
        let (layer_values, input) = layer_and_input(&mut values.layers, &values.embeddings, layer);
        let input = layer_values.after_attention.source(input);
        let (read_row, d) = (&mut values.read_row, &mut values.d_attention);

        // dp_h = W_v dc_h
        let value = projections.map(|[_, _, value]| value);
        for (head, d_pooled) in read_row.d_pooled.chunks_exact_mut(s.width).enumerate() {
            k.project_head_back(value, head, 1.0, &d.context[s.columns(head)], d_pooled);
        }
        // da_j = dp · x_j, ds = a (da - Σ a da), du = Σ_j ds_j x_j
        let weights = &layer_values.attention.weights[..s.n_heads * p];
        let d_scores = &mut d.scores[..s.n_heads * p];
        let (d_pooled, inputs) = (
            Rows(&read_row.d_pooled, s.width),
            Transposed(input, s.width),
        );
        let into = Target::of(d_scores, p);
        k.multiply([s.n_heads, s.d_model, p], d_pooled, inputs, into);
        if self.dropout.is_at(dropped.place) {
            // The bias counts as often as the weights sum to.
            for (head, d_scores) in d_scores.chunks_exact_mut(p).enumerate() {
                let Some(value) = value else { break };
                let bias = &k.numbers(value.bias)[s.columns(head)];
                let pairs = d.context[s.columns(head)].iter().zip(bias);
                let shift = pairs.fold([0.0; L], |shift, (gradient, bias)| {
                    zip(shift, *gradient, |shift, gradient| shift + gradient * bias)
                });
                for score in d_scores {
                    *score = zip(*score, shift, |score, shift| score + shift);
                }
            }
            self.dropout.apply(k.isa, dropped, d_scores);
            let softmax = &layer_values.attention.softmax[..weights.len()];
            softmax::backward(k.isa, softmax, d_scores, p);
        } else {
            softmax::backward(k.isa, weights, d_scores, p);
        }
        if self.holds_weights {
            d_scores.fill([0.0; L]);
        }
        let (inputs, into) = (Rows(input, s.width), Target::of(&mut read_row.d_u, s.width));
        k.multiply([s.n_heads, p, s.d_model], Rows(d_scores, p), inputs, into);
        // dx_j = Σ_h a_j dp + ds_j u
        let stream = &mut values.d_layer.stream[..p * s.width];
        let from_scores = &mut d.key[..p * s.width];
        // In other layers the rows of this space have the width of the heads: what pads them must stay 0, here and there.
        let has_own_width = self.architecture.heads_width() != s.d_model;
        if has_own_width {
            from_scores.fill([0.0; L]);
        }
        let (sizes, into) = ([p, s.n_heads, s.d_model], Target::of(stream, s.width));
        k.multiply(sizes, Transposed(weights, p), d_pooled, into);
        let (u, into) = (Rows(&read_row.u, s.width), Target::of(from_scores, s.width));
        k.multiply(sizes, Transposed(d_scores, p), u, into);
        add(k.isa, stream, from_scores);
        if has_own_width {
            from_scores.fill([0.0; L]);
        }
    }

    /// The gradient of the query, and what it and the residual add to the gradient of the row's input.
    fn backward_read_query(&mut self, layer: usize) {
        let (read, projections) = self.read_row_and_projections(layer);
        let (k, values) = (self.kernel, &mut *self.values);
        let s = k.sizes;
        let d_query = &mut values.d_attention.query[..s.heads_width];
        // dq_h = s W_k^T du_h, over the head's columns
        let key = projections.map(|[_, key, _]| key);
        for (head, d_u) in values.read_row.d_u.chunks_exact(s.width).enumerate() {
            let into = Target::of(&mut d_query[s.columns(head)], s.heads_width);
            k.project_head(key, head, d_u, into.times(k.scale));
        }
        let row = &mut values.d_layer.stream[read * s.width..][..s.width];
        if self.architecture.model.norm != NormPlace::Pre {
            add(k.isa, row, &values.d_layer.residual[..s.width]);
        }
        match projections {
            Some([query, ..]) => k.project_back(query, d_query, row, true),
            None => add(k.isa, row, d_query),
        }
    }

    /// Adds the gradients of the projections.
    fn add_read_projections(&mut self, layer: usize) {
        let (read, Some([to_query, key, value])) = self.read_row_and_projections(layer) else {
            return;
        };
        let (k, values, p) = (self.kernel, &mut *self.values, self.positions);
        let s = k.sizes;
        let (layer_values, input) = layer_and_input(&mut values.layers, &values.embeddings, layer);
        let row = &layer_values.after_attention.source(input)[read * s.width..][..s.width];
        let (gradients, d) = (&mut self.gradients, &mut values.d_attention);
        // dW_q = x ⊗ dq
        let input = gradients.input(row, s.width);
        gradients.linear(input, &d.query[..s.heads_width], to_query);
        // The bias was added where the row may look at a key; with dropout, as often as the weights sum to.
        let has_key = values.mask.has_key(read, p);
        let has_dropout = self.dropout.is_at(DropoutPlace::Attention(layer));
        let (with_key, d_context) = (&mut d.value[..s.heads_width], &d.context[..s.heads_width]);
        for head in 0..s.n_heads {
            let weights = &layer_values.attention.weights[head * p..][..p];
            let share = if has_dropout { sum(weights) } else { has_key };
            for column in s.columns(head) {
                with_key[column] =
                    zip(d_context[column], share, |gradient, share| share * gradient);
            }
        }
        gradients.bias(with_key, value);
        let query = &layer_values.attention.query[..s.heads_width];
        // Of each head: dW_v = p ⊗ dc, dW_k = s du ⊗ q
        for head in 0..s.n_heads {
            let (columns, head_row) = (s.columns(head), head * s.width..(head + 1) * s.width);
            let input = gradients.input(&values.read_row.pooled[head_row.clone()], s.width);
            gradients.head(input, d_context, columns.clone(), 1.0, value.weight);
            let input = gradients.input(&values.read_row.d_u[head_row], s.width);
            gradients.head(input, query, columns, k.scale, key.weight);
        }
    }
}

fn sum<const L: usize>(weights: &[Lanes<L>]) -> Lanes<L> {
    let all = weights.iter();
    all.fold([0.0; L], |sum, weight| zip(sum, *weight, |a, b| a + b))
}
