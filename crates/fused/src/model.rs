//! A model, its training and its predictions.

use alloc::vec;
use alloc::vec::Vec;

use crate::adam::{Adam, Moments, Sums};
use crate::architecture::{Architecture, InvalidArchitecture};
use crate::blocks::Blocks;
use crate::instructions::{Body, Instructions};
use crate::one_block::OneBlock;
use crate::samples::{Predictions, Samples};
use crate::transpose::Transpose;

/// The gradient of a batch's loss, and the squares that Adam uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// Mean cross-entropy of the batch.
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

/// A classifier and the state of its training.
#[derive(Clone, Debug)]
pub struct Model {
    architecture: Architecture,
    passes: Passes,
    instructions: Instructions,
    adam: Adam,
    /// In padded rows, like the vectors below.
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    /// The squared gradients of each occurrence of a token; empty if Adam squares their sums.
    squares: Vec<f32>,
    moments: Moments,
}

/// The passes of a model, and the place of its parameters in memory.
#[derive(Clone, Debug)]
enum Passes {
    OneBlock(OneBlock),
    Blocks(Blocks),
}

/// Calls the same method of either.
macro_rules! either {
    ($passes:expr, $each:ident => $call:expr) => {
        match $passes {
            Passes::OneBlock($each) => $call,
            Passes::Blocks($each) => $call,
        }
    };
}

impl Model {
    /// A model with these parameters, in the order of the crate's documentation.
    ///
    /// # Errors
    /// When the architecture cannot be.
    ///
    /// # Panics
    /// When there are not [`Architecture::parameter_count`] parameters.
    pub fn new(
        architecture: Architecture,
        adam: Adam,
        parameters: &[f32],
    ) -> Result<Self, InvalidArchitecture> {
        let architecture = architecture.validate()?;
        let count = architecture.parameter_count();
        assert!(
            parameters.len() == count,
            "{architecture:?} has {count} parameters, not {}",
            parameters.len()
        );
        let passes = if architecture.is_one_block() {
            Passes::OneBlock(OneBlock::new(&architecture))
        } else {
            Passes::Blocks(Blocks::new(&architecture))
        };
        let parameters = either!(&passes, each => each.pack(parameters));
        let tokens = either!(&passes, each => each.token_embedding_len());
        let len = parameters.len();
        Ok(Self {
            architecture,
            passes,
            instructions: Instructions::best(),
            adam,
            parameters,
            gradient: vec![0.0; len],
            squares: vec![0.0; if adam.per_occurrence { tokens } else { 0 }],
            moments: Moments::new(len),
        })
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
        self.unpack(&self.parameters)
    }

    /// The parameters and the state of training.
    pub fn state(&self) -> State {
        State {
            parameters: self.parameters(),
            first: self.unpack(&self.moments.first),
            second: self.unpack(&self.moments.second),
            steps: self.moments.steps,
        }
    }

    /// Resumes from a state: the next steps give the same bytes as they would have in the model that
    /// the state was taken from.
    ///
    /// # Panics
    /// When a part of the state does not have [`Architecture::parameter_count`] numbers.
    pub fn restore(&mut self, state: &State) {
        let count = self.architecture.parameter_count();
        for part in [&state.parameters, &state.first, &state.second] {
            assert!(part.len() == count, "the model has {count} parameters");
        }
        let pack = |plain: &[f32]| either!(&self.passes, each => each.pack(plain));
        let (parameters, first, second) = (
            pack(&state.parameters),
            pack(&state.first),
            pack(&state.second),
        );
        self.parameters = parameters;
        self.moments = Moments::after(state.steps, &self.adam, first, second);
        self.parameters_changed();
    }

    /// Takes one step of Adam on a batch; returns the batch's mean loss before it.
    ///
    /// # Panics
    /// When `batch` is empty or holds an index out of range, or when a sample does not have this
    /// model's vocabulary, length and classes.
    pub fn step(&mut self, samples: Samples<'_>, batch: &[u32]) -> f32 {
        let loss = self.differentiate(samples, batch);
        let instructions = self.instructions;
        instructions.run(Update(self));
        self.parameters_changed();
        loss
    }

    /// The gradient of a batch's loss. Does not change the parameters.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn gradient(&mut self, samples: Samples<'_>, batch: &[u32]) -> Gradient {
        let loss = self.differentiate(samples, batch);
        let values = self.unpack(&self.gradient);
        let mut squares: Vec<f32> = self.gradient.iter().map(|g| g * g).collect();
        squares[..self.squares.len()].copy_from_slice(&self.squares);
        self.gradient.fill(0.0);
        self.squares.fill(0.0);
        Gradient {
            loss,
            values,
            squares: self.unpack(&squares),
        }
    }

    /// Predicts some samples; replaces what `predictions` held.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn predict(&mut self, samples: Samples<'_>, chosen: &[u32], predictions: &mut Predictions) {
        self.check(samples, chosen);
        predictions.clear();
        let (set, parameters) = (self.instructions, &self.parameters[..]);
        either!(&mut self.passes, each => each.predict(set, parameters, samples, chosen, predictions));
    }

    /// Leaves the gradient in the model; returns the mean loss.
    fn differentiate(&mut self, samples: Samples<'_>, batch: &[u32]) -> f32 {
        self.check(samples, batch);
        let sums = Sums {
            gradient: &mut self.gradient,
            squares: self.adam.per_occurrence.then_some(&mut self.squares),
        };
        let (set, parameters) = (self.instructions, &self.parameters[..]);
        either!(&mut self.passes, each => each.differentiate(set, parameters, samples, batch, sums))
    }

    fn unpack(&self, padded: &[f32]) -> Vec<f32> {
        either!(&self.passes, each => each.unpack(padded))
    }

    fn parameters_changed(&mut self) {
        if let Passes::OneBlock(one_block) = &mut self.passes {
            one_block.parameters_changed();
        }
    }

    /// Checks everything but the range of tokens, which the passes check.
    fn check(&self, samples: Samples<'_>, chosen: &[u32]) {
        let (positions, classes) = (self.architecture.positions, self.architecture.n_classes);
        assert!(!chosen.is_empty(), "the batch is empty");
        assert!(
            samples.tokens.len() == samples.labels.len() * positions,
            "the model's samples have {positions} tokens each"
        );
        for &sample in chosen {
            let label = usize::from(samples.labels[sample as usize]);
            assert!(label < classes, "the model has {classes} classes");
            if let Passes::OneBlock(_) = self.passes {
                let first = samples.tokens[sample as usize * positions];
                assert!(first == 0, "the first token of a sample is [CLS] = 0");
            }
        }
    }
}

/// Moves the parameters against the gradient that the model holds.
struct Update<'a>(&'a mut Model);

impl Body for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _transpose: impl Transpose) {
        let model = self.0;
        model.moments.update(
            &model.adam,
            &mut model.parameters,
            &mut model.gradient,
            &mut model.squares,
        );
    }
}
