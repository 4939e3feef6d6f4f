//! A batch, or samples to predict, divided among the passes of some threads.

use super::Blocks;
use super::additions::{GROUP, When, add};
use super::pass::Plan;
use super::worker::Worker;
use crate::chunk::Chunk;
use crate::instructions::Instructions;
use crate::lanes::{LANES, WIDE};
use crate::samples::{IGNORED, Predictions, Samples};
use crate::sums::Sums;
use crate::team::Team;
use headlight_architecture::Reads;

/// Numbers that a thread keeps of its passes: what the second cache holds beside other things.
const KEPT: usize = 1 << 17;

/// Samples in chunks of a size.
#[derive(Clone, Copy)]
struct Chunks<'a> {
    samples: Samples<'a>,
    chosen: &'a [u32],
    lanes: usize,
    positions: usize,
}

impl<'a> Chunks<'a> {
    /// As large as the vectors are, and at least one for each thread where that can be.
    fn new(
        plan: &Plan,
        set: Instructions,
        samples: Samples<'a>,
        chosen: &'a [u32],
        threads: usize,
    ) -> Self {
        let is_wide = set.is_wide()
            && !plan.adds_repeatedly()
            && (threads == 1 || chosen.len() >= threads * WIDE);
        Self {
            samples,
            chosen,
            lanes: if is_wide { WIDE } else { LANES },
            positions: plan.architecture.inputs.positions,
        }
    }

    fn len(&self) -> usize {
        self.chosen.len().div_ceil(self.lanes)
    }

    fn get(&self, index: usize) -> Chunk<'a> {
        let start = index * self.lanes;
        let end = self.chosen.len().min(start + self.lanes);
        Chunk::of(self.samples, &self.chosen[start..end], self.positions)
    }
}

impl Blocks {
    /// Adds the gradient of a batch's mean loss; returns that loss.
    pub(crate) fn differentiate(
        &mut self,
        team: &impl Team,
        set: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        batch: &[u32],
        mut sums: Sums<'_>,
    ) -> f32 {
        let share = 1.0 / self.counted(samples, batch).max(1) as f32;
        let chunks = Chunks::new(&self.plan, set, samples, batch, team.threads());
        let threads = team.threads().min(chunks.len());
        self.prepare(threads);
        let mut loss = 0.0;
        let mut start = 0;
        while start < chunks.len() {
            let passes = self
                .passes_at_once()
                .min((chunks.len() - start).div_ceil(threads));
            let count = (threads * passes).min(chunks.len() - start);
            // A page carries this module with it: it has no threads, and no code for what they share.
            let at_once = cfg!(target_arch = "wasm32")
                || threads == 1 && passes == 1 && self.kept_per_pass > 0;
            let Self {
                plan,
                workers,
                parts,
                kept_per_pass,
            } = self;
            let work = |thread: usize, worker: &mut Worker, sums: &mut Sums<'_>| {
                worker.additions.clear();
                worker.additions.when = if at_once { When::AtOnce } else { When::Later };
                worker.losses.clear();
                for index in (thread..count).step_by(threads) {
                    let chunk = chunks.get(start + index);
                    worker.differentiate(plan, set, parameters, chunk, share, sums.borrowed());
                }
            };
            if at_once {
                work(0, &mut workers[0], &mut sums);
            } else {
                let workers = &mut workers[..threads];
                team.each(workers, |thread, worker| {
                    work(thread, worker, &mut Sums::whole(&mut []));
                });
                let workers = &*workers;
                let pass = |index: usize| (&workers[index % threads].additions, index / threads);
                let mut own = sums.divided(parts);
                let group = if plan.adds_repeatedly() { 1 } else { GROUP };
                team.each(&mut own, |_, sums| add(set, count, group, pass, sums));
                *kept_per_pass = workers[0].additions.len() / count.div_ceil(threads);
            }
            for index in 0..count {
                let losses = &workers[index % threads].losses[index / threads * chunks.lanes..];
                let own = &losses[..chunks.get(start + index).chosen.len()];
                for own in own {
                    loss += own;
                }
            }
            start += count;
        }
        self.plan.places.collect(sums.gradient);
        loss * share
    }

    /// Replaces the predictions by those for some samples.
    pub(crate) fn predict(
        &mut self,
        team: &impl Team,
        set: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        predictions: &mut Predictions,
    ) {
        let chunks = Chunks::new(&self.plan, set, samples, chosen, team.threads());
        let threads = team.threads().min(chunks.len());
        self.prepare(threads);
        let Self { plan, workers, .. } = self;
        std::mem::swap(&mut workers[0].predictions, predictions);
        team.each(&mut workers[..threads], |thread, worker| {
            worker.predictions.clear();
            let share = |thread: usize| thread * chunks.len() / threads;
            for index in share(thread)..share(thread + 1) {
                worker.predict(plan, set, parameters, chunks.get(index));
            }
        });
        std::mem::swap(&mut workers[0].predictions, predictions);
        for worker in &mut workers[1..threads] {
            predictions.append(&mut worker.predictions);
        }
    }

    /// Memory for some threads.
    fn prepare(&mut self, threads: usize) {
        let (architecture, places) = (&self.plan.architecture, &self.plan.places);
        while self.workers.len() < threads {
            self.workers.push(Worker::new(architecture));
        }
        if !cfg!(target_arch = "wasm32") && self.parts.len() != threads + 1 {
            // The last block may compute one row alone.
            let last = places
                .blocks
                .last()
                .map_or(0, |block| block.output.weight.range().start);
            let reads_one = architecture.reads == Reads::Position;
            self.parts = places.parts(threads, |matrix| {
                if reads_one && matrix.range().start >= last {
                    1
                } else {
                    architecture.inputs.positions
                }
            });
        }
    }

    /// How many passes a thread computes before their rows are added: one, as long as the rows of a pass are unknown.
    fn passes_at_once(&self) -> usize {
        match self.kept_per_pass {
            0 => 1,
            _ if cfg!(target_arch = "wasm32") => 1,
            numbers => (KEPT / numbers).clamp(1, GROUP),
        }
    }

    /// What a batch's loss is the mean over: its samples, or the positions that count.
    fn counted(&self, samples: Samples<'_>, batch: &[u32]) -> usize {
        let answers = self.plan.architecture.answers();
        if !self.plan.architecture.inputs.per_position {
            return batch.len();
        }
        let counts = batch.iter().map(|&sample| {
            let labels = &samples.labels[sample as usize * answers..][..answers];
            let count = labels.iter().filter(|&&label| label != IGNORED).count();
            if self.plan.cross_entropy.per_sample {
                count.min(1)
            } else {
                count
            }
        });
        counts.sum()
    }
}
