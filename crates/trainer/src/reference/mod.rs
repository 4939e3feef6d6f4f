//! A run recorded elsewhere, repeated here and compared figure by figure.
//!
//! `scripts/keras/keras_reference.py` records one in Keras, and its head says what the file holds. The
//! comparison goes level by level: what the recorded weights compute, the gradient of the first
//! batch, and the whole training run from the same weights over the same batches.

mod compare;
mod file;

use std::path::Path;

use headlight_data::{Batch, Batches, Dataset};
use headlight_model::{ForwardOutput, Parameter};

use sha2::{Digest, Sha256};

pub use compare::Comparison;
use compare::{Bound, compare};
use file::Reader;

use crate::Failure;
use crate::config::ExperimentConfig;
use crate::engine::{Answers, Engine};
use crate::experiment::{Experiment, host, init_model, token_tensor, with};
use crate::files::read_bounded;
use crate::weights::{FREE_LIMIT, tensors};

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Reference {
    initial: Vec<Parameter>,
    gradient: Vec<Parameter>,
    last: Vec<Parameter>,
    order: Vec<Vec<u32>>,
    losses: Vec<f32>,
    samples: Vec<u32>,
    /// Of the samples, at the initial weights. `[sample, position, d_model]`
    embeddings: Vec<f32>,
    before: Forward,
    after: Forward,
    probabilities: Vec<f32>,
}

/// What one set of weights computes for the recorded samples.
#[derive(Clone, Debug)]
struct Forward {
    logits: Vec<f32>,
    scores: Vec<f32>,
    weights: Vec<f32>,
    context: Vec<f32>,
}

impl Reference {
    /// Reads a recorded run and checks that it is one of this experiment's.
    ///
    /// # Errors
    /// When the file is missing or damaged; lists every tensor that is missing, extra, or of
    /// another type or shape, and every one with NaN inside.
    pub fn load(
        path: &Path,
        start: &[Parameter],
        config: &ExperimentConfig,
        train: &Dataset,
    ) -> Result<Self, Failure> {
        let bytes = read_bounded(path, FREE_LIMIT)?;
        Self::decode(&bytes, start, config, train).map_err(|reason| Failure::reading(path, reason))
    }

    /// As [`load`](Self::load), from bytes.
    ///
    /// # Errors
    /// As [`load`](Self::load): says what is wrong.
    pub fn decode(
        bytes: &[u8],
        start: &[Parameter],
        config: &ExperimentConfig,
        train: &Dataset,
    ) -> Result<Self, String> {
        let tensors = tensors(bytes)?;
        let mut reader = Reader::new(&tensors);
        let reference = reader.reference(start, config, train);
        reader.refuse_others();
        if reader.differences.is_empty() && !reference.is_of(train) {
            reader
                .differences
                .push("its samples are not those of [data]".to_owned());
        }
        if reader.differences.is_empty() {
            return Ok(reference);
        }
        reader.differences.sort();
        let differences = reader.differences.join("; ");
        Err(format!(
            "it is no recorded run of this config: {differences}"
        ))
    }

    /// Whether the recorded embeddings of its samples are those of the same samples here.
    fn is_of(&self, train: &Dataset) -> bool {
        let [tokens, positions, ..] = self.initial.as_slice() else {
            return false;
        };
        let d_model = tokens.shape[1];
        let rows = self
            .samples
            .iter()
            .flat_map(|&sample| train.tokens(sample as usize).iter().enumerate());
        let expected = rows.flat_map(|(position, &token)| {
            (0..d_model).map(move |i| (token as usize * d_model + i, position * d_model + i))
        });
        expected
            .map(|(token, position)| tokens.values[token] + positions.values[position])
            .zip(&self.embeddings)
            .all(|(ours, theirs)| (ours - theirs).abs() < 1e-6)
    }

    /// Adds what a run is compared with at its end to a hash.
    pub(crate) fn add_to(&self, hash: &mut Sha256) {
        for value in self.losses.iter().chain(&self.probabilities) {
            hash.update(value.to_le_bytes());
        }
        for sample in self.order.iter().flatten() {
            hash.update(sample.to_le_bytes());
        }
    }

