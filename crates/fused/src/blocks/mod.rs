//! Classifiers of any number of blocks: forward and backward pass from pieces, each with its derivative.
//!
//! Each piece is compiled by itself for each set of instructions. Compiled as one, the passes took minutes.
//!
//! # What was tried
//!
//! - Tiles of three rows in the products of matrices: they need more registers than AVX2 has.
//! - Products for a `d_model` of 16 or heads of 8 that the compiler knows: no gain.
//! - AVX-512's 32 registers: a small gain, which is not worth a third copy of the code.

mod attention;
mod backward;
mod classifier;
mod elements;
mod embedding;
mod forward;
mod hidden;
mod loss;
mod norm;
mod pass;
mod places;
mod predictions;
mod probe;
mod products;
mod read_row;
mod readout;
mod rotate;
mod softmax;
mod sublayers;
mod transposed;
mod values;

use alloc::vec;
use alloc::vec::Vec;

use crate::adam::Sums;
use crate::aligned::Aligned;
use crate::architecture::{Architecture, Reads};
use crate::instructions::Instructions;
use crate::lanes::{LANES, Lanes, WIDE, ZERO};
use crate::samples::{IGNORED, Predictions, Samples};
use crate::training::CrossEntropy;
use pass::Pass;
use places::Places;
pub(crate) use places::padded;
pub(crate) use probe::{Probe, Site};
use values::Values;

/// Some samples of a dataset, which a pass computes side by side: one at least, and at most as many as it has lanes.
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

    /// The label of an answer. `answers`: those of a sample.
    #[inline(always)]
    fn label(&self, lane: usize, answer: usize, answers: usize) -> u32 {
        self.samples.labels[self.sample(lane) * answers + answer]
    }
}

/// Evaluates `body` with a pass that has lanes enough for a chunk.
macro_rules! in_pass {
    ($blocks:expr, $set:expr, $chunk:expr, $parameters:expr, $pass:ident => $body:expr) => {
        if $set.is_wide() && $chunk.chosen.len() > LANES {
            let mut $pass = $blocks.wide_pass($set, $parameters);
            $body
        } else {
            let mut $pass = $blocks.pass($set, $parameters);
            $body
        }
    };
}

/// The place of the parameters in memory, and the values of a pass.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    architecture: Architecture,
    places: Places,
    values: Values<LANES>,
    /// Those of passes of more samples, once there was one.
    wide: Option<Values<WIDE>>,
    cross_entropy: CrossEntropy,
}

