//! A model, its training and its predictions.

use crate::architecture::Architecture;
use crate::dropout::StepDropout;
use crate::engine::GeneralEngine;
use crate::gradients::GradientPart;
use crate::instructions::Instructions;
use crate::notebook::NotebookEngine;
use crate::optimizer::{Moments, update};
use crate::parameters::ParameterLayout;
use crate::samples::{BatchPredictions, IGNORED, Samples};
use crate::team::{SingleThread, Team};
use crate::training::TrainingSettings;

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

/// Everything that a model's next steps depend on. Parameters have the order of
/// [`ModelConfig::layout`](headlight_architecture::ModelConfig::layout).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The parameters.
    pub parameters: Vec<f32>,
    /// Adam's mean of gradients, for each parameter; with SGD, the last step's direction.
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
    engine: Engine,
    instructions: Instructions,
    training: TrainingSettings,
    /// That of the last step's gradient, if it is measured.
    gradient_norm: f64,
    /// In padded rows, like the vectors below.
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    /// The squared gradients of each occurrence of a token; empty if Adam squares their sums.
    squares: Vec<f32>,
    moments: Moments,
}

/// What computes the passes of a model, and knows where its parameters are in memory.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // A model has one.
enum Engine {
    Notebook(NotebookEngine),
    General(GeneralEngine),
}

impl Engine {
    fn layout(&self) -> &ParameterLayout {
        match self {
            Self::Notebook(notebook) => &notebook.layout,
            Self::General(general) => general.layout(),
        }
    }
}

impl Model {
    /// A model with these parameters, in the order of [`ModelConfig::layout`](headlight_architecture::ModelConfig::layout).
    ///
    /// # Panics
    /// When there are not [`Architecture::parameter_count`] parameters.
    pub fn new(
        architecture: &Architecture,
        training: impl Into<TrainingSettings>,
        parameters: &[f32],
    ) -> Self {
        let (architecture, training) = (architecture.clone(), training.into());
        let count = architecture.parameter_count();
        assert!(
            parameters.len() == count,
            "{architecture:?} has {count} parameters, not {}",
            parameters.len()
        );
        let notebook = NotebookEngine::new(&architecture).filter(|_| training.suits_notebook());
        let engine = match notebook {
            Some(notebook) => Engine::Notebook(notebook),
            None => Engine::General(GeneralEngine::new(&architecture, training.cross_entropy)),
        };
        let parameters = engine.layout().pack(parameters);
        let tokens = engine.layout().tokens.range().len();
        let squares = usize::from(training.optimizer.is_per_occurrence()) * tokens;
        let len = parameters.len();
        Self {
            architecture,
            engine,
            instructions: Instructions::best(),
            training,
            gradient_norm: 0.0,
            parameters,
            gradient: vec![0.0; len],
            squares: vec![0.0; squares],
            moments: Moments::new(len),
        }
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

    /// The parameters, in the order of [`ModelConfig::layout`](headlight_architecture::ModelConfig::layout).
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
        let parts = [&state.parameters, &state.first, &state.second].map(|part| {
            assert!(part.len() == count, "the model has {count} parameters");
            self.engine.layout().pack(part)
        });
        let [parameters, first, second] = parts;
        self.parameters = parameters;
        self.moments = Moments::after(state.steps, &self.training.optimizer, first, second);
        self.parameters_changed();
    }

