//! Classifiers of any number of blocks: forward and backward pass from pieces, each with its derivative.
//!
//! Each piece is compiled by itself for each set of instructions. Compiled as one, the passes took minutes.
//!
//! # What was tried
//!
//! - Tiles of three rows in the products of matrices: they need more registers than AVX2 has.
//! - Products for a `d_model` of 16 or heads of 8 that the compiler knows: no gain.
//! - AVX-512 with eight lanes: a small gain. Sixteen lanes are up to twice as fast, where products name its instructions: of
//!   plain loops the compiler makes pairs of short vectors.
//! - Loops over lanes whose turns the compiler takes side by side, and transposes all that they read and write: five times
//!   as slow. `one_at_a_time` and flat slices prevent it.
//! - Rows of gradients that are kept an odd number of cache lines apart, and tiles of four inputs that hold the sums of many
//!   passes in registers: no gain.
//! - Smaller tiles of queries, which the first cache would hold: no gain. The exponential takes longer than the memory.

mod additions;
mod attention;
mod backward;
mod batch;
mod elements;
mod embedding;
mod forward;
mod hidden;
mod kernel;
mod loss;
mod norm;
mod pass;
mod predictions;
mod probe;
mod read_row;
mod readout;
mod rotate;
mod softmax;
mod sublayers;
mod values;
mod worker;

use crate::aligned::Aligned;
use crate::architecture::Architecture;
use crate::chunk::Chunk;
use crate::instructions::Instructions;
use crate::lanes::{Lanes, ZERO};
use crate::places::Places;
use crate::samples::{Predictions, Samples};
use crate::sums::Sums;
use crate::training::CrossEntropy;
use additions::When;
use pass::Plan;
pub(crate) use probe::{Probe, Site};
use worker::Worker;

/// The place of the parameters in memory, and what the threads that compute passes have of their own.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    plan: Plan,
    /// One at least.
    workers: Vec<Worker>,
    /// Where each thread's part of the gradient starts, and the end of the last one.
    parts: Vec<usize>,
    /// Numbers that a pass keeps where its rows are added later; 0 before the first one.
    kept_per_pass: usize,
}

impl Blocks {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        Self {
            plan: Plan {
                places: Places::new(architecture),
                architecture: architecture.clone(),
                cross_entropy: CrossEntropy::default(),
            },
            workers: vec![Worker::new(architecture)],
            parts: Vec::new(),
            kept_per_pass: 0,
        }
    }

    /// The same with another loss.
    pub(crate) fn with_loss(mut self, cross_entropy: CrossEntropy) -> Self {
        self.plan.cross_entropy = cross_entropy;
        self
    }

    /// Fills the places that no parameter has of its own, after the parameters have changed.
    pub(crate) fn complete(&self, parameters: &mut [f32]) {
        self.plan.places.complete(parameters);
    }

    /// The place of each parameter.
    pub(crate) fn places(&self) -> &Places {
        &self.plan.places
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
        let positions = self.plan.architecture.inputs.positions;
        // The probe may change the mask.
        let Worker { values, .. } = &mut self.workers[0];
        if values.may.is_empty() {
            values.may = Aligned::zeros(positions * positions);
        }
        let chunk = Chunk::of(samples, chosen, positions);
        let sums = Sums::whole(&mut []);
        let mut pass = self.workers[0].pass(&self.plan, Instructions::best(), parameters, sums);
        pass.probe = Some(probe);
        pass.forward(chunk, true);
        pass.append(chunk, true, predictions);
    }

    /// The gradient of a sum of logits by the first block's input, for up to eight samples, and the logits. Each logit counts as
    /// often as `slopes` says. `[position, d_model]`, in padded rows
    ///
    /// A probe may give the inputs. Without one, the gradient is that by the embedding of the token at each position. With
    /// `holds_weights`, the attention weights count as constants.
    pub(crate) fn input_gradient(
        &mut self,
        parameters: &[f32],
        (samples, chosen): (Samples<'_>, &[u32]),
        slopes: &[Lanes],
        holds_weights: bool,
        probe: Option<&mut dyn Probe>,
    ) -> (&[Lanes], &[Lanes]) {
        let chunk = Chunk::of(samples, chosen, self.plan.architecture.inputs.positions);
        self.workers[0].additions.when = When::Never;
        let sums = Sums::whole(&mut []);
        let mut pass = self.workers[0].pass(&self.plan, Instructions::best(), parameters, sums);
        let is_of_tokens = probe.is_none();
        pass.holds_weights = holds_weights;
        if let Some(probe) = probe {
            pass.probe = Some(probe);
        }
        pass.forward(chunk, false);
        pass.values.d_logits.copy_from_slice(slopes);
        pass.backward();
        if is_of_tokens {
            pass.through_embedding_norm();
        }
        // Positions that were not computed change nothing.
        let computed = pass.kernel.p * pass.kernel.width;
        pass.values.d_stream[computed..].fill(ZERO);
        let values = &self.workers[0].values;
        (&values.d_stream, &values.logits)
    }
}
