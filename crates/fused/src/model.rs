//! A model that can be trained and asked.

use alloc::vec;
use alloc::vec::Vec;

use crate::adam::{Adam, Moments};
use crate::instructions::{Body, Instructions};
use crate::kernel::{Any, Block, Constants, Fixed, Kernel, Scratch, Size};
use crate::lanes::{LANES, sqrt};
use crate::shape::{InvalidShape, Layout, Parameter, Shape};

/// Samples to learn from, or to be asked about.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// Row-major tokens, `[CLS]` = 0 first in each sample. `[sample, position]`
    pub tokens: &'a [u32],
    /// Whether each sample is positive. `[sample]`
    pub labels: &'a [bool],
}

impl<'a> Samples<'a> {
    #[inline(always)]
    fn block(self, samples: &'a [u32]) -> Block<'a> {
        Block {
            tokens: self.tokens,
            labels: self.labels,
            samples,
        }
    }
}

/// What a model says of some samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Log-odds of the positive class. `[sample]`
    pub logits: Vec<f32>,
    /// Probability of the positive class. `[sample]`
    pub probabilities: Vec<f32>,
    /// Binary cross-entropy with the sample's label, in nats. `[sample]`
    pub losses: Vec<f32>,
    /// Attention of `[CLS]`, after the softmax. `[sample, head, key]`
    pub attention: Vec<f32>,
}

/// The gradient of a batch's loss, and what Adam takes for its square.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// Mean binary cross-entropy of the batch.
    pub loss: f32,
    /// For each parameter, in their order.
    pub values: Vec<f32>,
    /// The squares that enter Adam's second moment, in the same order.
    pub squares: Vec<f32>,
}

/// All that a model's next steps depend on, in the order in which the crate's documentation lists
/// parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The parameters.
    pub parameters: Vec<f32>,
    /// Adam's mean of gradients, for each parameter.
    pub first: Vec<f32>,
    /// Adam's mean of squared gradients, for each parameter.
    pub second: Vec<f32>,
    /// Steps taken.
    pub steps: u32,
}

/// A one-block classifier with the state of its training.
#[derive(Clone, Debug)]
pub struct Model {
    layout: Layout,
    constants: Constants,
    instructions: Instructions,
    adam: Adam,
    /// Padded rows, like all below.
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    /// Of the token embedding's gradient, occurrence by occurrence; empty if the sums are squared.
    squares: Vec<f32>,
    moments: Moments,
    scratch: Scratch,
}

impl Model {
    /// A model with these parameters, in the order in which the crate's documentation lists them.
    ///
    /// # Errors
    /// When there is no model of this shape.
    ///
    /// # Panics
    /// When there are not [`Shape::parameter_count`] parameters.
    pub fn new(
        shape: Shape,
        layer_norm_eps: f32,
        adam: Adam,
        parameters: &[f32],
    ) -> Result<Self, InvalidShape> {
        let layout = Layout::new(shape.validate()?);
        let count = shape.parameter_count();
        assert!(
            parameters.len() == count,
            "{shape:?} has {count} parameters"
        );
        let squares = if adam.per_occurrence {
            layout.range(Parameter::Tokens).len()
        } else {
            0
        };
        Ok(Self {
            layout,
            constants: Constants {
                layer_norm_eps,
                scale: 1.0 / sqrt((shape.d_model / shape.n_heads) as f32),
            },
            instructions: Instructions::best(),
            adam,
            parameters: layout.pack(parameters),
            gradient: vec![0.0; layout.len()],
            squares: vec![0.0; squares],
            moments: Moments::new(layout.len()),
            scratch: Scratch::new(layout),
        })
    }

    /// The same model with products of queries and keys multiplied by `scale` instead of
    /// `1 / sqrt(d_head)`.
    #[must_use]
    pub fn with_scale(mut self, scale: f32) -> Self {
        self.constants.scale = scale;
        self
    }

    /// The same model, computed with other instructions. No result depends on them.
    ///
    /// # Panics
    /// When this machine does not have them.
    #[must_use]
    pub fn with_instructions(mut self, instructions: Instructions) -> Self {
        assert!(
            instructions.available(),
            "this machine has no {instructions:?}"
        );
        self.instructions = instructions;
        self
    }

    /// The parameters, in the order in which the crate's documentation lists them.
    pub fn parameters(&self) -> Vec<f32> {
        self.layout.unpack(&self.parameters)
    }

    /// What training has made of the model so far.
    pub fn state(&self) -> State {
        State {
            parameters: self.parameters(),
            first: self.layout.unpack(&self.moments.first),
            second: self.layout.unpack(&self.moments.second),
            steps: self.moments.steps,
        }
    }

    /// Goes on from a state: the steps from here on give the same bytes as those that followed it
    /// where it was taken.
    ///
    /// # Panics
    /// When a part of the state does not have [`Shape::parameter_count`] numbers.
    pub fn restore(&mut self, state: &State) {
        let count = self.layout.shape.parameter_count();
        for part in [&state.parameters, &state.first, &state.second] {
            assert!(part.len() == count, "the model has {count} parameters");
        }
        self.parameters = self.layout.pack(&state.parameters);
        self.moments = Moments::after(
            state.steps,
            &self.adam,
            self.layout.pack(&state.first),
            self.layout.pack(&state.second),
        );
        self.scratch.prepared = false;
    }

    /// Takes one step of Adam on a batch; returns the batch's mean loss before it.
    ///
    /// # Panics
    /// When `batch` is empty, names a sample that there is not, or a sample is not of this model's
    /// vocabulary and length.
    pub fn step(&mut self, samples: Samples<'_>, batch: &[u32]) -> f32 {
        self.check(samples, batch);
        self.dispatch(Step { samples, batch })
    }

