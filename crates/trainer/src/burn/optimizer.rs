//! The optimizers: Adam (Kingma and Ba 2015) as Keras computes it, Adam with decoupled weight decay (Loshchilov and
//! Hutter 2019) and stochastic gradient descent as PyTorch computes them.
//!
//! Keras's Adam differs from Burn's own in two ways. Epsilon is added to the root of the uncorrected second
//! moment, as in the paper's "epsilon hat" form; Burn and PyTorch scale it with the bias correction. And a token's
//! occurrences enter the second moment one by one, as they do in Keras on TensorFlow, or summed
//! ([`TokenSecondMoment`](headlight_experiment::config::TokenSecondMoment)). All optimizers update all parameters as one
//! vector: a dozen small tensors of a few operations each would cost more than the arithmetic.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use headlight_experiment::config::{OptimizerName, TrainingConfig};
use headlight_model::TransformerClassifier;

use super::gradient::{FlatGradient, TokenLookup};

/// An optimizer's settings and state.
#[derive(Clone, Debug)]
pub(super) struct Optimizer {
    config: TrainingConfig,
    steps: u32,
    moments: Option<Moments>,
    gradient_norm: Option<f64>,
}

/// What is kept between steps, over all parameters, in the model's order.
#[derive(Clone, Debug)]
struct Moments {
    /// Adam's running mean of gradients; with SGD, the last step's direction. `[parameter]`
    first: Tensor<1>,
    /// Adam's running mean of squared gradients. `[parameter]`
    second: Tensor<1>,
}

impl Optimizer {
    /// The optimizer before its first step.
    pub(super) fn new(config: &TrainingConfig) -> Self {
        Self {
            config: config.clone(),
            steps: 0,
            moments: None,
            gradient_norm: None,
        }
    }

    /// Steps taken.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    /// The norm of the last step's gradient before it was scaled down, if the config measures or limits it.
    pub(super) fn gradient_norm(&self) -> Option<f64> {
        self.gradient_norm
    }

    /// What is kept between steps, over `count` parameters; 0 before the first step.
    pub(super) fn moments(&self, count: usize) -> (Vec<f32>, Vec<f32>) {
        match &self.moments {
            Some(Moments { first, second }) => {
                let host = |moments: &Tensor<1>| moments.to_data().iter::<f32>().collect();
                (host(first), host(second))
            }
            None => (vec![0.0; count], vec![0.0; count]),
        }
    }

