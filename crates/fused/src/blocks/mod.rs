//! Classifiers of any number of blocks: forward and backward pass from pieces, each with its derivative.

mod norm;
mod pass;
mod places;
mod products;
mod softmax;
mod values;

use alloc::vec::Vec;

use crate::architecture::Architecture;
use crate::instructions::Instructions;
use crate::lanes::LANES;
use crate::model::{Predictions, Samples, Sums};
use pass::Pass;
use places::Places;
use values::Values;

/// One to eight samples of a dataset, which a pass computes side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    samples: Samples<'a>,
    /// The last one fills the other lanes too.
    chosen: &'a [u32],
    positions: usize,
}

impl Chunk<'_> {
    #[inline(always)]
    fn sample(&self, lane: usize) -> usize {
        self.chosen[lane.min(self.chosen.len() - 1)] as usize
    }

    #[inline(always)]
    fn token(&self, lane: usize, position: usize) -> u32 {
        self.samples.tokens[self.sample(lane) * self.positions + position]
    }

    #[inline(always)]
    fn labels(&self) -> [u8; LANES] {
        core::array::from_fn(|lane| self.samples.labels[self.sample(lane)])
    }
}

/// The place of the parameters in memory, and the values of a pass.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    architecture: Architecture,
    places: Places,
    values: Values,
}

impl Blocks {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        Self {
            places: Places::new(architecture),
            values: Values::new(architecture),
            architecture: architecture.clone(),
        }
    }

    pub(crate) fn pack(&self, plain: &[f32]) -> Vec<f32> {
        self.places.pack(plain)
    }

    pub(crate) fn unpack(&self, padded: &[f32]) -> Vec<f32> {
        self.places.unpack(padded)
    }

    /// Numbers of the token embedding, which is first in memory.
    pub(crate) fn token_embedding_len(&self) -> usize {
        self.places.tokens.range().len()
    }

    fn pass<'a>(&'a mut self, set: Instructions, parameters: &'a [f32]) -> Pass<'a> {
        Pass {
            architecture: &self.architecture,
            places: &self.places,
            parameters,
            values: &mut self.values,
            instructions: set,
        }
    }

    /// Adds the gradient of a batch's mean loss; returns that loss.
    pub(crate) fn differentiate(
        &mut self,
        set: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        batch: &[u32],
        mut sums: Sums<'_>,
    ) -> f32 {
        let share = 1.0 / batch.len() as f32;
        let positions = self.architecture.positions;
        let mut pass = self.pass(set, parameters);
        let mut loss = 0.0;
        for chosen in batch.chunks(LANES) {
            let chunk = Chunk {
                samples,
                chosen,
                positions,
            };
            pass.forward(chunk, false);
            for lane in 0..chosen.len() {
                loss += pass.values.losses[lane];
            }
            pass.backward(chunk, share, &mut sums);
        }
        loss * share
    }

    /// Appends the predictions of some samples.
    pub(crate) fn predict(
        &mut self,
        set: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        predictions: &mut Predictions,
    ) {
        let (positions, n_heads) = (self.architecture.positions, self.architecture.n_heads);
        let mut pass = self.pass(set, parameters);
        for chosen in chosen.chunks(LANES) {
            pass.forward(
                Chunk {
                    samples,
                    chosen,
                    positions,
                },
                false,
            );
            let values = &*pass.values;
            let Some(block) = values.blocks.last() else {
                return;
            };
            for lane in 0..chosen.len() {
                let of_lane = |values: &[crate::lanes::Lanes], into: &mut Vec<f32>| {
                    into.extend(values.iter().map(|value| value[lane]));
                };
                of_lane(&values.logits, &mut predictions.logits);
                of_lane(&values.probabilities, &mut predictions.probabilities);
                of_lane(
                    &block.weights[..n_heads * positions],
                    &mut predictions.attention,
                );
                predictions.losses.push(values.losses[lane]);
            }
        }
    }
}
