//! Classifiers of any number of blocks: forward and backward pass from pieces, each with its derivative.

mod norm;
mod pass;
mod places;
mod products;
mod softmax;
mod values;

use alloc::vec;
use alloc::vec::Vec;

pub use places::{Architecture, Projections};

use crate::adam::{Adam, Moments};
use crate::instructions::{Body, Instructions};
use crate::lanes::LANES;
use pass::{Pass, Sums};
use places::Places;
use values::Values;

/// One to eight samples of a dataset, which a pass computes side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    tokens: &'a [u32],
    labels: &'a [u32],
    samples: &'a [u32],
    positions: usize,
}

impl Chunk<'_> {
    #[inline(always)]
    fn sample(&self, lane: usize) -> usize {
        self.samples[lane.min(self.samples.len() - 1)] as usize
    }

    #[inline(always)]
    fn token(&self, lane: usize, position: usize) -> u32 {
        self.tokens[self.sample(lane) * self.positions + position]
    }

    #[inline(always)]
    fn labels(&self) -> [u32; LANES] {
        core::array::from_fn(|lane| self.labels[self.sample(lane)])
    }
}

/// A classifier of any number of blocks, and the state of its training.
#[derive(Clone, Debug)]
pub struct Stack {
    architecture: Architecture,
    places: Places,
    instructions: Instructions,
    adam: Adam,
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    squares: Vec<f32>,
    moments: Moments,
    values: Values,
}

/// The gradient of a batch's loss.
#[derive(Clone, Debug, PartialEq)]
pub struct StackGradient {
    /// Mean loss of the batch.
    pub loss: f32,
    /// One number per parameter.
    pub values: Vec<f32>,
}

impl Stack {
    /// A model with these parameters.
    pub fn new(architecture: Architecture, adam: Adam, parameters: &[f32]) -> Self {
        let places = Places::new(&architecture);
        assert!(parameters.len() == places.parameter_count());
        let squares = if adam.per_occurrence { places.tokens.range().len() } else { 0 };
        Self {
            instructions: Instructions::best(),
            parameters: places.pack(parameters),
            gradient: vec![0.0; places.len()],
            squares: vec![0.0; squares],
            moments: Moments::new(places.len()),
            values: Values::new(&architecture),
            adam,
            places,
            architecture,
        }
    }

    /// The parameters.
    pub fn parameters(&self) -> Vec<f32> {
        self.places.unpack(&self.parameters)
    }

    /// Takes one step of Adam on a batch; returns the batch's mean loss before it.
    pub fn step(&mut self, tokens: &[u32], labels: &[u32], batch: &[u32]) -> f32 {
        Step { stack: self, tokens, labels, batch, update: true }.run()
    }

    /// The gradient of a batch's loss.
    pub fn gradient(&mut self, tokens: &[u32], labels: &[u32], batch: &[u32]) -> StackGradient {
        let loss = Step { stack: self, tokens, labels, batch, update: false }.run();
        let values = self.places.unpack(&self.gradient);
        self.gradient.fill(0.0);
        self.squares.fill(0.0);
        StackGradient { loss, values }
    }

    /// Logits of some samples.
    pub fn logits(&mut self, tokens: &[u32], labels: &[u32], chosen: &[u32], whole: bool) -> Vec<f32> {
        Logits { stack: self, tokens, labels, chosen, whole }.run()
    }
}

struct Step<'a> {
    stack: &'a mut Stack,
    tokens: &'a [u32],
    labels: &'a [u32],
    batch: &'a [u32],
    update: bool,
}

impl Step<'_> {
    fn run(self) -> f32 {
        let Self { stack, tokens, labels, batch, update } = self;
        let share = 1.0 / batch.len() as f32;
        let per_occurrence = stack.adam.per_occurrence;
        let mut pass = Pass {
            architecture: &stack.architecture,
            places: &stack.places,
            parameters: &stack.parameters,
            values: &mut stack.values,
            instructions: stack.instructions,
        };
        let mut loss = 0.0;
        for samples in batch.chunks(LANES) {
            let chunk = Chunk { tokens, labels, samples, positions: stack.architecture.positions };
            pass.forward(chunk, false);
            for lane in 0..samples.len() {
                loss += pass.values.losses[lane];
            }
            let squares = per_occurrence.then_some(&mut stack.squares[..]);
            pass.backward(chunk, share, &mut Sums { gradient: &mut stack.gradient, squares });
        }
        if update {
            let instructions = stack.instructions;
            instructions.run(Update(stack));
        }
        loss * share
    }
}

struct Logits<'a> {
    stack: &'a mut Stack,
    tokens: &'a [u32],
    labels: &'a [u32],
    chosen: &'a [u32],
    whole: bool,
}

impl Logits<'_> {
    fn run(self) -> Vec<f32> {
        let Self { stack, tokens, labels, chosen, whole } = self;
        let mut logits = Vec::new();
        let mut pass = Pass {
            architecture: &stack.architecture,
            places: &stack.places,
            parameters: &stack.parameters,
            values: &mut stack.values,
            instructions: stack.instructions,
        };
        for samples in chosen.chunks(LANES) {
            let chunk = Chunk { tokens, labels, samples, positions: stack.architecture.positions };
            pass.forward(chunk, whole);
            for lane in 0..samples.len() {
                logits.extend(pass.values.logits.iter().map(|logit| logit[lane]));
            }
        }
        logits
    }
}

/// Moves the parameters against the gradient.
struct Update<'a>(&'a mut Stack);

impl Body for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let stack = self.0;
        stack.moments.update(&stack.adam, &mut stack.parameters, &mut stack.gradient, &mut stack.squares);
    }
}
