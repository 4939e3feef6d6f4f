//! A small experiment, and an engine whose losses and predictions the test writes.
#![allow(dead_code)] // Each test uses a part.

use std::sync::Arc;

use headlight_architecture::Parameter;
use headlight_data::{ClsPlace, Dataset, Splits};
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_experiment::{
    Engine, Error, Experiment, FusedEngine, Predictions, Predictor, TrainingState,
};

/// 10 training samples in batches of 4, 3 steps per epoch, 2 epochs.
pub(crate) const CONFIG: &str = "\
seed = 3

[data]
generator = \"chacha\"
samples = 10
vocab_size = 9
seq_len = 3
rule = { kind = \"token-at-position\", token = 7, position = 2 }

[model]
d_model = 4

[training]
epochs = 2
batch_size = 4
";

/// Reads [`CONFIG`] with these `--set` changes.
pub(crate) fn parse(changes: &[&str]) -> Result<ExperimentConfig, String> {
    let changes = changes.iter().map(|change| ("--set", *change));
    toml::parse("c.toml", CONFIG, changes, |_| Ok(()), |_| Ok(()))
}

/// The samples `[0, 1, index, 1]`: with these labels.
pub(crate) fn dataset(positive: &[bool]) -> Dataset {
    let mut dataset = Dataset::empty(3, ClsPlace::First);
    for (index, &label) in positive.iter().enumerate() {
        dataset.push(&[0, 1, index as u32 % 8 + 1, 1], u32::from(label));
    }
    dataset
}

/// The experiment of a config, with 10 training samples and these held-out ones.
pub(crate) fn experiment(config: ExperimentConfig, held_out: &[bool]) -> Experiment {
    let splits = Splits::new(dataset(&[false; 10]), dataset(held_out));
    Experiment::new(config, Arc::new(splits), None).unwrap()
}

/// An engine that returns these losses step by step, and these logits sample by sample.
#[derive(Default)]
pub(crate) struct Scripted {
    pub(crate) losses: Vec<f64>,
    pub(crate) logits: Vec<f64>,
    pub(crate) steps: usize,
    /// The samples of each step.
    pub(crate) batches: Vec<Vec<u32>>,
}

impl Predictor for Scripted {
    /// The loss is the sample's number; attention is one tenth of it, plus the position.
    fn predict(&mut self, dataset: &Dataset, samples: &[u32], predictions: &mut Predictions) {
        assert!(samples.len() <= self.samples_per_pass());
        predictions.clear();
        for &sample in samples {
            let logit = self.logits[sample as usize];
            predictions.logits.push(logit);
            predictions.probabilities.push(logit / 10.0);
            predictions.losses.push(f64::from(sample));
            let row = (0..dataset.positions()).map(|position| {
                let position = f64::from(u32::try_from(position).unwrap());
                position + f64::from(sample) / 10.0
            });
            predictions.attention.extend(row);
        }
    }

    fn samples_per_pass(&self) -> usize {
        3
    }
}

impl Engine for Scripted {
    fn same_for<'a>(&self, other: &'a Experiment) -> Result<Box<dyn Engine + 'a>, Error> {
        Ok(Box::new(FusedEngine::new(other)?))
    }

    fn gradient_norm(&self) -> Option<f64> {
        None
    }

    fn step(&mut self, _train: &Dataset, batch: &[u32], _learning_rate: f64) -> f64 {
        self.batches.push(batch.to_vec());
        self.steps += 1;
        self.losses[self.steps - 1]
    }

    fn gradient(&mut self, _train: &Dataset, _batch: &[u32]) -> Vec<Parameter> {
        Vec::new()
    }

    /// One parameter: the number of steps.
    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter {
            name: "steps".to_owned(),
            shape: vec![1],
            values: vec![self.steps as f32],
        }]
    }

    fn state(&self) -> TrainingState {
        TrainingState {
            parameters: self.parameters(),
            first: vec![0.0],
            second: vec![0.0],
            steps: 0,
        }
    }

    fn restore(&mut self, _state: &TrainingState) -> Result<(), Error> {
        Ok(())
    }
}
