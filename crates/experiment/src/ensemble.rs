//! The mean prediction of several models with one architecture.

use headlight_data::{Batches, Dataset, IGNORED};

use crate::engine::{Predictions, Predictor};
use crate::metrics::{cross_entropy, probabilities};

/// The mean of the probabilities of several models for the samples of a dataset. Each model is added and forgotten, so that
/// memory does not grow with their number.
///
/// The logits are those of the mean probabilities: `ln(p / (1 - p))` of class 1; of more than two classes, `ln p` of each.
/// Attention is not kept, which would take the memory of many datasets.
#[derive(Debug, Default)]
pub struct Ensemble {
    members: usize,
    classes: usize,
    /// The logarithm of each class's sum of probabilities: sums of tiny ones would lose digits. `[sample, answer, class]`
    sums: Vec<f64>,
}

impl Ensemble {
    /// Adds the predictions of a model for all samples of a dataset, the same one each time.
    pub fn add(&mut self, model: &mut dyn Predictor, dataset: &Dataset) {
        let (mut one, mut at) = (Predictions::default(), 0);
        for samples in Batches::in_order(dataset, model.samples_per_pass()).iter() {
            model.predict(dataset, samples, &mut one);
            let n_logits = one.logits.len() / (samples.len() * dataset.answers());
            self.classes = n_logits.max(2);
            for found in one.logits.chunks(n_logits).flat_map(log_probabilities) {
                match self.sums.get_mut(at) {
                    Some(sum) => *sum = log_add(*sum, found),
                    None => self.sums.push(found),
                }
                at += 1;
            }
        }
        self.members += 1;
    }
}

impl Predictor for Ensemble {
    /// # Panics
    /// When no model was added, or the dataset is another one.
    fn predict(&mut self, dataset: &Dataset, samples: &[u32], predictions: &mut Predictions) {
        predictions.clear();
        let count = self.members as f64;
        let answers = dataset.answers();
        for &sample in samples {
            let sums = self.sums.chunks(self.classes);
            let sums = sums.skip(sample as usize * answers);
            for (sums, &label) in sums.zip(dataset.labels_of(sample as usize)) {
                let logits = match *sums {
                    [zero, one] => vec![one - zero],
                    _ => sums.iter().map(|sum| sum - count.ln()).collect(),
                };
                predictions.losses.push(match label {
                    IGNORED => 0.0,
                    label => cross_entropy(&logits, label),
                });
                predictions.probabilities.extend(probabilities(&logits));
                predictions.logits.extend(logits);
            }
        }
    }

    fn samples_per_pass(&self) -> usize {
        500
    }
}

/// The logarithm of the probability of each class.
fn log_probabilities(logits: &[f64]) -> Vec<f64> {
    let classes = logits.len().max(2);
    let of = |class| -cross_entropy(logits, class as u32);
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
