//! The backward pass for eight samples, in the reverse order of the forward pass.
//!
//! `dy` stands for the gradient of the loss by `y`. The files of the forward pass derive each part's.

use super::pass::{Pass, Sizes};

use crate::adam::Sums;
use crate::chunk::Chunk;

impl<const L: usize> Pass<'_, L> {
    /// Adds the gradient of the chunk's losses, each of which counts as the share of its sample, and keeps the losses.
    pub(super) fn add_gradient(
        &mut self,
        chunk: Chunk<'_>,
        share: f32,
        losses: &mut Vec<f32>,
        sums: &mut Sums<'_>,
    ) {
        self.forward(chunk, false);
        let shares = self.shares_of_answers(chunk);
        let own = shares[..chunk.chosen.len()].iter().enumerate();
        losses.extend(own.map(|(lane, own)| self.training_loss(chunk, lane) * own));
        self.start_from_losses(chunk, shares.map(|own| own * share));
        self.backward(sums);
        self.through_embeddings(chunk, sums);
    }

    /// Adds the gradient of all parameters but the embeddings, from that of the logits in `d_logits`; leaves that of the
    /// first block's input in `d_stream`. The forward pass of the same chunk must have run before, and not `whole`.
    pub(super) fn backward(&mut self, sums: &mut Sums<'_>) {
        self.through_read(sums);
        let (last, positions) = (self.architecture.model.n_layers - 1, self.positions);
        for layer in (0..self.architecture.model.n_layers).rev() {
            let rows = if layer == last {
                self.last_rows()
            } else {
                0..positions
            };
            self.through_finish(layer, rows.len(), sums);
            if layer == last && self.architecture.folds_keys() {
                self.through_read_row(layer, sums);
            } else {
                self.through_attention(layer, rows.clone());
                self.through_projections(layer, rows, sums);
            }
        }
    }

    /// From the gradient of the first block's input in `d_stream` to those of the embeddings.
    pub(super) fn through_embeddings(&mut self, chunk: Chunk<'_>, sums: &mut Sums<'_>) {
        self.through_embedding_norm(sums);
        let Sizes { p, width, .. } = self.sizes();
        let (tokens, positions) = (self.places.tokens, self.places.positions);
        let gradient = (&self.values.d_stream[..p * width], width);
        let set = self.instructions;
        let additions = &mut *self.additions;
        additions.embeddings(set, chunk, gradient, tokens, positions, sums);
    }

    /// From the gradient of the first block's input in `d_stream` to that of the sums of the embeddings, in its place.
    pub(super) fn through_embedding_norm(&mut self, sums: &mut Sums<'_>) {
        let Sizes { p, width, .. } = self.sizes();
        let (places, norms) = (self.places, self.norms());
        let values = &mut *self.values;
        let gradient = &mut values.d_stream[..p * width];
        if let Some(place) = places.first_norm {
            norms.through(
                &values.first_norm,
                p,
                place,
                gradient,
                (self.additions, sums),
            );
        }
    }
}
