//! The samples of a pass.

use crate::samples::Samples;

/// Some samples of a dataset, which a pass computes side by side: one at least, and at most as many as it has lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) samples: Samples<'a>,
    /// The last one fills the other lanes too.
    pub(crate) chosen: &'a [u32],
    pub(crate) positions: usize,
    /// The place of its first sample in the batch.
    pub(crate) first: u32,
}

impl<'a> Chunk<'a> {
    #[inline(always)]
    pub(crate) fn of(samples: Samples<'a>, chosen: &'a [u32], positions: usize) -> Self {
        Self {
            samples,
            chosen,
            positions,
            first: 0,
        }
    }

    #[inline(always)]
    fn sample(&self, lane: usize) -> usize {
        self.chosen[lane.min(self.chosen.len() - 1)] as usize
    }

    /// The tokens of a lane's sample.
    #[inline(always)]
    pub(crate) fn tokens(&self, lane: usize) -> &[u32] {
        &self.samples.tokens[self.sample(lane) * self.positions..][..self.positions]
    }

    #[inline(always)]
    pub(crate) fn token(&self, lane: usize, position: usize) -> u32 {
        self.samples.tokens[self.sample(lane) * self.positions + position]
    }

    /// The label of an answer. `answers`: those of a sample.
    #[inline(always)]
    pub(crate) fn label(&self, lane: usize, answer: usize, answers: usize) -> u32 {
        self.samples.labels[self.sample(lane) * answers + answer]
    }

    /// How much the loss of an answer counts.
    #[inline(always)]
    pub(crate) fn weight(&self, lane: usize, answer: usize, answers: usize) -> f32 {
        let weights = self.samples.weights;
        weights.map_or(1.0, |weights| weights[self.sample(lane) * answers + answer])
    }

    /// The label of an answer in each lane.
    #[inline(always)]
    pub(crate) fn labels<const L: usize>(&self, answer: usize, answers: usize) -> [u32; L] {
        std::array::from_fn(|lane| self.label(lane, answer, answers))
    }
}
