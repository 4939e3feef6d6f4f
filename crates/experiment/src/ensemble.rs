//! The mean prediction of several models with one architecture.

use headlight_architecture::Parameter;
use headlight_data::Dataset;

use crate::engine::{Engine, Predictions, Predictor, TrainingState};
use crate::error::Error;
use crate::metrics::{cross_entropy, probabilities};

/// Several models, whose probabilities are averaged.
///
/// The logits are those of the mean probabilities: `ln(p / (1 - p))` of class 1; of more than two classes, `ln p` of each.
/// Attention is the mean over the models, too.
pub struct Ensemble<'a> {
    engine: Box<dyn Engine + 'a>,
    members: Vec<TrainingState>,
    one: Predictions,
}

impl<'a> Ensemble<'a> {
    /// Models with these weights, which `engine` computes.
    ///
    /// # Errors
    /// When weights belong to another architecture, or there are none.
    pub fn new(
        mut engine: Box<dyn Engine + 'a>,
        members: Vec<Vec<Parameter>>,
    ) -> Result<Self, Error> {
        if members.is_empty() {
            return Err(Error::Input("there are no models to average".to_owned()));
        }
        let members: Vec<TrainingState> = members.into_iter().map(TrainingState::of).collect();
        for member in &members {
            engine.restore(member)?;
        }
        Ok(Self {
            engine,
            members,
            one: Predictions::default(),
        })
    }
}

impl Predictor for Ensemble<'_> {
    fn predict(&mut self, dataset: &Dataset, samples: &[u32], predictions: &mut Predictions) {
        predictions.clear();
        // The logarithm of each class's sum of probabilities: sums of tiny ones would lose digits. [sample, class]
        let mut sums: Vec<f64> = Vec::new();
        for member in &self.members {
            let restored = self.engine.restore(member);
            assert!(restored.is_ok(), "each has been restored before");
            self.engine.predict(dataset, samples, &mut self.one);
            let n_logits = self.one.logits.len() / samples.len();
            let logits = self.one.logits.chunks(n_logits);
            let found = logits.flat_map(log_probabilities);
            if sums.is_empty() {
                sums.extend(found);
                predictions.attention.clone_from(&self.one.attention);
            } else {
                let sums = sums.iter_mut().zip(found);
                sums.for_each(|(sum, value)| *sum = log_add(*sum, value));
                let weights = predictions.attention.iter_mut().zip(&self.one.attention);
                weights.for_each(|(sum, weight)| *sum += weight);
            }
        }
        let count = self.members.len() as f64;
        for weight in &mut predictions.attention {
            *weight /= count;
        }
        for (&sample, sums) in samples.iter().zip(sums.chunks(sums.len() / samples.len())) {
            let logits = match *sums {
                [zero, one] => vec![one - zero],
                _ => sums.iter().map(|sum| sum - count.ln()).collect(),
            };
            let label = dataset.label(sample as usize);
            predictions.losses.push(cross_entropy(&logits, label));
            predictions.probabilities.extend(probabilities(&logits));
            predictions.logits.extend(logits);
        }
    }

    fn samples_per_pass(&self) -> usize {
        self.engine.samples_per_pass()
    }
}

/// The logarithm of the probability of each class.
fn log_probabilities(logits: &[f64]) -> Vec<f64> {
    let classes = logits.len().max(2);
    let of = |class| -cross_entropy(logits, class as u8);
    (0..classes).map(of).collect()
}

/// `ln(e^a + e^b)`.
fn log_add(a: f64, b: f64) -> f64 {
    let most = a.max(b);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + (-(a - b).abs()).exp().ln_1p()
}
