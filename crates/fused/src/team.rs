//! Threads that share the work on a batch.

use crate::architecture::Architecture;
use crate::instructions::Instructions;
use crate::lanes::{LANES, LANES_16};
use crate::training::TrainingSettings;
use headlight_architecture::Readout;

/// Some threads. What is computed does not depend on their number.
pub trait Team: Sync {
    /// How many threads there are.
    fn threads(&self) -> usize;

    /// Does some work on each part, which has its own place among the parts, and returns when all of it is done.
    fn each<T: Send>(&self, parts: &mut [T], work: impl Fn(usize, &mut T) + Sync);
}

impl Architecture {
    /// How many of some threads make a step on a batch faster. To start and to end what they share takes some microseconds.
    pub fn threads_that_pay(
        &self,
        training: &TrainingSettings,
        batch: usize,
        threads: usize,
    ) -> usize {
        if self.is_notebook() && training.suits_notebook() {
            return 1;
        }
        let (d, heads) = (self.model.d_model, self.heads_width());
        let row = 4 * d * heads + 2 * self.inputs.positions * heads + 2 * d * self.model.d_ff;
        let rows = match self.readout {
            Readout::Position => (self.model.n_layers - 1) * self.inputs.positions + 1,
            Readout::Mean | Readout::Every => self.model.n_layers * self.inputs.positions,
        };
        // A multiplication and an addition each; as many backward by the inputs, and by the weights.
        let operations = 6 * batch * (rows * row + self.answers() * d * self.n_logits());
        // Passes of half the lanes take as long for products of parameters, and are shorter where attention takes most of the time.
        let is_wide = Instructions::best().has_sixteen_lanes() && self.inputs.positions < 2 * d;
        threads
            .min(batch / if is_wide { LANES_16 } else { LANES })
            .min(operations / OPERATIONS)
            .max(1)
    }
}

/// The fewest operations of a step per thread: with fewer, starting and ending a thread costs more time than it saves.
const OPERATIONS: usize = 1_500_000;

/// The calling thread alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleThread;

impl Team for SingleThread {
    fn threads(&self) -> usize {
        1
    }

    fn each<T: Send>(&self, parts: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        for (index, part) in parts.iter_mut().enumerate() {
            work(index, part);
        }
    }
}
