//! Adam (Kingma and Ba 2015), as Keras computes it.
//!
//! It differs from Burn's own Adam in three ways. Epsilon is added to the root of the uncorrected second
//! moment, as in Keras and in the paper's "epsilon hat" form; Burn and PyTorch scale it with the
//! bias correction. A token's occurrences enter the second moment one by one, as they do in Keras
//! on TensorFlow, or summed ([`TokenSecondMoment`]). And all parameters are updated as one vector:
//! a dozen small tensors of a few operations each would cost more than the arithmetic.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Device, Gradients, IndexingUpdateOp, Int, Tensor, TensorData};
use headlight_experiment::config::{TokenSecondMoment, TrainingConfig};
use headlight_model::TransformerClassifier;

/// Adam's settings and state.
#[derive(Clone, Debug)]
pub(super) struct Adam {
    learning_rate: f64,
    beta_1: f64,
    beta_2: f64,
    epsilon: f64,
    token_second_moment: TokenSecondMoment,
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

/// The tokens of a batch and their embeddings. The embeddings are a leaf of the graph.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    /// `[batch, position]`
    pub(super) tokens: Tensor<2, Int>,
    /// `[batch, position, d_model]`
    pub(super) rows: Tensor<3>,
}

impl Adam {
    /// Adam before its first step.
    pub(super) fn new(config: &TrainingConfig) -> Self {
        Self {
            learning_rate: config.learning_rate,
            beta_1: config.beta_1,
            beta_2: config.beta_2,
            epsilon: config.epsilon,
            token_second_moment: config.token_second_moment,
            steps: 0,
            moments: None,
        }
    }

    /// Steps taken.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    /// Means of gradients and of their squares, over `count` parameters; 0 before the first step.
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
        lookup: &Lookup,
    ) -> TransformerClassifier {
        let (gradient, square) = self.flatten(&model, gradients, lookup);
        let delta = self.delta(gradient, square);
        model.map(&mut Subtract { delta, offset: 0 })
    }

    /// The update to subtract from the parameters. `[parameter]`
    fn delta(&mut self, gradient: Tensor<1>, square: Tensor<1>) -> Tensor<1> {
        self.steps += 1;
        let Moments { first, second } = self.moments.take().unwrap_or_else(|| Moments {
            first: gradient.zeros_like(),
            second: gradient.zeros_like(),
        });
        let first = first.clone() + (gradient - first) * (1.0 - self.beta_1);
        let second = second.clone() + (square - second) * (1.0 - self.beta_2);
        // In float32, as in Keras.
        let steps = self.steps as f32;
        let correction_1 = 1.0 - (self.beta_1 as f32).powf(steps);
        let correction_2 = 1.0 - (self.beta_2 as f32).powf(steps);
        let rate = self.learning_rate as f32 * correction_2.sqrt() / correction_1;
        let delta = first.clone() * rate / (second.clone().sqrt() + self.epsilon);
        self.moments = Some(Moments { first, second });
        delta
    }

    /// All gradients, flattened and joined in the model's order, and their squares. `[parameter]`
    fn flatten(
        &self,
        model: &TransformerClassifier,
        mut gradients: Gradients,
        lookup: &Lookup,
    ) -> (Tensor<1>, Tensor<1>) {
        let table = &model.embedding.token_embedding;
        let [vocab_size, d_model] = table.dims();
        let rows = lookup.rows.grad_remove(&mut gradients);
        let mut others = OtherGradients {
            gradients: &mut gradients,
            excluded: table.id,
            parts: Vec::new(),
        };
        model.visit(&mut others);
        let others = Tensor::cat(others.parts, 0);
        // The token embedding comes first in the model's order.
        let zeros = Tensor::<2>::zeros([vocab_size, d_model], &others.device());
        let occurrences = lookup.tokens.dims().iter().product::<usize>();
        let tokens = lookup.tokens.clone().inner().reshape([occurrences]);
        let sum_by_token = |rows: Tensor<3>| {
            zeros
                .clone()
                .select_assign(
                    0,
                    tokens.clone(),
                    rows.reshape([occurrences, d_model]),
                    IndexingUpdateOp::Add,
                )
                .reshape([vocab_size * d_model])
        };
        let rows = rows.unwrap_or_else(|| lookup.rows.clone().inner().zeros_like());
        let gradient = Tensor::cat(vec![sum_by_token(rows.clone()), others.clone()], 0);
        let square = match self.token_second_moment {
            TokenSecondMoment::PerToken => gradient.clone().square(),
            TokenSecondMoment::PerOccurrence => {
                Tensor::cat(vec![sum_by_token(rows.square()), others.square()], 0)
            }
        };
        (gradient, square)
    }
}

/// Collects the flattened gradients of all parameters but one.
struct OtherGradients<'a> {
    gradients: &'a mut Gradients,
    excluded: ParamId,
    parts: Vec<Tensor<1>>,
}

impl ModuleVisitor for OtherGradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.id == self.excluded {
            return;
        }
        let parameter = param.val();
        let size = parameter.shape().num_elements();
        // A parameter that the loss does not depend on has no gradient, and stays as it is.
        let gradient = parameter
            .grad_remove(self.gradients)
            .unwrap_or_else(|| parameter.inner().zeros_like());
        self.parts.push(gradient.reshape([size]));
    }
}

/// Subtracts a flat vector from the parameters.
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
