//! What a thread that computes passes has of its own.

use crate::architecture::Architecture;
use crate::chunk::Chunk;
use crate::gradients::{GradientPart, Mode, Terms};
use crate::kernel::Kernel;
use crate::lanes::{LANES, LANES_16};
use crate::pass::{Pass, PassPlan};
use crate::samples::BatchPredictions;
use crate::values::Values;

/// The memory of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) values: Values<LANES>,
    /// Those of passes of more samples, once there was one.
    wide: Option<Values<LANES_16>>,
    pub(crate) terms: Terms,
    /// The losses of its samples of a batch.
    pub(crate) losses: Vec<f32>,
    pub(crate) predictions: BatchPredictions,
}

impl Worker {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        Self {
            values: Values::new(architecture),
            wide: None,
            terms: Terms::new(),
            losses: Vec::new(),
            predictions: BatchPredictions::default(),
        }
    }

    /// A pass of up to eight samples, whose gradients of parameters are not wanted.
    pub(crate) fn pass<'a>(
        &'a mut self,
        plan: &'a PassPlan,
        kernel: Kernel<'a>,
    ) -> Pass<'a, LANES> {
        self.terms.mode = Mode::Skip;
        let part = GradientPart::none();
        Pass::new(plan, kernel, &mut self.values, &mut self.terms, part)
    }

    /// Adds the gradient of a chunk's losses, each of which counts as the share of its sample, and keeps the losses.
    pub(crate) fn train(
        &mut self,
        plan: &PassPlan,
        kernel: Kernel<'_>,
        chunk: Chunk<'_>,
        share: f32,
        part: GradientPart<'_>,
    ) {
        if kernel.isa.has_sixteen_lanes() && chunk.chosen.len() > LANES {
            let values = self
                .wide
                .get_or_insert_with(|| Values::new(&plan.architecture));
            let mut pass = Pass::new(plan, kernel, values, &mut self.terms, part);
            pass.train(plan.dropout, chunk, share, &mut self.losses);
        } else {
            let mut pass = Pass::new(plan, kernel, &mut self.values, &mut self.terms, part);
            pass.train(plan.dropout, chunk, share, &mut self.losses);
        }
        self.terms.end_pass();
    }

    /// Appends the predictions for a chunk to those that the thread has.
    pub(crate) fn predict(&mut self, plan: &PassPlan, kernel: Kernel<'_>, chunk: Chunk<'_>) {
        let (part, predictions) = (GradientPart::none(), &mut self.predictions);
        if kernel.isa.has_sixteen_lanes() && chunk.chosen.len() > LANES {
            let values = self
                .wide
                .get_or_insert_with(|| Values::new(&plan.architecture));
            Pass::new(plan, kernel, values, &mut self.terms, part).predict(chunk, predictions);
        } else {
            let values = &mut self.values;
            Pass::new(plan, kernel, values, &mut self.terms, part).predict(chunk, predictions);
        }
    }
}
