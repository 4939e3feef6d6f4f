//! The interface of engines: take training steps, predict, and save or restore the state.
//!
//! All engines start from the same weights, see the same batches, and their runs write the same files. Burn's
//! engine, which is not in this crate, is the reference: [`FusedEngine`](crate::FusedEngine) is tested
//! against it.

use headlight_architecture::Parameter;
use headlight_data::Dataset;

use crate::{Error, Experiment};

/// Predicts the classes of samples.
pub trait Predictor {
    /// Replaces `predictions` by those for these samples, at most
    /// [`samples_per_pass`](Self::samples_per_pass).
    fn predict(&mut self, dataset: &Dataset, samples: &[u32], predictions: &mut Predictions);

    /// The most samples that one call of [`predict`](Self::predict) takes.
    fn samples_per_pass(&self) -> usize;
}

/// Trains a model.
pub trait Engine: Predictor {
    /// Takes one step of the config's optimizer with this learning rate; returns the batch's mean loss before it.
    fn step(&mut self, train: &Dataset, batch: &[u32], learning_rate: f64) -> f64;

    /// An engine of the same kind and device for another experiment, with that one's initial weights.
    ///
    /// # Errors
    /// When these weights do not suit its config.
    fn same_for<'a>(&self, other: &'a Experiment) -> Result<Box<dyn Engine + 'a>, Error>;

    /// The norm of the last step's gradient before it was scaled down; `None` if the config does not ask for it.
    fn gradient_norm(&self) -> Option<f64>;

    /// The gradient of a batch's loss for each parameter, in the model's order; with the dropout of the next step.
    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter>;

    /// All parameters, in the model's order.
    fn parameters(&self) -> Vec<Parameter>;

    /// The values of all parameters, one after the other.
    fn weights(&self) -> Vec<f32> {
        Parameter::weights(&self.parameters())
    }

    /// The complete state that the next steps depend on.
    fn state(&self) -> TrainingState;

    /// Restores a state. On a CPU, the next steps then give the same bytes as they would have without the break.
    ///
    /// # Errors
    /// When the state belongs to a different model.
    fn restore(&mut self, state: &TrainingState) -> Result<(), Error>;
}

/// The state of a model in training, as plain arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    /// The parameters, in the model's order.
    pub parameters: Vec<Parameter>,
    /// Adam's mean of gradients, over all parameters in that order; with SGD, the direction of the last step.
    pub first: Vec<f32>,
    /// Adam's mean of squared gradients, over all parameters in that order.
    pub second: Vec<f32>,
    /// Steps taken.
    pub steps: u32,
}

impl TrainingState {
    /// Parameters, with the moments of an optimizer that has taken no step.
    pub fn of(parameters: Vec<Parameter>) -> Self {
        let counts = parameters.iter().map(|parameter| parameter.values.len());
        let count = counts.sum();
        Self {
            parameters,
            first: vec![0.0; count],
            second: vec![0.0; count],
            steps: 0,
        }
    }

    /// What of the state is NaN or infinite: such a state cannot be trained on.
    pub fn not_finite(&self) -> Option<String> {
        let moments = [
            ("the optimizer's mean of gradients", &self.first),
            ("the optimizer's mean of squared gradients", &self.second),
        ];
        let parameters = self.parameters.iter();
        let named =
            parameters.map(|parameter| (format!("`{}`", parameter.name), &parameter.values));
        let mut all = named.chain(moments.map(|(name, values)| (name.to_owned(), values)));
        let found = all.find(|(_, values)| values.iter().any(|value| !value.is_finite()));
        found.map(|(name, _)| name)
    }

    /// Checks that names, shapes and numbers of moments match the `expected` parameters.
    ///
    /// # Errors
    /// Names the first difference.
    pub fn check(&self, expected: &[Parameter]) -> Result<(), Error> {
        let differs = |what: String| {
            Err(Error::Input(format!(
                "it belongs to a different model: it has {what}"
            )))
        };
        let (found, count) = (self.parameters.len(), expected.len());
        if found != count {
            return differs(format!("{found} parameters, not {count}"));
        }
        for (found, expected) in self.parameters.iter().zip(expected) {
            if (&found.name, &found.shape) != (&expected.name, &expected.shape) {
                return differs(format!(
                    "`{}` {:?}, not `{}` {:?}",
                    found.name, found.shape, expected.name, expected.shape
                ));
            }
        }
        let sizes = expected.iter().map(|parameter| parameter.values.len());
        let count: usize = sizes.sum();
        let moments = (self.first.len(), self.second.len());
        if moments != (count, count) {
            return differs(format!(
                "{} and {} moments, not {count}",
                moments.0, moments.1
            ));
        }
        Ok(())
    }
}

/// The predictions of a model for some samples.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    /// Log-odds of class 1; of more than two classes, the logit of each. `[sample, answer, logit]`
    pub logits: Vec<f64>,
    /// Probability of class 1; of more than two classes, that of each. `[sample, answer, logit]`
    pub probabilities: Vec<f64>,
    /// Cross-entropy with the label, in nats; 0 where none counts. `[sample, answer]`
    pub losses: Vec<f64>,
    /// Attention in the last layer, mean over heads: of the readout position, `[sample, position]`, or of each position,
    /// `[sample, answer, position]`.
    pub attention: Vec<f64>,
}

impl Predictions {
    /// Removes all samples, and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.logits.clear();
        self.probabilities.clear();
        self.losses.clear();
        self.attention.clear();
    }
}