    /// Sets the learning rate of the next steps.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.training.optimizer.set_learning_rate(learning_rate);
    }

    /// The norm of the last step's gradient before it was scaled down, if [`TrainingSettings`] asks to measure or to limit it.
    pub fn gradient_norm(&self) -> Option<f64> {
        self.training.needs_norm().then_some(self.gradient_norm)
    }

    /// Takes one step on a batch; returns the batch's mean loss before it.
    ///
    /// # Panics
    /// When `batch` is empty or holds an index out of range, or when a sample does not have this
    /// model's vocabulary, length and classes.
    pub fn step(&mut self, samples: Samples<'_>, batch: &[u32]) -> f32 {
        self.step_with(&SingleThread, samples, batch)
    }

    /// The same with some threads, which change no result.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn step_with(&mut self, team: &impl Team, samples: Samples<'_>, batch: &[u32]) -> f32 {
        let loss = self.differentiate(team, samples, batch);
        if self.training.needs_norm() {
            self.limit_gradient();
        }
        let (moments, optimizer) = (&mut self.moments, &self.training.optimizer);
        let (parameters, gradient) = (&mut self.parameters, &mut self.gradient);
        update(
            self.instructions,
            moments,
            optimizer,
            parameters,
            gradient,
            &mut self.squares,
        );
        self.parameters_changed();
        loss
    }

    /// The gradient of a batch's loss, with the dropout of the next step. Does not change the parameters.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn gradient(&mut self, samples: Samples<'_>, batch: &[u32]) -> Gradient {
        let loss = self.differentiate(&SingleThread, samples, batch);
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
    pub fn predict(
        &mut self,
        samples: Samples<'_>,
        chosen: &[u32],
        predictions: &mut BatchPredictions,
    ) {
        self.predict_with(&SingleThread, samples, chosen, predictions);
    }

    /// The same with some threads, which change no result.
    ///
    /// # Panics
    /// As [`step`](Self::step).
    pub fn predict_with(
        &mut self,
        team: &impl Team,
        samples: Samples<'_>,
        chosen: &[u32],
        predictions: &mut BatchPredictions,
    ) {
        self.check(samples, chosen);
        predictions.clear();
        let (isa, parameters) = (self.instructions, &self.parameters[..]);
        match &mut self.engine {
            Engine::Notebook(notebook) => {
                notebook.predict(isa, parameters, samples, chosen, predictions);
            }
            Engine::General(general) => {
                general.predict(team, isa, parameters, samples, chosen, predictions);
            }
        }
    }

    /// Leaves the gradient in the model; returns the mean loss.
    fn differentiate(&mut self, team: &impl Team, samples: Samples<'_>, batch: &[u32]) -> f32 {
        self.check(samples, batch);
        assert!(
            samples.weights.is_none() || self.training.cross_entropy.is_weighted,
            "the samples have weights; set CrossEntropy::is_weighted"
        );
        let is_per_occurrence = self.training.optimizer.is_per_occurrence();
        let part = GradientPart {
            start: 0,
            gradient: &mut self.gradient,
            squares: is_per_occurrence.then_some(&mut self.squares),
        };
        let (isa, parameters) = (self.instructions, &self.parameters[..]);
        match &mut self.engine {
            Engine::Notebook(notebook) => {
                notebook.differentiate(isa, parameters, samples, batch, part)
            }
            Engine::General(general) => {
                general.set_dropout(StepDropout::new(self.training.dropout, self.moments.steps));
                general.differentiate(team, isa, parameters, samples, batch, part)
            }
        }
    }

    fn unpack(&self, padded: &[f32]) -> Vec<f32> {
        self.engine.layout().unpack(padded)
    }

    /// Measures the gradient, and scales it down if it is too long.
    fn limit_gradient(&mut self) {
        let squares = self.gradient.iter().map(|&g| f64::from(g) * f64::from(g));
        let sum: f64 = squares.sum();
        // The root in float32 is the one that every machine has; its error is far below what a norm is used for.
        let norm = f64::from((sum as f32).sqrt());
        self.gradient_norm = norm;
        // PyTorch adds 1e-6, so that a gradient of 0 has a factor.
        let factor = self.training.max_grad_norm.map(|most| most / (norm + 1e-6));
        if let Some(factor) = factor.filter(|&factor| factor < 1.0) {
            for g in &mut self.gradient {
                *g *= factor as f32;
            }
        }
    }

    fn parameters_changed(&mut self) {
        match &mut self.engine {
            Engine::Notebook(notebook) => notebook.parameters_changed(),
            Engine::General(general) => general.layout().complete(&mut self.parameters),
        }
    }

    /// Checks everything but the range of tokens, which the engines check.
    fn check(&self, samples: Samples<'_>, chosen: &[u32]) {
        let inputs = self.architecture.inputs;
        let (positions, classes) = (inputs.positions, inputs.n_classes);
        let (answers, per_position) = (self.architecture.answers(), inputs.per_position);
        assert!(!chosen.is_empty(), "the batch is empty");
        assert!(
            samples.tokens.len() * answers == samples.labels.len() * positions,
            "the model's samples have {positions} tokens and {answers} labels each"
        );
        for &sample in chosen {
            let labels = &samples.labels[sample as usize * answers..][..answers];
            let is_known =
                |&label: &u32| (label as usize) < classes || per_position && label == IGNORED;
            assert!(
                labels.iter().all(is_known),
                "the model has {classes} classes"
            );
            if let Engine::Notebook(_) = self.engine {
                let first = samples.tokens[sample as usize * positions];
                assert!(
                    first == 0,
                    "a sample starts with [CLS] = 0, as the architecture says"
                );
            }
        }
    }
}
