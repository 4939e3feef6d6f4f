//! The backward pass for eight samples, in the reverse order of the forward pass.
//!
//! `dy` stands for the gradient of the loss by `y`. The files of the forward pass derive each part's.

use super::norm;
use super::pass::Pass;
use crate::chunk::Chunk;

impl<const L: usize> Pass<'_, L> {
    /// Adds the gradient of the chunk's losses, each of which counts as the share of its sample, and keeps the losses.
    pub(super) fn add_gradient(&mut self, chunk: Chunk<'_>, share: f32, losses: &mut Vec<f32>) {
        self.forward(chunk, false);
        let shares = self.shares_of_answers(chunk);
        let own = shares[..chunk.chosen.len()].iter().enumerate();
        losses.extend(own.map(|(lane, own)| self.training_loss(chunk, lane) * own));
        self.start_from_losses(chunk, shares.map(|own| own * share));
        self.backward();
        self.through_embedding_norm();
        let gradient = &self.values.d_stream[..self.kernel.p * self.kernel.width];
        let (tokens, positions) = (self.places.tokens, self.places.positions);
        self.gradients
            .embeddings(chunk, gradient, tokens, positions);
    }

    /// Adds the gradient of all parameters but the embeddings, from that of the logits in `d_logits`; leaves that of the
    /// first block's input in `d_stream`. The forward pass of the same chunk must have run before, and not `whole`.
    pub(super) fn backward(&mut self) {
        self.through_read();
        let last = self.architecture.model.n_layers - 1;
        for layer in (0..=last).rev() {
            let rows = if layer == last {
                self.last_rows()
            } else {
                0..self.kernel.p
            };
            self.through_finish(layer, rows.len());
            if layer == last && self.architecture.folds_keys() {
                self.through_read_row(layer);
            } else {
                self.through_attention(layer, &rows);
                self.through_projections(layer, &rows);
            }
        }
    }

    /// From the gradient of the first block's input in `d_stream` to that of the sums of the embeddings, in its place.
    pub(super) fn through_embedding_norm(&mut self) {
        let (k, values) = (self.kernel, &mut *self.values);
        if let Some(place) = self.places.first_norm {
            let gradient = &mut values.d_stream[..k.p * k.width];
            norm::through(k, &values.first_norm, place, gradient, &mut self.gradients);
        }
    }
}