    /// The recorded initial weights, in the model's order.
    pub fn start(&self) -> &[Parameter] {
        &self.initial
    }

    /// The order of samples in an epoch, counted from 1.
    pub fn order(&self, epoch: usize) -> &[u32] {
        &self.order[epoch - 1]
    }

    /// What the recorded weights compute here, and the engine's gradient of the first batch.
    ///
    /// # Errors
    /// When the recorded weights are not this model's.
    pub fn compare_at_start(
        &self,
        experiment: &Experiment,
        engine: &mut dyn Engine,
    ) -> Result<Vec<Comparison>, Failure> {
        let mut comparisons = Vec::new();
        let moments = [
            ("initial weights", &self.initial, &self.before),
            ("final weights", &self.last, &self.after),
        ];
        let Experiment {
            config,
            splits,
            device,
            ..
        } = experiment;
        let batch = Batch::gather(&splits.train, &self.samples);
        for (moment, parameters, recorded) in moments {
            let model = with(init_model(config, &device.device)?, parameters)?;
            let output = model.forward(token_tensor(&batch, &device.device));
            let ours = Forward::of(output);
            let forward = |what: &str, ours: &[f32], theirs: &[f32], bound: Bound| {
                compare("forward", format!("{what}, {moment}"), ours, theirs, bound)
            };
            comparisons.extend([
                forward(
                    "attention scores",
                    &ours.scores,
                    &recorded.scores,
                    Bound::SCORES,
                ),
                forward(
                    "attention weights",
                    &ours.weights,
                    &recorded.weights,
                    Bound::WEIGHTS,
                ),
                forward("context", &ours.context, &recorded.context, Bound::WEIGHTS),
                forward("logits", &ours.logits, &recorded.logits, Bound::LOGITS),
            ]);
        }
        let order = self.order(1);
        let first = &order[..config.training.batch_size.min(order.len())];
        let ours = engine.gradient(&splits.train, first);
        for (ours, theirs) in ours.iter().zip(&self.gradient) {
            let what = theirs.name.clone();
            comparisons.push(compare(
                "gradient",
                what,
                &ours.values,
                &theirs.values,
                Bound::GRADIENT,
            ));
        }
        Ok(comparisons)
    }

    /// The losses of this run's steps, and, where it went as far as the recorded one, what came of
    /// it.
    pub fn compare_at_end(
        &self,
        train: &Dataset,
        engine: &mut dyn Engine,
        losses: &[f64],
    ) -> Vec<Comparison> {
        let ours: Vec<f32> = losses.iter().map(|&loss| loss as f32).collect();
        let what = format!("losses of {} steps", ours.len());
        let mut comparisons = vec![compare(
            "training",
            what,
            &ours,
            &self.losses[..ours.len()],
            Bound::LOSS,
        )];
        if ours.len() < self.losses.len() {
            return comparisons;
        }
        let mut ours: Vec<f32> = Vec::with_capacity(train.len());
        let mut answers = Answers::default();
        for samples in Batches::in_order(train, engine.at_once()).iter() {
            engine.ask(train, samples, &mut answers);
            ours.extend(answers.probabilities.iter().map(|&p| p as f32));
        }
        let what = format!("final probabilities of {} samples", ours.len());
        comparisons.push(compare(
            "training",
            what,
            &ours,
            &self.probabilities,
            Bound::PROBABILITY,
        ));
        comparisons
    }
}

impl Forward {
    fn of(output: ForwardOutput) -> Self {
        let ForwardOutput { logits, layers, .. } = output;
        let mut forward = Self {
            logits: host(logits),
            scores: Vec::new(),
            weights: Vec::new(),
            context: Vec::new(),
        };
        for layer in layers {
            forward.scores.extend(host(layer.attention.scores));
            forward.weights.extend(host(layer.attention.weights));
            forward.context.extend(host(layer.attention.context));
        }
        forward
    }
}
