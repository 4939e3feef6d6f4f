//! The reference engine: Burn's tensors and automatic differentiation.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData, s};
use headlight_architecture::{Parameter, ParameterMismatch};
use headlight_data::{Batch, Dataset};
use headlight_experiment::metrics::{cross_entropy, probabilities};
use headlight_experiment::{Engine, Error, Experiment, Predictions, Predictor, TrainingState};
use headlight_model::TransformerClassifier;

use super::adam::{Adam, Lookup};

/// Trains on any device of Burn.
#[derive(Debug)]
pub struct BurnEngine<'a> {
    experiment: &'a Experiment,
    /// The model, with automatic differentiation.
    model: TransformerClassifier,
    adam: Adam,
    /// The device, without automatic differentiation.
    device: Device,
}

impl<'a> BurnEngine<'a> {
    /// The experiment's model on a device, with its initial weights.
    ///
    /// # Errors
    /// When the experiment's initial weights do not match its config.
    pub fn new(experiment: &'a Experiment, device: &Device) -> Result<Self, Error> {
        let model = trainable(experiment, &experiment.start, device);
        Ok(Self {
            experiment,
            model: model.map_err(|mismatch| Error::Input(mismatch.to_string()))?,
            adam: Adam::new(&experiment.config.training),
            device: device.clone(),
        })
    }

    /// The loss of a batch. The embeddings of its tokens are a leaf of the graph, so each occurrence of a token
    /// has a gradient of its own.
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
        let logits = self.model.forward_rows(tokens.clone(), rows.clone()).logits; // [batch, logit]
        let loss = mean_loss(logits, &batch); // [1]
        (loss, Lookup { tokens, rows })
    }
}

impl Predictor for BurnEngine<'_> {
    fn predict(&mut self, dataset: &Dataset, samples: &[u32], predictions: &mut Predictions) {
        predictions.clear();
        let batch = Batch::gather(dataset, samples);
        // With automatic differentiation, the graph of this pass would never be freed.
        let output = self
            .model
            .valid()
            .forward(token_tensor(&batch, &self.device));
        let [_, n_logits] = output.logits.dims();
        predictions
            .logits
            .extend(output.logits.into_data().iter::<f64>());
        for (logits, &label) in predictions.logits.chunks(n_logits).zip(&batch.labels) {
            predictions.probabilities.extend(probabilities(logits));
            predictions.losses.push(cross_entropy(logits, label));
        }
        if let Some(last) = output.layers.last() {
            let weights = last.attention.weights.clone();
            let cls = self.model.inputs.cls_position;
            let cls_rows = weights.slice(s![.., .., cls..cls + 1, ..]).mean_dim(1); // [batch, 1, 1, position]
            predictions
                .attention
                .extend(cls_rows.into_data().iter::<f64>());
        }
    }

    fn samples_per_pass(&self) -> usize {
        self.experiment.samples_per_pass()
    }
}

impl Engine for BurnEngine<'_> {
    fn step(&mut self, train: &Dataset, batch: &[u32]) -> f64 {
        let (loss, lookup) = self.loss(train, batch);
        let gradients = loss.backward();
        self.model = self.adam.step(self.model.clone(), gradients, &lookup);
        loss.into_scalar::<f64>()
    }

    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter> {
        let device = self.device.clone().autodiff();
        let batch = Batch::gather(train, batch);
        let logits = self.model.forward(token_tensor(&batch, &device)).logits;
        let mut gradients = mean_loss(logits, &batch).backward();
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
        let sizes = parameters.iter().map(|parameter| parameter.values.len());
        let count = sizes.sum();
        let (first, second) = self.adam.moments(count);
        TrainingState {
            parameters,
            first,
            second,
            steps: self.adam.steps(),
        }
    }

    fn restore(&mut self, state: &TrainingState) -> Result<(), Error> {
        state.check(&self.experiment.start)?;
        let model = trainable(self.experiment, &state.parameters, &self.device);
        self.model = model.map_err(|mismatch| Error::Input(mismatch.to_string()))?;
        self.adam
            .restore(state.steps, &state.first, &state.second, &self.device);
        Ok(())
    }
}

/// A model with automatic differentiation.
fn trainable(
    experiment: &Experiment,
    parameters: &[Parameter],
    device: &Device,
) -> Result<TransformerClassifier, ParameterMismatch> {
    let config = &experiment.config;
    let (parameters, device) = (parameters.iter().cloned(), device.clone().autodiff());
    TransformerClassifier::new(&config.model, config.inputs(), parameters, &device)
}

/// A tensor's values on the host, row-major.
pub(super) fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// A batch's tokens on a device. `[batch, position]`
pub(super) fn token_tensor(batch: &Batch, device: &Device) -> Tensor<2, Int> {
    let shape = [batch.len(), batch.positions];
    Tensor::from_data(TensorData::new(batch.tokens.clone(), shape), device)
}

/// Mean cross-entropy from logits `z` and a batch's labels `y`: of one logit
/// `max(z, 0) - z y + log(1 + exp(-|z|))`, the formula of TensorFlow's
/// `sigmoid_cross_entropy_with_logits`; of several `-log softmax(z)[y]`.
///
/// # Shapes
/// - logits: `[batch, logit]`
/// - output: `[1]`
fn mean_loss(logits: Tensor<2>, batch: &Batch) -> Tensor<1> {
    let ([size, n_logits], device) = (logits.dims(), logits.device());
    if n_logits > 1 {
        let labels: Vec<i32> = batch.labels.iter().map(|&label| label.into()).collect();
        let labels = Tensor::<2, Int>::from_data(TensorData::new(labels, [size, 1]), &device);
        return log_softmax(logits, 1).gather(1, labels).mean().neg();
    }
    let labels: Vec<f32> = batch.labels.iter().map(|&label| label.into()).collect();
    let targets = Tensor::<2>::from_data(TensorData::new(labels, [size, 1]), &device);
    let linear = logits.clone().clamp_min(0.0) - logits.clone() * targets; // [batch, 1]
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
