//! The embeddings of some samples: from rows of the tables to lanes, and the gradient back to these rows.
//!
//! The first layer's input is, for each position, the token's row of the embedding plus the position's; after a norm, if the
//! model has one there.

use headlight_architecture::DropoutPlace;

use crate::arrays::Array;
use crate::chunk::Chunk;
use crate::hook::{Hook, HookPoint};
use crate::instructions::for_each_isa;
use crate::lanes::{LANES, Lanes, ZERO};
use crate::pass::Pass;

impl<const L: usize> Pass<'_, L> {
    /// From tokens to the first layer's input.
    pub(crate) fn embed(&mut self, chunk: Chunk<'_>) {
        let (k, layout, values) = (self.kernel, self.layout, &mut *self.values);
        let width = layout.tokens.stride;
        let output = &mut values.embeddings[..self.positions * width];
        let positions = layout.positions.map_or(&[][..], |slot| k.numbers(slot));
        forward(
            k.isa,
            chunk,
            k.numbers(layout.tokens),
            positions,
            width,
            output,
        );
        if let Some(slots) = layout.embedding_norm {
            values.embedding_norm.forward_of(k, slots, output);
            output.copy_from_slice(&values.embedding_norm.output[..output.len()]);
        }
        let (dropped, values) = (self.rows_at(DropoutPlace::Embedding), &mut *self.values);
        let output = &mut values.embeddings[..self.positions * width];
        self.dropout.apply(k.isa, dropped, output);
        let point = HookPoint::Vectors(Array::Embeddings, 0);
        self.hook.visit(point, &mut values.embeddings);
    }

    /// From the gradient of the first layer's input in `d_layer.stream` to that of the sums of the embeddings, in its place.
    pub(crate) fn backward_embedding_norm(&mut self) {
        let (k, dropped) = (self.kernel, self.rows_at(DropoutPlace::Embedding));
        let values = &mut *self.values;
        let gradient = &mut values.d_layer.stream[..self.positions * k.sizes.width];
        self.dropout.apply(k.isa, dropped, gradient);
        if let Some(slots) = self.layout.embedding_norm {
            values
                .embedding_norm
                .backward(k, slots, gradient, &mut self.gradients);
        }
    }

    /// Adds the gradient of the sums of the embeddings, in `d_layer.stream`, to those of the tables.
    pub(crate) fn backward_embeddings(&mut self, chunk: Chunk<'_>) {
        let (tokens, positions) = (self.layout.tokens, self.layout.positions);
        let gradient = &self.values.d_layer.stream[..self.positions * tokens.stride];
        self.gradients
            .embeddings(chunk, gradient, tokens, positions);
    }
}

for_each_isa! {
    vectors,
    /// `output[position] = tokens[token at position] + positions[position]`; `positions` may be empty. Rows of the tables
    /// have `width` numbers.
    fn forward<'a, L>(
        chunk: Chunk<'a>, tokens: &'a [f32], positions: &'a [f32], width: usize, output: &'a mut [Lanes<L>],
    ) {
        for (position, output) in output.chunks_exact_mut(width).enumerate() {
            let mut rows = [&[][..]; L];
            for lane in 0..L {
                rows[lane] = &tokens[chunk.token(lane, position) as usize * width..][..width];
            }
            for column in (0..width).step_by(LANES) {
                let mut shift = ZERO;
                if !positions.is_empty() {
                    shift.copy_from_slice(&positions[position * width + column..][..LANES]);
                }
                let output = &mut output[column..][..LANES];
                for (part, rows) in rows.chunks_exact(LANES).enumerate() {
                    let mut numbers = [ZERO; LANES];
                    for lane in 0..LANES {
                        let row = &rows[lane][column..][..LANES];
                        for i in 0..LANES {
                            numbers[lane][i] = row[i] + shift[i];
                        }
                    }
                    for (output, numbers) in output.iter_mut().zip(vectors.transpose(numbers)) {
                        output[part * LANES..][..LANES].copy_from_slice(&numbers);
                    }
                }
            }
        }
    }
}
