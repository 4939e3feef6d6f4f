//! The engine of any architecture: a batch, or samples to predict, divided among the passes of some threads.

use headlight_architecture::Readout;

use crate::aligned::Aligned;
use crate::architecture::Architecture;
use crate::chunk::Chunk;
use crate::dropout::StepDropout;
use crate::gradients::{GradientPart, MAX_PASSES_TOGETHER, Mode, add_kept};
use crate::hook::Hook;
use crate::instructions::Instructions;
use crate::kernel::Kernel;
use crate::lanes::{LANES, LANES_16, Lanes, ZERO};
use crate::parameters::ParameterLayout;
use crate::pass::PassPlan;
use crate::samples::{BatchPredictions, IGNORED, Samples};
use crate::team::Team;
use crate::training::CrossEntropy;
use crate::worker::Worker;

/// The places of the parameters in memory, and what the threads that compute passes have of their own.
#[derive(Clone, Debug)]
pub(crate) struct GeneralEngine {
    plan: PassPlan,
    /// One at least.
    workers: Vec<Worker>,
    /// Where each thread's part of the gradient starts, and the end of the last one.
    parts: Vec<usize>,
    /// Numbers that a pass keeps where its rows are added later; 0 before the first one.
    kept_per_pass: usize,
}

/// Numbers that a thread keeps of its passes: what the second cache holds beside other things.
const MAX_KEPT_NUMBERS: usize = 1 << 17;

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
        plan: &PassPlan,
        isa: Instructions,
        samples: Samples<'a>,
        chosen: &'a [u32],
        threads: usize,
    ) -> Self {
        let is_wide = isa.has_sixteen_lanes()
            && !plan.adds_repeatedly()
            && (threads == 1 || chosen.len() >= threads * LANES_16);
        Self {
            samples,
            chosen,
            lanes: if is_wide { LANES_16 } else { LANES },
            positions: plan.architecture.inputs.positions,
        }
    }

    fn len(&self) -> usize {
        self.chosen.len().div_ceil(self.lanes)
    }

    fn get(&self, index: usize) -> Chunk<'a> {
        let start = index * self.lanes;
        let end = self.chosen.len().min(start + self.lanes);
        Chunk {
            first: start as u32,
            ..Chunk::of(self.samples, &self.chosen[start..end], self.positions)
        }
    }
}

impl GeneralEngine {
    pub(crate) fn new(architecture: &Architecture, cross_entropy: CrossEntropy) -> Self {
        Self {
            plan: PassPlan {
                layout: ParameterLayout::new(architecture),
                architecture: architecture.clone(),
                cross_entropy,
                dropout: StepDropout::default(),
            },
            workers: vec![Worker::new(architecture)],
            parts: Vec::new(),
            kept_per_pass: 0,
        }
    }

    /// The place of each parameter.
    pub(crate) fn layout(&self) -> &ParameterLayout {
        &self.plan.layout
    }

    /// What the next batch to differentiate leaves out.
    pub(crate) fn set_dropout(&mut self, dropout: StepDropout) {
        self.plan.dropout = dropout;
    }

    /// Computes all rows of up to eight samples, with a hook, and appends their predictions.
    pub(crate) fn trace(
        &mut self,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        hook: &mut dyn Hook,
        predictions: &mut BatchPredictions,
    ) {
        let positions = self.plan.architecture.inputs.positions;
        let chunk = Chunk::of(samples, chosen, positions);
        let kernel = Kernel::new(&self.plan.architecture, Instructions::best(), parameters);
        let mut pass = self.workers[0].pass(&self.plan, kernel);
        // The hook may change the mask.
        if pass.values.mask.allowed.is_empty() {
            pass.values.mask.allowed = Aligned::zeros(positions * positions);
        }
        pass.hook = Some(hook);
        pass.forward(chunk, true);
        pass.append(chunk, true, predictions);
    }

