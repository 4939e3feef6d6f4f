//! Gradients of logits by the embedding of the token at each position.

use crate::architecture::Architecture;
use crate::blocks::Blocks;
use crate::lanes::{LANES, ZERO};
use crate::places::padded;
use crate::samples::Samples;

/// Gradients of one model's logits by token embeddings. A position's own embedding and a norm of the embeddings, if the
/// model has them, come after the token's.
#[derive(Clone, Debug)]
pub struct TokenGradients {
    architecture: Architecture,
    parameters: Vec<f32>,
    blocks: Blocks,
}

impl TokenGradients {
    /// Of a model with these parameters.
    ///
    /// # Panics
    /// When there are not [`Architecture::parameter_count`] parameters.
    pub fn new(architecture: &Architecture, parameters: &[f32]) -> Self {
        let blocks = Blocks::new(architecture);
        Self {
            parameters: blocks.places().pack(parameters),
            blocks,
            architecture: architecture.clone(),
        }
    }

    /// The gradient of `Σ_k slope_k z_k` for each of some samples, with a slope for each of its logits, those of an answer after those
    /// of the one before. If `holds_weights`, all
    /// attention weights count as constants: the gradient then says how the logits follow from what positions hold,
    /// and not how the model would look elsewhere (Jain and Wallace 2019). `[sample, position, d_model]`
    ///
    /// # Panics
    /// When `slopes` does not have a number for each logit of each sample, or as [`Model::step`](crate::Model::step).
    pub fn of(
        &mut self,
        samples: Samples<'_>,
        chosen: &[u32],
        slopes: &[f32],
        holds_weights: bool,
    ) -> Vec<f32> {
        let (positions, d_model) = (
            self.architecture.inputs.positions,
            self.architecture.model.d_model,
        );
        let n_logits = self.architecture.answers() * self.architecture.n_logits();
        assert!(
            slopes.len() == chosen.len() * n_logits,
            "each sample has {n_logits} slopes"
        );
        let mut gradients = Vec::with_capacity(chosen.len() * positions * d_model);
        let mut by_lane = vec![ZERO; n_logits];
        for (chosen, slopes) in chosen.chunks(LANES).zip(slopes.chunks(LANES * n_logits)) {
            for (logit, lanes) in by_lane.iter_mut().enumerate() {
                let own = slopes.chunks_exact(n_logits).map(|slopes| slopes[logit]);
                lanes
                    .iter_mut()
                    .zip(own)
                    .for_each(|(lane, own)| *lane = own);
            }
            let (parameters, samples) = (&self.parameters, (samples, chosen));
            let (found, _) =
                self.blocks
                    .input_gradient(parameters, samples, &by_lane, holds_weights, None);
            let rows = || found.chunks_exact(padded(d_model)).take(positions);
            for lane in 0..chosen.len() {
                gradients.extend(rows().flat_map(|row| &row[..d_model]).map(|of| of[lane]));
            }
        }
        gradients
    }
}