    /// Continues from the moments after `steps` steps.
    pub(super) fn restore(&mut self, steps: u32, first: &[f32], second: &[f32], device: &Device) {
        let tensor = |values: &[f32]| {
            Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device)
        };
        self.steps = steps;
        self.moments = Some(Moments {
            first: tensor(first),
            second: tensor(second),
        });
    }

    /// Updates the model's parameters by one step.
    pub(super) fn step(
        &mut self,
        model: TransformerClassifier,
        gradients: Gradients,
        lookup: &TokenLookup,
        learning_rate: f64,
    ) -> TransformerClassifier {
        let token_second_moment = self.config.token_second_moment.value;
        let gradient = FlatGradient::new(&model, gradients, lookup, token_second_moment);
        let values = self.limit(gradient.values);
        let squares = gradient.squares.unwrap_or_else(|| values.clone().square());
        self.steps += 1;
        let moments = self.moments.take().unwrap_or_else(|| Moments {
            first: values.zeros_like(),
            second: values.zeros_like(),
        });
        let (moments, mut update) = match self.config.optimizer {
            OptimizerName::Adam => self.adam(moments, values, squares, learning_rate),
            OptimizerName::AdamW => self.adam_w(moments, values, squares, learning_rate),
            OptimizerName::Sgd => self.sgd(moments, values, learning_rate),
        };
        self.moments = Some(moments);
        model.map(&mut update)
    }

    /// Measures the gradient, and scales it down if it is longer than allowed, as PyTorch's `clip_grad_norm_` does.
    fn limit(&mut self, gradient: Tensor<1>) -> Tensor<1> {
        let most = self.config.max_grad_norm;
        if most.is_none() && !self.config.norms {
            return gradient;
        }
        let squares = gradient.to_data().iter::<f64>().map(|g| g * g).sum::<f64>();
        let norm = squares.sqrt();
        self.gradient_norm = Some(norm);
        match most.map(|most| most / (norm + 1e-6)) {
            Some(factor) if factor < 1.0 => gradient * factor,
            _ => gradient,
        }
    }

    /// Adam as Keras computes it.
    fn adam(
        &self,
        moments: Moments,
        gradient: Tensor<1>,
        squares: Tensor<1>,
        learning_rate: f64,
    ) -> (Moments, Update) {
        let config = &self.config;
        let moments = self.means(moments, gradient, squares);
        // In float32, as in Keras.
        let steps = self.steps as f32;
        let correction_1 = 1.0 - (config.beta_1 as f32).powf(steps);
        let correction_2 = 1.0 - (config.beta_2 as f32).powf(steps);
        let rate = learning_rate as f32 * correction_2.sqrt() / correction_1;
        let root = moments.second.clone().sqrt();
        let delta = moments.first.clone() * rate / (root + config.epsilon.value);
        (moments, Update::new(None, delta))
    }

    /// `torch.optim.AdamW`: before the step each parameter shrinks by `learning_rate * weight_decay` of it, and epsilon is
    /// added to the corrected root.
    fn adam_w(
        &self,
        moments: Moments,
        gradient: Tensor<1>,
        squares: Tensor<1>,
        learning_rate: f64,
    ) -> (Moments, Update) {
        let config = &self.config;
        let moments = self.means(moments, gradient, squares);
        let steps = self.steps.cast_signed();
        let correction_1 = 1.0 - config.beta_1.powi(steps);
        let correction_2 = 1.0 - config.beta_2.powi(steps);
        let root = moments.second.clone().sqrt() / correction_2.sqrt();
        let rate = learning_rate / correction_1;
        let delta = moments.first.clone() * rate / (root + config.epsilon.value);
        let kept = 1.0 - learning_rate * config.weight_decay();
        (moments, Update::new(Some(kept), delta))
    }

    /// `torch.optim.SGD`: the direction is the gradient plus `momentum` times the last direction.
    fn sgd(&self, moments: Moments, gradient: Tensor<1>, learning_rate: f64) -> (Moments, Update) {
        let first = moments.first * self.config.momentum + gradient;
        let delta = first.clone() * learning_rate;
        (Moments { first, ..moments }, Update::new(None, delta))
    }

    /// The running means with one more gradient.
    fn means(&self, moments: Moments, gradient: Tensor<1>, squares: Tensor<1>) -> Moments {
        let Moments { first, second } = moments;
        Moments {
            first: first.clone() + (gradient - first) * (1.0 - self.config.beta_1),
            second: second.clone() + (squares - second) * (1.0 - self.config.beta_2),
        }
    }
}

/// Subtracts a flat vector from the parameters, of which `kept` is left before.
struct Update {
    kept: Option<f64>,
    delta: Tensor<1>,
    offset: usize,
}

impl Update {
    fn new(kept: Option<f64>, delta: Tensor<1>) -> Self {
        Self {
            kept,
            delta,
            offset: 0,
        }
    }
}

impl ModuleMapper for Update {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|parameter| {
            let shape = parameter.shape();
            let end = self.offset + shape.num_elements();
            let delta = self.delta.clone().slice(self.offset..end).reshape(shape);
            self.offset = end;
            let before = parameter.inner();
            let kept = match self.kept {
                Some(kept) => before * kept,
                None => before,
            };
            Tensor::from_inner(kept - delta).require_grad()
        })
    }
}