    /// The gradient of a sum of logits by the first layer's input, for up to eight samples, and the logits. Each logit counts as
    /// often as `slopes` says. `[position, d_model]`, in padded rows
    ///
    /// The gradient comes first, then the logits of all answers, `[logit]`. A hook may give the inputs. Without one, the gradient
    /// is that by the embedding of the token at each position. With `holds_weights`, the attention weights count as constants.
    pub(crate) fn input_gradient(
        &mut self,
        parameters: &[f32],
        (samples, chosen): (Samples<'_>, &[u32]),
        slopes: &[Lanes],
        holds_weights: bool,
        hook: Option<&mut dyn Hook>,
    ) -> (&[Lanes], &[Lanes]) {
        let chunk = Chunk::of(samples, chosen, self.plan.architecture.inputs.positions);
        let kernel = Kernel::new(&self.plan.architecture, Instructions::best(), parameters);
        let mut pass = self.workers[0].pass(&self.plan, kernel);
        let is_of_tokens = hook.is_none();
        pass.holds_weights = holds_weights;
        if let Some(hook) = hook {
            pass.hook = Some(hook);
        }
        pass.forward(chunk, false);
        pass.values.answers.d_logits.copy_from_slice(slopes);
        pass.backward();
        if is_of_tokens {
            pass.backward_embedding_norm();
        }
        // Positions that were not computed change nothing.
        let computed = pass.positions * pass.kernel.sizes.width;
        pass.values.d_layer.stream[computed..].fill(ZERO);
        let values = &self.workers[0].values;
        (&values.d_layer.stream, &values.answers.logits)
    }

    /// Adds the gradient of a batch's mean loss; returns that loss.
    pub(crate) fn differentiate(
        &mut self,
        team: &impl Team,
        isa: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        batch: &[u32],
        mut gradient: GradientPart<'_>,
    ) -> f32 {
        let share = 1.0 / self.counted(samples, batch).max(1) as f32;
        let chunks = Chunks::new(&self.plan, isa, samples, batch, team.threads());
        let threads = team.threads().min(chunks.len());
        self.prepare(threads);
        let kernel = Kernel::new(&self.plan.architecture, isa, parameters);
        let mut loss = 0.0;
        let mut start = 0;
        while start < chunks.len() {
            let passes = self
                .passes_at_once()
                .min((chunks.len() - start).div_ceil(threads));
            let count = (threads * passes).min(chunks.len() - start);
            // A page has no threads, so its module leaves out the code that shares work among them. Elsewhere the first step keeps
            // its passes: until then `kept_per_pass` is 0, and the number of passes that suit the cache is unknown.
            let at_once = cfg!(target_arch = "wasm32")
                || threads == 1 && passes == 1 && self.kept_per_pass > 0;
            let Self {
                plan,
                workers,
                parts,
                kept_per_pass,
            } = self;
            let work = |thread: usize, worker: &mut Worker, part: &mut GradientPart<'_>| {
                worker.terms.clear();
                worker.terms.mode = if at_once { Mode::AddNow } else { Mode::Keep };
                worker.losses.clear();
                for index in (thread..count).step_by(threads) {
                    let chunk = chunks.get(start + index);
                    worker.train(plan, kernel, chunk, share, part.borrowed());
                }
            };
            if at_once {
                work(0, &mut workers[0], &mut gradient);
            } else {
                let workers = &mut workers[..threads];
                team.each(workers, |thread, worker| {
                    work(thread, worker, &mut GradientPart::none());
                });
                let workers = &*workers;
                let pass = |index: usize| (&workers[index % threads].terms, index / threads);
                let mut gradient_parts = gradient.divided(parts);
                let together = plan.passes_together();
                team.each(&mut gradient_parts, |_, part| {
                    add_kept(isa, count, together, pass, part);
                });
                *kept_per_pass = workers[0].terms.len() / count.div_ceil(threads);
            }
            for index in 0..count {
                let losses = &workers[index % threads].losses[index / threads * chunks.lanes..];
                let chunk_losses = &losses[..chunks.get(start + index).chosen.len()];
                for sample_loss in chunk_losses {
                    loss += sample_loss;
                }
            }
            start += count;
        }
        self.plan.layout.collect(gradient.gradient);
        loss * share
    }

    /// Replaces the predictions by those for some samples.
    pub(crate) fn predict(
        &mut self,
        team: &impl Team,
        isa: Instructions,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        predictions: &mut BatchPredictions,
    ) {
        let chunks = Chunks::new(&self.plan, isa, samples, chosen, team.threads());
        let threads = team.threads().min(chunks.len());
        self.prepare(threads);
        let Self { plan, workers, .. } = self;
        let kernel = Kernel::new(&plan.architecture, isa, parameters);
        std::mem::swap(&mut workers[0].predictions, predictions);
        team.each(&mut workers[..threads], |thread, worker| {
            worker.predictions.clear();
            let share = |thread: usize| thread * chunks.len() / threads;
            for index in share(thread)..share(thread + 1) {
                worker.predict(plan, kernel, chunks.get(index));
            }
        });
        std::mem::swap(&mut workers[0].predictions, predictions);
        for worker in &mut workers[1..threads] {
            predictions.append(&mut worker.predictions);
        }
    }

    /// Memory for some threads.
    fn prepare(&mut self, threads: usize) {
        let (architecture, layout) = (&self.plan.architecture, &self.plan.layout);
        while self.workers.len() < threads {
            self.workers.push(Worker::new(architecture));
        }
        if !cfg!(target_arch = "wasm32") && self.parts.len() != threads + 1 {
            // The last layer may compute one row alone.
            let last = layout
                .layers
                .last()
                .map(|layer| layer.output.weight.range().start);
            let last = last.filter(|_| architecture.readout == Readout::Position);
            self.parts = layout.parts(threads, |matrix| {
                if last.is_some_and(|last| matrix.range().start >= last) {
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
            numbers => (MAX_KEPT_NUMBERS / numbers).clamp(1, MAX_PASSES_TOGETHER),
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
