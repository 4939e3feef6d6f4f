//! The reference engine: Burn's tensors and automatic differentiation.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData, s};
use headlight_architecture::{DropoutPlace, Parameter};
use headlight_data::{Batch, Dataset, IGNORED, dropout_numbers};
use headlight_experiment::metrics::{cross_entropy, probabilities};
use headlight_experiment::{
    Engine, Error, Experiment, Predictions, Predictor, TrainingState, samples_per_pass,
};
use headlight_model::{Dropout, TransformerClassifier};

use super::gradient::{self, TokenLookup};
use super::loss::BatchLoss;
use super::optimizer::Optimizer;

/// Trains on any device of Burn.
#[derive(Debug)]
pub struct BurnEngine<'a> {
    experiment: &'a Experiment,
    /// The model, with automatic differentiation.
    model: TransformerClassifier,
    loss: BatchLoss,
    optimizer: Optimizer,
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
        let training = &experiment.config.training;
        Ok(Self {
            experiment,
            model: model.map_err(Error::Input)?,
            loss: BatchLoss {
                is_accurate: training.is_accurate(),
                smoothing: training.label_smoothing,
                per_sample: training.loss_per_sample,
            },
            optimizer: Optimizer::new(training),
            device: device.clone(),
        })
    }

    /// The loss of a batch. The embeddings of its tokens are a leaf of the graph, so each occurrence of a token
    /// has a gradient of its own.
    fn loss(&self, train: &Dataset, batch: &[u32]) -> (Tensor<1>, TokenLookup) {
        let device = self.device.clone().autodiff();
        let batch = Batch::gather(train, batch);
        let tokens = token_tensor(&batch, &device); // [batch, position]
        let rows = self
            .model
            .embedding
            .token_rows(tokens.clone())
            .detach()
            .require_grad(); // [batch, position, d_model]
        let loss = self.loss_of(&batch, tokens.clone(), rows.clone()); // [1]
        (loss, TokenLookup { tokens, rows })
    }

    /// The loss of a batch from the vectors of its tokens, with the dropout of the next step.
    fn loss_of(&self, batch: &Batch, tokens: Tensor<2, Int>, rows: Tensor<3>) -> Tensor<1> {
        let config = &self.experiment.config;
        let (rates, step) = (config.training.dropout.rates(), self.optimizer.steps());
        let factors = |place: DropoutPlace, shape: &[usize]| {
            let (threshold, factor) = rates.threshold_and_factor(place)?;
            let count = shape[1..].iter().product();
            let kept = |number: u16| f32::from(u8::from(u32::from(number) >= threshold));
            let of_sample =
                |sample| dropout_numbers(config.seed, step, sample, place.number(), count);
            let numbers = (0..shape[0] as u32).flat_map(of_sample);
            Some(numbers.map(|number| factor * kept(number)).collect())
        };
        let output = self
            .model
            .forward_rows(tokens, rows, Dropout(Some(&factors)));
        self.loss.mean(output.logits, batch)
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
            predictions.losses.push(match label {
                IGNORED => 0.0,
                label => cross_entropy(logits, label),
            });
        }
        if let Some(last) = output.layers.last() {
            let weights = last.attention.weights.clone();
            let (inputs, config) = (&self.model.inputs, &self.experiment.config);
            let (positions, read) = (inputs.positions, inputs.read_position);
            let shown = |&sample: &u32| config.readout_position(dataset.tokens(sample as usize));
            let shown: Vec<usize> = samples.iter().map(shown).collect();
            let is_one = !inputs.per_position && shown.iter().all(|&position| position == read);
            let queries = if is_one { read..read + 1 } else { 0..positions };
            let means = weights
                .slice(s![.., .., queries, ..])
                .mean_dim(1)
                .into_data(); // [batch, 1, query, key]
            let means = means.iter::<f64>();
            if is_one || inputs.per_position {
                predictions.attention.extend(means);
            } else {
                let means: Vec<f64> = means.collect();
                let rows = means.chunks(positions * positions).zip(shown);
                let row = |(mean, query): (&[f64], usize)| {
                    mean[query * positions..][..positions].to_vec()
                };
                predictions.attention.extend(rows.flat_map(row));
            }
        }
    }

    fn samples_per_pass(&self) -> usize {
        samples_per_pass(&self.experiment.config)
    }
}

impl Engine for BurnEngine<'_> {
    fn step(&mut self, train: &Dataset, batch: &[u32], learning_rate: f64) -> f64 {
        let (loss, lookup) = self.loss(train, batch);
        let gradients = loss.backward();
        let model = self.model.clone();
        self.model = self
            .optimizer
            .step(model, gradients, &lookup, learning_rate);
        loss.into_scalar::<f64>()
    }

    fn same_for<'b>(&self, other: &'b Experiment) -> Result<Box<dyn Engine + 'b>, Error> {
        Ok(Box::new(BurnEngine::new(other, &self.device)?))
    }

    fn gradient_norm(&self) -> Option<f64> {
        self.optimizer.gradient_norm()
    }

    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter> {
        let device = self.device.clone().autodiff();
        let batch = Batch::gather(train, batch);
        let tokens = token_tensor(&batch, &device);
        let rows = self.model.embedding.token_rows(tokens.clone());
        let mut gradients = self.loss_of(&batch, tokens, rows).backward();
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
        let (first, second) = self.optimizer.moments(count);
        TrainingState {
            parameters,
            first,
            second,
            steps: self.optimizer.steps(),
        }
    }

    fn restore(&mut self, state: &TrainingState) -> Result<(), Error> {
        state.check(&self.experiment.start)?;
        let model = trainable(self.experiment, &state.parameters, &self.device);
        self.model = model.map_err(Error::Input)?;
        self.optimizer
            .restore(state.steps, &state.first, &state.second, &self.device);
        Ok(())
    }
}

/// A model with automatic differentiation.
fn trainable(
    experiment: &Experiment,
    parameters: &[Parameter],
    device: &Device,
) -> Result<TransformerClassifier, String> {
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

/// Collects the gradients of all parameters.
struct Collect<'a> {
    gradients: &'a mut Gradients,
    values: Vec<Vec<f32>>,
}

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.values
            .push(host(gradient::gradient(param, self.gradients)));
    }
}
