//! A run recorded elsewhere, repeated here and compared figure by figure.
//!
//! `scripts/keras_reference.py` records one in Keras, and its head says what the file holds. The
//! comparison goes level by level: what the recorded weights compute, the gradient of the first
//! batch, and the whole training run from the same weights over the same batches.

mod compare;
mod file;

use std::path::Path;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor};
use headlight_data::{Batch, Dataset};
use headlight_model::{ForwardOutput, Parameter, TransformerClassifier};
use safetensors::tensor::SafeTensors;

pub use compare::Comparison;
use compare::{Bound, compare};
use file::Reader;

use crate::Failure;
use crate::config::ExperimentConfig;
use crate::experiment::{Experiment, host, inference, label_tensor, samples_at_once, token_tensor};
use crate::files::read_bounded;
use crate::metrics::sigmoid;
use crate::train::binary_cross_entropy;

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
        model: &TransformerClassifier,
        config: &ExperimentConfig,
        train: &Dataset,
    ) -> Result<Self, Failure> {
        let bytes = read_bounded(path)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|error| {
            let reason = format!("it is not a safetensors file, or it was cut short ({error})");
            Failure::reading(path, reason)
        })?;
        let mut reader = Reader::new(&tensors);
        let reference = reader.reference(&model.parameters(), config, train);
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
        Err(Failure::reading(
            path,
            format!("it is no recorded run of this config: {differences}"),
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

    /// The model with the recorded initial weights.
    ///
    /// # Errors
    /// When they are not this model's.
    pub fn start(&self, model: TransformerClassifier) -> Result<TransformerClassifier, Failure> {
        with(model, &self.initial)
    }

    /// The order of samples in an epoch, counted from 1.
    pub fn order(&self, epoch: usize) -> &[u32] {
        &self.order[epoch - 1]
    }

    /// What the recorded weights compute here, and the gradient of the first batch.
    ///
    /// # Errors
    /// When the recorded weights are not this model's.
    pub fn compare_at_start(&self, experiment: &Experiment) -> Result<Vec<Comparison>, Failure> {
        let mut comparisons = Vec::new();
        let moments = [
            ("initial weights", &self.initial, &self.before),
            ("final weights", &self.last, &self.after),
        ];
        let batch = Batch::gather(&experiment.splits.train, &self.samples);
        for (moment, parameters, recorded) in moments {
            let model = inference(&with(experiment.model.clone(), parameters)?);
            let output = model.forward(token_tensor(&batch, &experiment.device.device));
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
        let first = &self.order(1)[..experiment
            .config
            .training
            .batch_size
            .min(self.order(1).len())];
        let batch = Batch::gather(&experiment.splits.train, first);
        let device = experiment.device.device.clone().autodiff();
        let ours = gradients(
            &with(experiment.model.clone(), &self.initial)?,
            &batch,
            &device,
        );
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
    pub fn compare_at_end(&self, experiment: &Experiment, losses: &[f64]) -> Vec<Comparison> {
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
        let model = inference(&experiment.model);
        let train = &experiment.splits.train;
        let samples: Vec<u32> = (0..train.len() as u32).collect();
        let ours: Vec<f32> = samples
            .chunks(samples_at_once(&experiment.config))
            .flat_map(|part| {
                let batch = Batch::gather(train, part);
                host(
                    model
                        .forward(token_tensor(&batch, &experiment.device.device))
                        .logits,
                )
            })
            .map(|logit| sigmoid(f64::from(logit)) as f32)
            .collect();
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

fn with(
    model: TransformerClassifier,
    parameters: &[Parameter],
) -> Result<TransformerClassifier, Failure> {
    model
        .with_parameters(parameters.to_vec())
        .map_err(|mismatch| Failure::Input(mismatch.to_string()))
}

/// The gradient of a batch's loss for each parameter, in the model's order.
pub fn gradients(model: &TransformerClassifier, batch: &Batch, device: &Device) -> Vec<Parameter> {
    struct Collect<'a> {
        gradients: &'a mut Gradients,
        values: Vec<Vec<f32>>,
    }
    impl ModuleVisitor for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let gradient = param.val().grad_remove(self.gradients);
            self.values.push(gradient.map_or_else(Vec::new, host));
        }
    }
    let logits = model.forward(token_tensor(batch, device)).logits;
    let mut gradients = binary_cross_entropy(logits, label_tensor(batch, device)).backward();
    let mut collect = Collect {
        gradients: &mut gradients,
        values: Vec::new(),
    };
    model.visit(&mut collect);
    let named = model.parameters().into_iter().zip(collect.values);
    named
        .map(|(parameter, values)| Parameter {
            values,
            ..parameter
        })
        .collect()
}
