//! Adam (Kingma and Ba 2015), as Keras computes it.
//!
//! Two things differ from Burn's own. Epsilon is added to the root of the uncorrected second
//! moment, as in Keras and in the paper's "epsilon hat" form; Burn and PyTorch scale it with the
//! bias correction. And all parameters are updated as one vector: a dozen small tensors of a few
//! operations each would cost more than the arithmetic.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor};
use headlight_model::TransformerClassifier;

use crate::config::TrainingConfig;

/// Adam's settings and state.
#[derive(Clone, Debug)]
pub struct Adam {
    learning_rate: f64,
    beta_1: f64,
    beta_2: f64,
    epsilon: f64,
    steps: u32,
    moments: Option<Moments>,
}

/// Running means over all parameters, in the model's order.
#[derive(Clone, Debug)]
struct Moments {
    /// Of gradients. `[parameter]`
    first: Tensor<1>,
    /// Of squared gradients. `[parameter]`
    second: Tensor<1>,
}

impl Adam {
    /// Adam before its first step.
    pub fn new(config: &TrainingConfig) -> Self {
        Self {
            learning_rate: config.learning_rate,
            beta_1: config.beta_1,
            beta_2: config.beta_2,
            epsilon: config.epsilon,
            steps: 0,
            moments: None,
        }
    }

    /// Moves the model's parameters against their gradients.
    pub fn step(
        &mut self,
        model: TransformerClassifier,
        gradients: Gradients,
    ) -> TransformerClassifier {
        let delta = self.delta(flatten(&model, gradients));
        model.map(&mut Subtract { delta, offset: 0 })
    }

    /// What is to be subtracted from the parameters. `[parameter]`
    fn delta(&mut self, gradient: Tensor<1>) -> Tensor<1> {
        self.steps += 1;
        let Moments { first, second } = self.moments.take().unwrap_or_else(|| Moments {
            first: gradient.zeros_like(),
            second: gradient.zeros_like(),
        });
        let first = first.clone() + (gradient.clone() - first) * (1.0 - self.beta_1);
        let second = second.clone() + (gradient.square() - second) * (1.0 - self.beta_2);
        // In f32, as Keras has it.
        let steps = self.steps as f32;
        let correction_1 = 1.0 - (self.beta_1 as f32).powf(steps);
        let correction_2 = 1.0 - (self.beta_2 as f32).powf(steps);
        let rate = self.learning_rate as f32 * correction_2.sqrt() / correction_1;
        let delta = first.clone() * rate / (second.clone().sqrt() + self.epsilon);
        self.moments = Some(Moments { first, second });
        delta
    }
}

/// All gradients side by side, in the model's order; a parameter without one has zeros.
fn flatten(model: &TransformerClassifier, mut gradients: Gradients) -> Tensor<1> {
    struct Flatten<'a> {
        gradients: &'a mut Gradients,
        parts: Vec<Tensor<1>>,
    }
    impl ModuleVisitor for Flatten<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let parameter = param.val();
            let size = parameter.shape().num_elements();
            let gradient = parameter
                .grad_remove(self.gradients)
                .unwrap_or_else(|| parameter.inner().zeros_like());
            self.parts.push(gradient.reshape([size]));
        }
    }
    let mut flatten = Flatten {
        gradients: &mut gradients,
        parts: Vec::new(),
    };
    model.visit(&mut flatten);
    Tensor::cat(flatten.parts, 0)
}

/// Subtracts a vector, cut into the parameters' shapes.
struct Subtract {
    delta: Tensor<1>,
    offset: usize,
}

impl ModuleMapper for Subtract {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|parameter| {
            let shape = parameter.shape();
            let end = self.offset + shape.num_elements();
            let delta = self.delta.clone().slice(self.offset..end).reshape(shape);
            self.offset = end;
            Tensor::from_inner(parameter.inner() - delta).require_grad()
        })
    }
}
