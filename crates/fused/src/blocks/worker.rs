//! What a thread that computes passes has of its own.

use super::additions::Additions;
use super::pass::{Pass, Plan};
use super::values::Values;
use crate::architecture::Architecture;
use crate::chunk::Chunk;
use crate::instructions::Instructions;
use crate::lanes::{LANES, WIDE};
use crate::samples::Predictions;
use crate::sums::Sums;
use headlight_architecture::Reads;

/// The memory of a thread.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) values: Values<LANES>,
    /// Those of passes of more samples, once there was one.
    wide: Option<Values<WIDE>>,
    pub(super) additions: Additions,
    /// The losses of its samples of a batch.
    pub(super) losses: Vec<f32>,
    pub(super) predictions: Predictions,
}

/// Evaluates `body` with a pass that has lanes enough for a chunk.
macro_rules! in_pass {
    ($worker:expr, $plan:expr, $set:expr, $chunk:expr, $parameters:expr, $sums:expr, $pass:ident => $body:expr) => {
        if $set.is_wide() && $chunk.chosen.len() > LANES {
            let new = || Values::new(&$plan.architecture);
            let (values, additions) =
                ($worker.wide.get_or_insert_with(new), &mut $worker.additions);
            let mut $pass = Pass::new($plan, $set, $parameters, values, additions, $sums);
            $body
        } else {
            let mut $pass = $worker.pass($plan, $set, $parameters, $sums);
            $body
        }
    };
}

impl Worker {
    pub(super) fn new(architecture: &Architecture) -> Self {
        Self {
            values: Values::new(architecture),
            wide: None,
            additions: Additions::new(),
            losses: Vec::new(),
            predictions: Predictions::default(),
        }
    }

    /// A pass of up to eight samples.
    pub(super) fn pass<'a>(
        &'a mut self,
        plan: &'a Plan,
        set: Instructions,
        parameters: &'a [f32],
        sums: Sums<'a>,
    ) -> Pass<'a, LANES> {
        let (values, additions) = (&mut self.values, &mut self.additions);
        Pass::new(plan, set, parameters, values, additions, sums)
    }

    /// Adds the gradient of a chunk's losses, each of which counts as the share of its sample, and keeps the losses.
    pub(super) fn differentiate(
        &mut self,
        plan: &Plan,
        set: Instructions,
        parameters: &[f32],
        chunk: Chunk<'_>,
        share: f32,
        sums: Sums<'_>,
    ) {
        let mut losses = std::mem::take(&mut self.losses);
        in_pass!(self, plan, set, chunk, parameters, sums, pass => {
            pass.add_gradient(chunk, share, &mut losses);
        });
        self.losses = losses;
        self.additions.end_pass();
    }

    /// Appends the predictions for a chunk to those that the thread has.
    pub(super) fn predict(
        &mut self,
        plan: &Plan,
        set: Instructions,
        parameters: &[f32],
        chunk: Chunk<'_>,
    ) {
        let mut predictions = std::mem::take(&mut self.predictions);
        in_pass!(self, plan, set, chunk, parameters, Sums::whole(&mut []), pass => {
            pass.forward(chunk, false);
            pass.append(chunk, plan.architecture.reads != Reads::Position, &mut predictions);
        });
        self.predictions = predictions;
    }
}
