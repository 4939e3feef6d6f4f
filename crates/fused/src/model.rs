//! A model, its training and its predictions.

use alloc::vec;
use alloc::vec::Vec;

use crate::adam::{Adam, Moments};
use crate::instructions::{Body, Instructions};
use crate::kernel::{AnySize, Block, Constants, FixedSize, Kernel, Scratch, Size};
use crate::lanes::{LANES, sqrt};
use crate::shape::{InvalidShape, Layout, Parameter, Shape};

/// Samples to train on or to predict.
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

/// What a model predicts for some samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// Log-odds of the positive class. `[sample]`
    pub logits: Vec<f32>,
    /// Probability of the positive class. `[sample]`
    pub probabilities: Vec<f32>,
    /// Binary cross-entropy with the sample's label, in nats. `[sample]`
    pub losses: Vec<f32>,
    /// Attention of `[CLS]`, after the softmax. `[sample, head, key]`
    pub attention: Vec<f32>,
}

/// The gradient of a batch's loss, and the squares that Adam uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// Mean binary cross-entropy of the batch.
    pub loss: f32,
    /// One number per parameter, in their order.
    pub values: Vec<f32>,
    /// The squares for Adam's second moment, in the same order.
    pub squares: Vec<f32>,
}

/// Everything that a model's next steps depend on. Parameters have the order of the crate's
/// documentation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The parameters.
    pub parameters: Vec<f32>,
    /// Adam's mean of gradients, for each parameter.
    pub first: Vec<f32>,
    /// Adam's mean of squared gradients, for each parameter.
    pub second: Vec<f32>,
    /// Number of steps taken.
    pub steps: u32,
}

/// A one-block classifier and the state of its training.
#[derive(Clone, Debug)]
pub struct Model {
    layout: Layout,
    constants: Constants,
    instructions: Instructions,
    adam: Adam,
    /// In padded rows, like the vectors below.
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    /// The squared gradients of each occurrence of a token; empty if Adam squares their sums.
    squares: Vec<f32>,
    moments: Moments,
    scratch: Scratch,
}

impl Model {
    /// A model with these parameters, in the order of the crate's documentation.
    ///
    /// # Errors
    /// When the shape is invalid.
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
            "{shape:?} has {count} parameters, not {}",
            parameters.len()
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

    /// The same model, but products of queries and keys are multiplied by `scale` instead of
    /// `1 / sqrt(d_head)`.
    #[must_use]
    pub fn with_scale(mut self, scale: f32) -> Self {
        self.constants.scale = scale;
        self
    }

    /// The same model, computed with other instructions. They change no result.
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

    /// The parameters, in the order of the crate's documentation.
    pub fn parameters(&self) -> Vec<f32> {
        self.layout.unpack(&self.parameters)
    }

    /// The parameters and the state of training.
    pub fn state(&self) -> State {
        State {
            parameters: self.parameters(),
            first: self.layout.unpack(&self.moments.first),
            second: self.layout.unpack(&self.moments.second),
            steps: self.moments.steps,
        }
    }

    /// Resumes from a state: the next steps give the same bytes as they would have in the model that
    /// the state was taken from.
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
    /// When `batch` is empty or holds an index out of range, or when a sample does not have this
    /// model's vocabulary and length.
    pub fn step(&mut self, samples: Samples<'_>, batch: &[u32]) -> f32 {
        self.check(samples, batch);
        let loss = self.dispatch(Differentiate { samples, batch });
        let instructions = self.instructions;
        instructions.run(Update(self));
        loss
    }

    /// The gradient of a batch's loss. Does not change the parameters.
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

    /// Predicts some samples; replaces what `predictions` held.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn predict(&mut self, samples: Samples<'_>, chosen: &[u32], predictions: &mut Predictions) {
        self.check(samples, chosen);
        predictions.logits.clear();
        predictions.probabilities.clear();
        predictions.losses.clear();
        predictions.attention.clear();
        self.dispatch(Predict {
            samples,
            chosen,
            predictions,
        });
    }

    /// Checks everything but the range of tokens, which the kernels check.
    fn check(&self, samples: Samples<'_>, chosen: &[u32]) {
        let positions = self.layout.shape.positions;
        assert!(!chosen.is_empty(), "the batch is empty");
        assert!(
            samples.tokens.len() == samples.labels.len() * positions,
            "the model's samples have {positions} tokens each"
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
            (4, 1) => instructions.run(SizedTask::<_, _, 4>(self, task, FixedSize::<4>)),
            (8, 1) => instructions.run(SizedTask::<_, _, 8>(self, task, FixedSize::<8>)),
            (16, 1) => instructions.run(SizedTask::<_, _, 8>(self, task, FixedSize::<16>)),
            (32, 1) => instructions.run(SizedTask::<_, _, 8>(self, task, FixedSize::<32>)),
            (4, _) => instructions.run(SizedTask::<_, _, 4>(self, task, AnySize(self.layout))),
            _ => instructions.run(SizedTask::<_, _, 8>(self, task, AnySize(self.layout))),
        }
    }
}

/// A computation with a model.
trait Task {
    type Output;
    fn run<S: Size, const TILE: usize>(self, model: &mut Model, size: S) -> Self::Output;
}

/// A task, and the size of the model's rows, which the compiler may know.
struct SizedTask<'a, T, S, const TILE: usize>(&'a mut Model, T, S);

impl<T: Task, S: Size, const TILE: usize> Body for SizedTask<'_, T, S, TILE> {
    type Output = T::Output;

    #[inline(always)]
    fn run(self) -> T::Output {
        self.1.run::<S, TILE>(self.0, self.2)
    }
}

/// Moves the parameters against the gradient that the model holds. One copy serves all sizes of rows.
struct Update<'a>(&'a mut Model);

impl Body for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let model = self.0;
        model.moments.update(
            &model.adam,
            &mut model.parameters,
            &mut model.gradient,
            &mut model.squares,
        );
        model.scratch.prepared = false;
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

struct Predict<'a> {
    samples: Samples<'a>,
    chosen: &'a [u32],
    predictions: &'a mut Predictions,
}

impl Task for Predict<'_> {
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
            self.predictions
                .logits
                .extend_from_slice(&scratch.logits[..lanes]);
            self.predictions
                .probabilities
                .extend_from_slice(&scratch.probabilities[..lanes]);
            self.predictions
                .losses
                .extend_from_slice(&scratch.losses[..lanes]);
            let count = scratch.weights.len();
            let start = self.predictions.attention.len();
            self.predictions
                .attention
                .resize(start + lanes * count, 0.0);
            let rows = self.predictions.attention[start..].chunks_exact_mut(count);
            for (lane, row) in rows.enumerate() {
                for (value, weights) in row.iter_mut().zip(&scratch.weights) {
                    *value = weights[lane];
                }
            }
        }
    }
}