impl Blocks {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        Self {
            places: Places::new(architecture),
            values: Values::new(architecture),
            wide: None,
            architecture: architecture.clone(),
            cross_entropy: CrossEntropy::default(),
        }
    }

    /// The same with another loss.
    pub(crate) fn with_loss(self, cross_entropy: CrossEntropy) -> Self {
        Self {
            cross_entropy,
            ..self
        }
    }

    /// Fills the places that no parameter has of its own, after the parameters have changed.
    pub(crate) fn complete(&self, parameters: &mut [f32]) {
        self.places.complete(parameters);
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

    /// A pass of up to eight samples.
    fn pass<'a>(&'a mut self, set: Instructions, parameters: &'a [f32]) -> Pass<'a, LANES> {
        Pass {
            architecture: &self.architecture,
            places: &self.places,
            parameters,
            values: &mut self.values,
            positions: self.architecture.positions,
            instructions: set,
            cross_entropy: self.cross_entropy,
            probe: None,
            holds_weights: false,
        }
    }

    /// A pass of up to sixteen samples.
    fn wide_pass<'a>(&'a mut self, set: Instructions, parameters: &'a [f32]) -> Pass<'a, WIDE> {
        let architecture = &self.architecture;
        let values = self.wide.get_or_insert_with(|| Values::new(architecture));
        Pass {
            architecture,
            places: &self.places,
            parameters,
            values,
            positions: architecture.positions,
            instructions: set,
            cross_entropy: self.cross_entropy,
            probe: None,
            holds_weights: false,
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
        let share = 1.0 / self.counted(samples, batch).max(1) as f32;
        let mut loss = 0.0;
        for chunk in self.chunks(set, samples, batch) {
            in_pass!(self, set, chunk, parameters, pass => {
                pass.add_gradient(chunk, share, &mut loss, &mut sums);
            });
        }
        self.places.collect(sums.gradient);
        loss * share
    }

    /// Divides samples among passes.
    fn chunks<'a>(
        &self,
        set: Instructions,
        samples: Samples<'a>,
        chosen: &'a [u32],
    ) -> impl Iterator<Item = Chunk<'a>> + use<'a> {
        let positions = self.architecture.positions;
        let lanes = if set.is_wide() { WIDE } else { LANES };
        chosen.chunks(lanes).map(move |chosen| Chunk {
            samples,
            chosen,
            positions,
        })
    }

    /// What a batch's loss is the mean over: its samples, or the positions that count.
    fn counted(&self, samples: Samples<'_>, batch: &[u32]) -> usize {
        let answers = self.architecture.answers();
        if answers == 1 {
            return batch.len();
        }
        let counts = batch.iter().map(|&sample| {
            let labels = &samples.labels[sample as usize * answers..][..answers];
            let count = labels.iter().filter(|&&label| label != IGNORED).count();
            if self.cross_entropy.per_sample {
                count.min(1)
            } else {
                count
            }
        });
        counts.sum()
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
        for chunk in self.chunks(set, samples, chosen) {
            in_pass!(self, set, chunk, parameters, pass => {
                pass.forward(chunk, false);
                let all_rows = pass.architecture.reads != Reads::Position;
                pass.append(chunk, all_rows, predictions);
            });
        }
    }

    /// Computes all rows of up to eight samples, with a probe, and appends their predictions.
    pub(crate) fn trace(
        &mut self,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        probe: &mut dyn Probe,
        predictions: &mut Predictions,
    ) {
        let positions = self.architecture.positions;
        // The probe may change the mask.
        if self.values.may.is_empty() {
            self.values.may = Aligned::zeros(positions * positions);
        }
        let chunk = Chunk {
            samples,
            chosen,
            positions,
        };
        let mut pass = self.pass(Instructions::best(), parameters);
        pass.probe = Some(probe);
        pass.forward(chunk, true);
        pass.append(chunk, true, predictions);
    }

    /// The gradient of a logit by the first block's input, for eight inputs that the probe gives, and these inputs'
    /// logits. `[position, d_model]`, in padded rows
    pub(crate) fn input_gradient(
        &mut self,
        parameters: &[f32],
        samples: Samples<'_>,
        sample: u32,
        logit: usize,
        probe: &mut dyn Probe,
    ) -> (&[Lanes], Lanes) {
        let chunk = Chunk {
            samples,
            chosen: &[sample; LANES],
            positions: self.architecture.positions,
        };
        let mut unused = self.unused_gradient();
        let mut sums = Sums::of_gradient(&mut unused);
        let mut pass = self.pass(Instructions::best(), parameters);
        pass.probe = Some(probe);
        pass.forward(chunk, false);
        pass.values.d_logits.fill(ZERO);
        pass.values.d_logits[logit] = [1.0; LANES];
        pass.backward(&mut sums);
        self.values.transposed.is_wanted = true;
        let values = &self.values;
        (&values.d_stream, values.logits[logit])
    }

    /// The gradient of a sum of logits by the embedding of the token at each position, for up to eight samples. Each logit
    /// counts as often as `slopes` says; with `holds_weights`, the attention weights count as constants.
    /// `[position, d_model]`, in padded rows
    pub(crate) fn token_gradient(
        &mut self,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        slopes: &[Lanes],
        holds_weights: bool,
    ) -> &[Lanes] {
        let chunk = Chunk {
            samples,
            chosen,
            positions: self.architecture.positions,
        };
        let mut unused = self.unused_gradient();
        let mut sums = Sums::of_gradient(&mut unused);
        let mut pass = self.pass(Instructions::best(), parameters);
        pass.holds_weights = holds_weights;
        pass.forward(chunk, false);
        pass.values.d_logits.copy_from_slice(slopes);
        pass.backward(&mut sums);
        pass.through_embedding_norm(&mut sums);
        // Positions that were not computed change nothing.
        let computed = pass.positions * pass.width();
        pass.values.d_stream[computed..].fill(ZERO);
        self.values.transposed.is_wanted = true;
        &self.values.d_stream
    }

    /// Leaves out the gradients of parameters in the next pass, which take half of it; returns the room for those that it adds
    /// all the same.
    fn unused_gradient(&mut self) -> Vec<f32> {
        self.values.transposed.is_wanted = false;
        vec![0.0; self.places.len()]
    }
}
