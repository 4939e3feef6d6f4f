//! Burn's tensors and automatic differentiation: the reference.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, s};
use headlight_data::{Batch, Dataset};
use headlight_model::{Parameter, TransformerClassifier};

use super::{Answers, Engine, TrainingState};
use crate::Failure;
use crate::experiment::{Experiment, host, label_tensor, samples_at_once, token_tensor, with};
use crate::metrics;
use crate::optimizer::{Adam, Lookup};

/// Trains on any device of Burn's.
#[derive(Debug)]
pub struct BurnEngine {
    /// With automatic differentiation.
    model: TransformerClassifier,
    adam: Adam,
    /// Without automatic differentiation.
    device: Device,
    at_once: usize,
}

impl BurnEngine {
    /// The experiment's model at its start.
    ///
    /// # Errors
    /// When there is no such model.
    pub fn new(experiment: &Experiment) -> Result<Self, Failure> {
        let device = experiment.device.device.clone();
        Ok(Self {
            model: experiment.start_on(&device.clone().autodiff())?,
            adam: Adam::new(&experiment.config.training),
            device,
            at_once: samples_at_once(&experiment.config),
        })
    }

    /// The logits' loss for a batch, from leaves that keep the gradient of each occurrence of a token.
    fn loss(&self, train: &Dataset, batch: &[u32]) -> (Tensor<1>, Lookup) {
        let device = self.device.clone().autodiff();
        let batch = Batch::gather(train, batch);
        let tokens = token_tensor(&batch, &device); // [batch, position]
        let rows = self
            .model
            .embedding
            .token_rows(tokens.clone())
            .detach()
            .require_grad(); // [batch, position, d_model]
        let logits = self.model.forward_rows(tokens.clone(), rows.clone()).logits; // [batch]
        let loss = binary_cross_entropy(logits, label_tensor(&batch, &device)); // [1]
        (loss, Lookup { tokens, rows })
    }
}

impl Engine for BurnEngine {
    fn step(&mut self, train: &Dataset, batch: &[u32]) -> f64 {
        let (loss, lookup) = self.loss(train, batch);
        let gradients = loss.backward();
        self.model = self.adam.step(self.model.clone(), gradients, &lookup);
        loss.into_scalar::<f64>()
    }

    fn ask(&mut self, dataset: &Dataset, samples: &[u32], answers: &mut Answers) {
        answers.clear();
        let batch = Batch::gather(dataset, samples);
        // A forward pass that is never differentiated would leave its graph behind.
        let output = self
            .model
            .valid()
            .forward(token_tensor(&batch, &self.device));
        for (logit, &sample) in output.logits.into_data().iter::<f64>().zip(samples) {
            let label = dataset.label(sample as usize);
            answers.logits.push(logit);
            answers.probabilities.push(metrics::sigmoid(logit));
            answers
                .losses
                .push(metrics::binary_cross_entropy(logit, label));
        }
        if let Some(last) = output.layers.last() {
            let weights = last.attention.weights.clone();
            let cls = self.model.inputs.cls_position;
            let cls_rows = weights.slice(s![.., .., cls..cls + 1, ..]).mean_dim(1); // [batch, 1, 1, position]
            answers.attention.extend(cls_rows.into_data().iter::<f64>());
        }
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter> {
        let device = self.device.clone().autodiff();
        let batch = Batch::gather(train, batch);
        let logits = self.model.forward(token_tensor(&batch, &device)).logits;
        let mut gradients = binary_cross_entropy(logits, label_tensor(&batch, &device)).backward();
        let mut collect = Collect {
            gradients: &mut gradients,
            values: Vec::new(),
        };
        self.model.visit(&mut collect);
        let named = self.model.parameters().into_iter().zip(collect.values);
        named
            .map(|(parameter, values)| Parameter {
                values,
                ..parameter
            })
            .collect()
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.model.parameters()
    }

    fn state(&self) -> TrainingState {
        let parameters = self.model.parameters();
        let count = parameters.iter().map(|own| own.values.len()).sum();
        let (first, second) = self.adam.moments(count);
        TrainingState {
            parameters,
            first,
            second,
            steps: self.adam.steps(),
        }
    }

    fn restore(&mut self, state: &TrainingState) -> Result<(), Failure> {
        state.check(&self.model.parameters())?;
        self.model = with(self.model.clone(), &state.parameters)?;
        self.adam
            .restore(state.steps, &state.first, &state.second, &self.device);
        Ok(())
    }

    fn model(&self) -> Result<TransformerClassifier, Failure> {
        Ok(self.model.valid())
    }
}

/// Mean binary cross-entropy from logits `z` and targets `y`:
/// `max(z, 0) - z y + log(1 + exp(-|z|))`, as TensorFlow's
/// `sigmoid_cross_entropy_with_logits` has it.
///
/// # Shapes
/// - logits, targets: `[batch]`
/// - output: `[1]`
fn binary_cross_entropy(logits: Tensor<1>, targets: Tensor<1>) -> Tensor<1> {
    let linear = logits.clone().clamp_min(0.0) - logits.clone() * targets; // [batch]
    (linear + logits.abs().neg().exp().log1p()).mean()
}

/// Collects the gradients of all parameters.
struct Collect<'a> {
    gradients: &'a mut Gradients,
    values: Vec<Vec<f32>>,
}

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad_remove(self.gradients);
        self.values.push(gradient.map_or_else(Vec::new, host));
    }
}
