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
use crate::architecture::{Architecture, Reads};
use crate::instructions::Instructions;
use crate::lanes::{LANES, Lanes, ZERO};
use crate::samples::{IGNORED, Predictions, Samples};
use crate::training::CrossEntropy;
use pass::Pass;
use places::Places;
pub(crate) use places::padded;
pub(crate) use probe::{Probe, Site};
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

    /// The labels of an answer. `answers`: those of a sample.
    #[inline(always)]
    fn labels(&self, answer: usize, answers: usize) -> [u32; LANES] {
        core::array::from_fn(|lane| self.samples.labels[self.sample(lane) * answers + answer])
    }
}

/// The place of the parameters in memory, and the values of a pass.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    architecture: Architecture,
    places: Places,
    values: Values,
    cross_entropy: CrossEntropy,
}

impl Blocks {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        Self {
            places: Places::new(architecture),
            values: Values::new(architecture),
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

    fn pass<'a>(&'a mut self, set: Instructions, parameters: &'a [f32]) -> Pass<'a> {
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
            let shares = pass.shares_of_answers(chunk);
            for (lane, &own) in shares[..chosen.len()].iter().enumerate() {
                loss += pass.training_loss(chunk, lane) * own;
            }
            pass.start_from_losses(chunk, shares.map(|own| own * share));
            pass.backward(&mut sums);
            pass.through_embeddings(chunk, &mut sums);
        }
        self.places.collect(sums.gradient);
        loss * share
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
        let positions = self.architecture.positions;
        for chosen in chosen.chunks(LANES) {
            let chunk = Chunk {
                samples,
                chosen,
                positions,
            };
            let mut pass = self.pass(set, parameters);
            pass.forward(chunk, false);
            let computed = pass.positions;
            self.append(
                chunk,
                predictions,
                self.architecture.reads != Reads::Position,
                computed,
            );
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
        self.values.may.resize(positions * positions, ZERO);
        let chunk = Chunk {
            samples,
            chosen,
            positions,
        };
        let pass = self.pass(Instructions::best(), parameters);
        Pass {
            probe: Some(probe),
            ..pass
        }
        .forward(chunk, true);
        self.append(chunk, predictions, true, positions);
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

    /// Appends the predictions of the last pass, which computed some positions: of the last block all their rows or the one that
    /// is read.
    fn append(
        &self,
        chunk: Chunk<'_>,
        predictions: &mut Predictions,
        all_rows: bool,
        computed: usize,
    ) {
        let Architecture {
            positions,
            n_heads,
            reads,
            ..
        } = self.architecture;
        let at = |query: usize, head: usize, key: usize| {
            if all_rows {
                (head * computed + query) * computed + key
            } else {
                head * computed + key
            }
        };
        let values = &self.values;
        let Some(block) = values.blocks.last() else {
            return;
        };
        for lane in 0..chunk.chosen.len() {
            let query = self.shown_position(chunk, lane);
            let of_lane = |values: &[Lanes], into: &mut Vec<f32>| {
                into.extend(values.iter().map(|value| value[lane]));
            };
            of_lane(&values.logits, &mut predictions.logits);
            of_lane(&values.probabilities, &mut predictions.probabilities);
            of_lane(&values.losses, &mut predictions.losses);
            let queries = match reads {
                Reads::Every => 0..positions,
                Reads::Position | Reads::Mean => query..query + 1,
            };
            for head in 0..n_heads {
                for query in queries.clone() {
                    let is_computed = query < computed || !all_rows;
                    predictions.attention.extend((0..positions).map(|key| {
                        if is_computed && key < computed {
                            block.weights[at(query, head, key)][lane]
                        } else {
                            0.0
                        }
                    }));
                }
            }
        }
    }

    /// The position whose attention is kept: the one that the classifier reads. Of the mean, it is the last one without padding
    /// if that position holds padding.
    fn shown_position(&self, chunk: Chunk<'_>, lane: usize) -> usize {
        let read = self.architecture.read_position;
        let padding = self.architecture.padding_token;
        let is_padding = |position: usize| Some(chunk.token(lane, position)) == padding;
        if self.architecture.reads != Reads::Mean || !is_padding(read) {
            return read;
        }
        let mut held = (0..self.architecture.positions).rev();
        held.find(|&position| !is_padding(position)).unwrap_or(read)
    }
}
