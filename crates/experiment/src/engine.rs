//! What every engine can do: take training steps, and say what its model predicts.
//!
//! All engines start from the same weights, see the same batches and leave the same files. Burn's engine,
//! which is not in this crate, is the reference; [`FusedEngine`](crate::FusedEngine) proves itself
//! against it.

use headlight_architecture::Parameter;
use headlight_data::Dataset;

use crate::Error;

/// A model in training.
pub trait Engine {
    /// Takes one step of Adam; returns the batch's mean loss before it.
    fn step(&mut self, train: &Dataset, batch: &[u32]) -> f64;

    /// Writes what the model predicts for at most [`samples_per_pass`](Self::samples_per_pass) samples
    /// over `predictions`.
    fn predict(&mut self, dataset: &Dataset, samples: &[u32], predictions: &mut Predictions);

    /// How many samples one call of [`predict`](Self::predict) takes at most.
    fn samples_per_pass(&self) -> usize;

    /// The gradient of a batch's loss for each parameter, in the model's order.
    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter>;

    /// All parameters, in the model's order.
    fn parameters(&self) -> Vec<Parameter>;

    /// All that the next steps depend on.
    fn state(&self) -> TrainingState;

    /// Continues from a state: on a CPU, with the same bytes as where the state was taken.
    ///
    /// # Errors
    /// When the state belongs to a different model.
    fn restore(&mut self, state: &TrainingState) -> Result<(), Error>;
}

/// A model in training, as plain arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    /// In the model's order.
    pub parameters: Vec<Parameter>,
    /// Adam's mean of gradients, over all parameters in that order.
    pub first: Vec<f32>,
    /// Adam's mean of squared gradients, over all parameters in that order.
    pub second: Vec<f32>,
    /// Steps taken.
    pub steps: u32,
}

impl TrainingState {
    /// Checks that the state has the names, shapes and moments of `own` parameters.
    ///
    /// # Errors
    /// Names the first difference.
    pub fn check(&self, own: &[Parameter]) -> Result<(), Error> {
        let differs = |what: String| {
            Err(Error::Input(format!(
                "it belongs to a different model: {what}"
            )))
        };
        let (theirs, ours) = (self.parameters.len(), own.len());
        if theirs != ours {
            return differs(format!("{theirs} parameters, not {ours}"));
        }
        for (theirs, own) in self.parameters.iter().zip(own) {
            if (&theirs.name, &theirs.shape) != (&own.name, &own.shape) {
                return differs(format!(
                    "`{}` {:?}, not `{}` {:?}",
                    theirs.name, theirs.shape, own.name, own.shape
                ));
            }
        }
        let count: usize = own.iter().map(|parameter| parameter.values.len()).sum();
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

/// What a model predicts for some samples.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    /// Log-odds of the positive class. `[sample]`
    pub logits: Vec<f64>,
    /// Probability of the positive class. `[sample]`
    pub probabilities: Vec<f64>,
    /// Binary cross-entropy with the sample's label, in nats. `[sample]`
    pub losses: Vec<f64>,
    /// Attention of `[CLS]` in the last block, mean over heads. `[sample, position]`
    pub attention: Vec<f64>,
}

impl Predictions {
    /// Forgets all samples, and keeps the memory.
    pub fn clear(&mut self) {
        self.logits.clear();
        self.probabilities.clear();
        self.losses.clear();
        self.attention.clear();
    }
}
