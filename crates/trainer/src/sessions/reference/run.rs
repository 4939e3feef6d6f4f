//! The content of a reference run.

use headlight_architecture::Parameter;
use headlight_data::Dataset;
use headlight_experiment::Replay;
use sha2::{Digest, Sha256};

/// A run recorded elsewhere.
#[derive(Clone, Debug)]
pub struct Reference {
    pub(super) initial: Vec<Parameter>,
    pub(super) gradient: Vec<Parameter>,
    pub(super) trained: Vec<Parameter>,
    pub(super) order: Vec<Vec<u32>>,
    pub(super) losses: Vec<f32>,
    pub(super) samples: Vec<u32>,
    /// The embeddings of the samples, with the initial weights. `[sample, position, d_model]`
    pub(super) embeddings: Vec<f32>,
    pub(super) initial_forward: Forward,
    pub(super) trained_forward: Forward,
    pub(super) probabilities: Vec<f32>,
}

/// The forward pass of the recorded samples with one set of weights, row-major.
#[derive(Clone, Debug)]
pub(super) struct Forward {
    pub(super) logits: Vec<f32>,
    pub(super) scores: Vec<f32>,
    pub(super) weights: Vec<f32>,
    pub(super) context: Vec<f32>,
}

impl Reference {
    /// The weights and batches that replace those of a seed.
    pub fn replay(&self) -> Replay {
        Replay {
            start: self.initial.clone(),
            order: self.order.clone(),
        }
    }

    /// Adds to a hash all that a run is compared with at its end.
    pub fn add_to_hash(&self, hash: &mut Sha256) {
        for value in self.losses.iter().chain(&self.probabilities) {
            hash.update(value.to_le_bytes());
        }
        for sample in self.order.iter().flatten() {
            hash.update(sample.to_le_bytes());
        }
    }

    /// Whether the recorded embeddings match those of the same samples here.
    pub(super) fn matches_samples_of(&self, train: &Dataset) -> bool {
        let [tokens, positions, ..] = self.initial.as_slice() else {
            return false;
        };
        let d_model = tokens.shape[1];
        let rows = self
            .samples
            .iter()
            .flat_map(|&sample| train.tokens(sample as usize).iter().enumerate());
        let expected = rows.flat_map(|(position, &token)| {
            (0..d_model).map(move |i| (token as usize * d_model + i, position * d_model + i))
        });
        expected
            .map(|(token, position)| tokens.values[token] + positions.values[position])
            .zip(&self.embeddings)
            .all(|(ours, theirs)| (ours - theirs).abs() < 1e-6)
    }
}
