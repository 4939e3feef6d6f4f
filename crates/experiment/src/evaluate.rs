//! Evaluates a model on a split.

use std::convert::Infallible;

use headlight_data::{Batches, Dataset, IGNORED};

use crate::config::ExperimentConfig;
use crate::engine::{Predictions, Predictor};
use crate::error::Error;
use crate::metrics::{Assessment, EvalMetrics, LabelledPredictions, Tally, predicted_class};

/// The metrics of a model on a split, and the attention of the readout position there.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// All metrics.
    pub metrics: EvalMetrics,
    /// Attention of the readout position to each position, in the last layer, mean over heads and over positive
    /// samples, those of every class but 0; `None` without such samples. `[position]`
    pub attention_positive: Option<Vec<f64>>,
    /// The same over negative samples.
    pub attention_negative: Option<Vec<f64>>,
}

/// Evaluates a model on all samples of a split; `None` if the split is empty.
///
/// The config's rule gives the positions that decide a sample's label. Without one, the attention to them is not
/// measured, nor is uniform attention, which is that over the keys that the readout position may look at.
pub fn evaluate(
    model: &mut dyn Predictor,
    dataset: &Dataset,
    n_classes: usize,
    config: Option<&ExperimentConfig>,
) -> Option<Evaluation> {
    let ruled = config.and_then(|config| {
        let rule = config.data.rule.as_ref()?;
        Some((rule, &config.model.attention, config))
    });
    // Of most rules the positions are the same in all samples, and without padding the keys are, too.
    let same = ruled.and_then(|(rule, attention, config)| {
        let deciding = rule.fixed_positions()?;
        let has_own_keys = attention.padding_token.is_some() || dataset.is_empty();
        let read = config.inputs().read_position;
        let keys = (!has_own_keys).then(|| attention.keys(read, dataset.tokens(0)))?;
        let uniform = keys.uniform(&deciding);
        Some((deciding, uniform))
    });
    let positions = dataset.positions();
    let mut tally = Tally::new(n_classes);
    let [mut positive, mut negative] = [Row::new(positions), Row::new(positions)];
    let Ok(()) = each_prediction(model, dataset, |found| {
        if found.is_last {
            tally.add_whole(found.all_right);
        }
        let (label, row) = (found.label, found.attention);
        if label == IGNORED {
            return Ok::<_, Infallible>(());
        }
        tally.add(found.logits, found.probabilities, found.loss, label);
        if label == 0 {
            &mut negative
        } else {
            &mut positive
        }
        .add(row);
        let Some((rule, attention, config)) = ruled else {
            return Ok(());
        };
        let paid = |deciding: &[usize]| deciding.iter().map(|&position| row[position]).sum();
        if let Some((deciding, uniform)) = &same {
            tally.add_attention(label, paid(deciding), *uniform);
            return Ok(());
        }
        let tokens = dataset.tokens(found.sample);
        let query = if dataset.is_per_position() {
            found.position
        } else {
            config.readout_position(tokens)
        };
        let deciding = rule.deciding_at(tokens, dataset.cls(), query);
        if !deciding.is_empty() {
            let uniform = attention.keys(query, tokens).uniform(&deciding);
            tally.add_attention(label, paid(&deciding), uniform);
        }
        Ok(())
    });
    Some(Evaluation {
        metrics: tally.metrics()?,
        attention_positive: positive.mean(),
        attention_negative: negative.mean(),
    })
}

/// Assesses a model on all samples of a dataset.
///
/// # Errors
/// When there are no samples, or those of [`predict_each`].
pub fn assess(
    model: &mut dyn Predictor,
    dataset: &Dataset,
    n_classes: usize,
) -> Result<Assessment, Error> {
    let mut predictions = LabelledPredictions::new(n_classes);
    predict_each(model, dataset, |found| {
        if found.label != IGNORED {
            predictions.add(found.logits, found.probabilities, found.loss, found.label);
        }
        if found.is_last {
            predictions.add_whole(found.all_right);
        }
        Ok::<_, Error>(())
    })?;
    let assessment = predictions.assess();
    assessment.ok_or_else(|| Error::Input("there are no samples to evaluate on".to_owned()))
}

/// A model's prediction for a sample, or for a position of one.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The sample's place in its dataset.
    pub sample: usize,
    /// The position that it is of, if samples have a label per position; else 0.
    pub position: usize,
    /// Its label; [`IGNORED`] where none counts.
    label: u32,
    /// Whether it is the last of its sample.
    is_last: bool,
    /// Whether all labels of the sample up to this one that count are right; `None` if none counts, or samples have one label.
    all_right: Option<bool>,
    /// As [`Predictions::logits`]. `[logit]`
    pub logits: &'a [f64],
    /// As [`Predictions::probabilities`]. `[logit]`
    pub probabilities: &'a [f64],
    /// As [`Predictions::losses`].
    pub loss: f64,
    /// As [`Predictions::attention`]. `[position]`
    attention: &'a [f64],
}

/// Predicts all samples of a dataset, in their order; with a label per position, each position.
///
/// # Errors
/// When the model's output for a sample is not finite, or `each` fails.
pub fn predict_each<E: From<Error>>(
    model: &mut dyn Predictor,
    dataset: &Dataset,
    mut each: impl FnMut(Prediction<'_>) -> Result<(), E>,
) -> Result<(), E> {
    each_prediction(model, dataset, |found| {
        if !found.logits.iter().all(|logit| logit.is_finite()) {
            return Err(Error::not_finite(&format!(" for sample {}", found.sample)).into());
        }
        each(found)
    })
}

/// Predicts all samples as [`predict_each`] does, whatever their outputs are.
fn each_prediction<E>(
    model: &mut dyn Predictor,
    dataset: &Dataset,
    mut each: impl FnMut(Prediction<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut predictions = Predictions::default();
    let (answers, positions) = (dataset.labels_per_sample(), dataset.positions());
    for samples in Batches::in_order(dataset, model.samples_per_pass()).iter() {
        model.predict(dataset, samples, &mut predictions);
        let n_logits = predictions.logits.len() / (samples.len() * answers);
        for (index, &sample) in samples.iter().enumerate() {
            let sample = sample as usize;
            let mut all_right = None;
            for (position, &label) in dataset.labels_of(sample).iter().enumerate() {
                let answer = index * answers + position;
                let logits = &predictions.logits[answer * n_logits..][..n_logits];
                if dataset.is_per_position() && label != IGNORED {
                    let is_right = predicted_class(logits) == label;
                    all_right = Some(all_right.unwrap_or(true) && is_right);
                }
                each(Prediction {
                    sample,
                    position,
                    label,
                    is_last: position + 1 == answers,
                    all_right,
                    logits,
                    probabilities: &predictions.probabilities[answer * n_logits..][..n_logits],
                    loss: predictions.losses[answer],
                    attention: &predictions.attention[answer * positions..][..positions],
                })?;
            }
        }
    }
    Ok(())
}

/// A running mean of rows.
struct Row {
    sum: Vec<f64>,
    count: usize,
}

impl Row {
    fn new(positions: usize) -> Self {
        Self {
            sum: vec![0.0; positions],
            count: 0,
        }
    }

    fn add(&mut self, row: &[f64]) {
        self.count += 1;
        for (sum, value) in self.sum.iter_mut().zip(row) {
            *sum += value;
        }
    }

    fn mean(self) -> Option<Vec<f64>> {
        let count = self.count as f64;
        (self.count > 0).then(|| self.sum.into_iter().map(|sum| sum / count).collect())
    }
}