    /// The gradient of a batch's loss; parameters stay as they are.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn gradient(&mut self, samples: Samples<'_>, batch: &[u32]) -> Gradient {
        self.check(samples, batch);
        let loss = self.dispatch(Differentiate { samples, batch });
        let values = self.layout.unpack(&self.gradient);
        let mut squares: Vec<f32> = self.gradient.iter().map(|g| g * g).collect();
        squares[..self.squares.len()].copy_from_slice(&self.squares);
        self.gradient.fill(0.0);
        self.squares.fill(0.0);
        Gradient {
            loss,
            values,
            squares: self.layout.unpack(&squares),
        }
    }

    /// What the model says of some samples; `answers` is written over.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn ask(&mut self, samples: Samples<'_>, chosen: &[u32], answers: &mut Answers) {
        self.check(samples, chosen);
        answers.logits.clear();
        answers.probabilities.clear();
        answers.losses.clear();
        answers.attention.clear();
        self.dispatch(Ask {
            samples,
            chosen,
            answers,
        });
    }

    /// Checks all but the range of tokens, which kernels meet in any case.
    fn check(&self, samples: Samples<'_>, chosen: &[u32]) {
        let positions = self.layout.shape.positions;
        assert!(!chosen.is_empty(), "a batch needs a sample");
        assert!(
            samples.tokens.len() == samples.labels.len() * positions,
            "samples have {positions} tokens each"
        );
        for &sample in chosen {
            let first = samples.tokens[sample as usize * positions];
            assert!(first == 0, "the first token of a sample is [CLS] = 0");
        }
    }

    fn dispatch<T: Task>(&mut self, task: T) -> T::Output {
        let instructions = self.instructions;
        let shape = self.layout.shape;
        match (shape.d_model, shape.n_heads) {
            (4, 1) => instructions.run(Sized::<_, _, 4>(self, task, Fixed::<4>)),
            (8, 1) => instructions.run(Sized::<_, _, 8>(self, task, Fixed::<8>)),
            (16, 1) => instructions.run(Sized::<_, _, 8>(self, task, Fixed::<16>)),
            (32, 1) => instructions.run(Sized::<_, _, 8>(self, task, Fixed::<32>)),
            (4, _) => instructions.run(Sized::<_, _, 4>(self, task, Any(self.layout))),
            _ => instructions.run(Sized::<_, _, 8>(self, task, Any(self.layout))),
        }
    }
}

/// Something to compute with a model.
trait Task {
    type Output;
    fn run<S: Size, const TILE: usize>(self, model: &mut Model, size: S) -> Self::Output;
}

/// A task for a model whose rows have a size that the compiler may know.
struct Sized<'a, T, S, const TILE: usize>(&'a mut Model, T, S);

impl<T: Task, S: Size, const TILE: usize> Body for Sized<'_, T, S, TILE> {
    type Output = T::Output;

    #[inline(always)]
    fn run(self) -> T::Output {
        self.1.run::<S, TILE>(self.0, self.2)
    }
}

struct Step<'a> {
    samples: Samples<'a>,
    batch: &'a [u32],
}

impl Task for Step<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<S: Size, const TILE: usize>(self, model: &mut Model, size: S) -> f32 {
        let loss = Differentiate {
            samples: self.samples,
            batch: self.batch,
        }
        .run::<S, TILE>(model, size);
        model.moments.update(
            &model.adam,
            &mut model.parameters,
            &mut model.gradient,
            &mut model.squares,
        );
        model.scratch.prepared = false;
        loss
    }
}

/// Leaves the gradient in the model.
struct Differentiate<'a> {
    samples: Samples<'a>,
    batch: &'a [u32],
}

impl Task for Differentiate<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<S: Size, const TILE: usize>(self, model: &mut Model, size: S) -> f32 {
        let share = 1.0 / self.batch.len() as f32;
        let per_occurrence = model.adam.per_occurrence;
        let mut kernel = Kernel::<S, TILE>::new(
            size,
            model.layout,
            model.constants,
            &model.parameters,
            &mut model.scratch,
        );
        let mut loss = 0.0;
        for samples in self.batch.chunks(LANES) {
            let block = self.samples.block(samples);
            kernel.forward(block);
            for lane in 0..samples.len() {
                loss += kernel.scratch.losses[lane];
            }
            let squares = per_occurrence.then_some(&mut model.squares[..]);
            kernel.backward(block, share, &mut model.gradient, squares);
        }
        kernel.finish(&mut model.gradient);
        loss * share
    }
}

struct Ask<'a> {
    samples: Samples<'a>,
    chosen: &'a [u32],
    answers: &'a mut Answers,
}

impl Task for Ask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Size, const TILE: usize>(self, model: &mut Model, size: S) {
        let mut kernel = Kernel::<S, TILE>::new(
            size,
            model.layout,
            model.constants,
            &model.parameters,
            &mut model.scratch,
        );
        for samples in self.chosen.chunks(LANES) {
            let block = self.samples.block(samples);
            kernel.forward(block);
            let scratch = &*kernel.scratch;
            let lanes = samples.len();
            self.answers
                .logits
                .extend_from_slice(&scratch.logits[..lanes]);
            self.answers
                .probabilities
                .extend_from_slice(&scratch.probabilities[..lanes]);
            self.answers
                .losses
                .extend_from_slice(&scratch.losses[..lanes]);
            let count = scratch.weights.len();
            let start = self.answers.attention.len();
            self.answers.attention.resize(start + lanes * count, 0.0);
            let rows = self.answers.attention[start..].chunks_exact_mut(count);
            for (lane, row) in rows.enumerate() {
                for (value, weights) in row.iter_mut().zip(&scratch.weights) {
                    *value = weights[lane];
                }
            }
        }
    }
}
