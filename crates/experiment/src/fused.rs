//! `headlight-fused` as an engine.

use headlight_architecture::{Mask, Parameter, ProjectionKind, Scale};
use headlight_data::{ClsPlace, Dataset};
use headlight_fused::{Model, Samples, Shape, State};

use crate::config::ExperimentConfig;
use crate::engine::{Engine, Predictions, TrainingState};
use crate::error::Error;
use crate::experiment::Experiment;

/// Samples per pass, few enough that their predictions stay in the cache.
const SAMPLES_PER_PASS: usize = 512;

/// Trains with `headlight-fused`.
#[derive(Debug)]
pub struct FusedEngine<'a> {
    experiment: &'a Experiment,
    model: Model,
    predictions: headlight_fused::Predictions,
}

impl<'a> FusedEngine<'a> {
    /// The experiment's model with its initial weights.
    ///
    /// # Errors
    /// When the engine does not support the config.
    pub fn new(experiment: &'a Experiment) -> Result<Self, Error> {
        let config = &experiment.config;
        let shape = Shape {
            vocab_size: config.data.vocab_size as usize,
            positions: config.data.seq_len + 1,
            d_model: config.model.d_model,
            n_heads: config.model.n_heads,
        };
        let adam = config.training.adam();
        let start: Vec<f32> = experiment
            .start
            .iter()
            .flat_map(|parameter| parameter.values.iter().copied())
            .collect();
        let mut model = Model::new(shape, config.model.layer_norm_eps as f32, adam, &start)
            .map_err(|error| Error::Input(error.to_string()))?;
        let attention = &config.model.attention;
        if (attention.scale, attention.temperature) != (Scale::Root, 1.0) {
            model = model.with_scale(attention.factor(config.model.d_head()) as f32);
        }
        Ok(Self {
            experiment,
            model,
            predictions: headlight_fused::Predictions::default(),
        })
    }

    /// Splits the concatenated values of all parameters by name.
    fn named(&self, values: &[f32]) -> Vec<Parameter> {
        let mut rest = values;
        let start = self.experiment.start.iter();
        start
            .map(|parameter| {
                let (own, others) = rest.split_at(parameter.values.len());
                rest = others;
                Parameter {
                    name: parameter.name.clone(),
                    shape: parameter.shape.clone(),
                    values: own.to_vec(),
                }
            })
            .collect()
    }
}

/// Borrows a dataset in the form that `headlight-fused` takes.
fn samples(dataset: &Dataset) -> Samples<'_> {
    Samples {
        tokens: dataset.all_tokens(),
        labels: dataset.labels(),
    }
}

impl Engine for FusedEngine<'_> {
    fn step(&mut self, train: &Dataset, batch: &[u32]) -> f64 {
        f64::from(self.model.step(samples(train), batch))
    }

    fn predict(&mut self, dataset: &Dataset, chosen: &[u32], predictions: &mut Predictions) {
        self.model
            .predict(samples(dataset), chosen, &mut self.predictions);
        predictions.clear();
        let own = &self.predictions;
        let wide = |values: &[f32], into: &mut Vec<f64>| {
            into.extend(values.iter().map(|&value| f64::from(value)));
        };
        wide(&own.logits, &mut predictions.logits);
        wide(&own.probabilities, &mut predictions.probabilities);
        wide(&own.losses, &mut predictions.losses);
        let heads = self.experiment.config.model.n_heads;
        let positions = dataset.positions();
        predictions.attention.resize(chosen.len() * positions, 0.0);
        let means = predictions.attention.chunks_exact_mut(positions);
        for (mean, rows) in means.zip(own.attention.chunks_exact(heads * positions)) {
            for row in rows.chunks_exact(positions) {
                for (mean, &weight) in mean.iter_mut().zip(row) {
                    *mean += f64::from(weight);
                }
            }
            for mean in mean {
                *mean /= heads as f64;
            }
        }
    }

    fn samples_per_pass(&self) -> usize {
        SAMPLES_PER_PASS
    }

    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter> {
        let gradient = self.model.gradient(samples(train), batch);
        self.named(&gradient.values)
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.named(&self.model.parameters())
    }

    fn state(&self) -> TrainingState {
        let State {
            parameters,
            first,
            second,
            steps,
        } = self.model.state();
        TrainingState {
            parameters: self.named(&parameters),
            first,
            second,
            steps,
        }
    }

    fn restore(&mut self, state: &TrainingState) -> Result<(), Error> {
        state.check(&self.experiment.start)?;
        let parameters = state.parameters.iter();
        self.model.restore(&State {
            parameters: parameters
                .flat_map(|parameter| parameter.values.iter().copied())
                .collect(),
            first: state.first.clone(),
            second: state.second.clone(),
            steps: state.steps,
        });
        Ok(())
    }
}

/// Why the fused engine does not support the model of a config; `None` if it does.
pub fn beyond_fused(config: &ExperimentConfig) -> Option<String> {
    let model = &config.model;
    let attention = &model.attention;
    let switches = [
        (
            model.n_layers != 1,
            format!("model.n_layers = {}", model.n_layers),
        ),
        (model.d_ff != 0, format!("model.d_ff = {}", model.d_ff)),
        (!model.positions, "model.positions = false".to_owned()),
        (
            attention.projections != ProjectionKind::Separate,
            "model.attention.projections other than \"separate\"".to_owned(),
        ),
        (
            attention.mask != Mask::None,
            "model.attention.mask".to_owned(),
        ),
        (
            attention.padding_token.is_some(),
            "model.attention.padding_token".to_owned(),
        ),
        (
            config.data.cls != ClsPlace::First,
            "data.cls = \"last\"".to_owned(),
        ),
    ];
    let (_, reason) = switches.into_iter().find(|(unsupported, _)| *unsupported)?;
    Some(reason)
}
