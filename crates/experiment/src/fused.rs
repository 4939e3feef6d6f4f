//! `headlight-fused` as an engine.

use headlight_architecture::Parameter;
use headlight_data::Dataset;
pub use headlight_fused::{
    Array, Arrays, Attribution, Dims, ForwardValues, Intervention, PatchSite, Recording,
};
use headlight_fused::{Model, Samples, State, Team, Tracer, integrated_gradients};

use crate::config::ExperimentConfig;
use crate::engine::{Engine, Predictions, Predictor, TrainingState};
use crate::error::Error;
use crate::experiment::{Experiment, samples_per_pass};
use crate::fused_architecture::architecture;
#[cfg(not(target_family = "wasm"))]
use crate::threads::Threads;

/// A page has the calling thread alone.
#[cfg(target_family = "wasm")]
type Threads = headlight_fused::SingleThread;

/// Samples per pass, few enough that their predictions stay in the cache.
const SAMPLES_PER_PASS: usize = 512;

/// Trains with `headlight-fused`.
#[derive(Debug)]
pub struct FusedEngine<'a> {
    experiment: &'a Experiment,
    model: Model,
    predictions: headlight_fused::BatchPredictions,
    threads: Threads,
}

impl<'a> FusedEngine<'a> {
    /// The experiment's model with its initial weights.
    ///
    /// # Errors
    /// When the config's model is invalid.
    pub fn new(experiment: &'a Experiment) -> Result<Self, Error> {
        let mut training = experiment.config.training.fused(experiment.config.seed);
        // The config does not show whether the file has weights.
        training.cross_entropy.is_weighted |= experiment.splits.train.weights().is_some();
        let start = Parameter::weights(&experiment.start);
        Ok(Self {
            experiment,
            model: Model::new(&architecture(&experiment.config)?, training, &start),
            predictions: headlight_fused::BatchPredictions::default(),
            threads: Threads::default(),
        })
    }

    /// The same with so many threads, which share each step and change no result. If the system does not give them, the
    /// calling thread computes alone.
    #[must_use]
    #[cfg(not(target_family = "wasm"))]
    pub fn with_threads(self, count: usize) -> Self {
        Self {
            threads: Threads::new(count),
            ..self
        }
    }

    /// The threads that share each step.
    pub fn threads(&self) -> usize {
        self.threads.threads()
    }

    /// Splits the concatenated values of all parameters by name.
    fn named(&self, values: &[f32]) -> Vec<Parameter> {
        let mut rest = values;
        let start = self.experiment.start.iter();
        start
            .map(|parameter| {
                let (values, others) = rest.split_at(parameter.values.len());
                rest = others;
                Parameter {
                    name: parameter.name.clone(),
                    shape: parameter.shape.clone(),
                    values: values.to_vec(),
                }
            })
            .collect()
    }
}

/// The extents of the arrays that a config's model computes for some samples.
///
/// # Errors
/// When the model is invalid.
pub fn dims(config: &ExperimentConfig, samples: usize) -> Result<Dims, Error> {
    Ok(architecture(config)?.dims(samples))
}

/// Checks that a config's model has what an intervention changes, for so many samples.
///
/// # Errors
/// When it has not, or the model is invalid.
pub fn check(
    config: &ExperimentConfig,
    intervention: &Intervention,
    samples: usize,
) -> Result<(), Error> {
    let checked = intervention.check(&architecture(config)?, samples);
    checked.map_err(Error::Input)
}

/// Everything that a config's model computes for some samples, with interventions.
///
/// # Errors
/// When the parameters or the interventions do not match the config.
pub fn forward(
    config: &ExperimentConfig,
    parameters: &[Parameter],
    dataset: &Dataset,
    chosen: &[u32],
    interventions: &[Intervention],
) -> Result<ForwardValues, Error> {
    let layout = config.model.layout(config.inputs());
    let parameters =
        Parameter::arrange(parameters.iter().cloned(), &layout).map_err(Error::Diverged)?;
    let weights = Parameter::weights(&parameters);
    let mut frozen = FrozenModel::new(config)?;
    frozen.forward(&weights, dataset, chosen, interventions, Recording::All)
}

/// A config's model without training, which computes with any weights. They are the values of all parameters, in the
/// model's order.
#[derive(Clone, Debug)]
pub struct FrozenModel(Tracer);

impl FrozenModel {
    /// The model of a config.
    ///
    /// # Errors
    /// When it is invalid.
    pub fn new(config: &ExperimentConfig) -> Result<Self, Error> {
        Ok(Self(Tracer::new(&architecture(config)?)))
    }

    /// How many weights the model has.
    pub fn size(&self) -> usize {
        self.0.architecture().parameter_count()
    }

    /// How many logits the model has.
    pub fn logits(&self) -> usize {
        self.0.architecture().n_logits()
    }

    /// As [`forward`], with the weights one after the other, and with what is recorded.
    ///
    /// # Errors
    /// When the weights or the interventions do not match the model.
    pub fn forward(
        &mut self,
        weights: &[f32],
        dataset: &Dataset,
        chosen: &[u32],
        interventions: &[Intervention],
        recorded: Recording,
    ) -> Result<ForwardValues, Error> {
        self.check(weights)?;
        self.0
            .forward(weights, samples(dataset), chosen, interventions, recorded)
            .map_err(Error::Input)
    }

    /// The slopes of one of a sample's logits: 1 for itself, and 0 for the others.
    ///
    /// # Errors
    /// When the model has no such logit.
    pub fn slopes_of(&self, logit: usize) -> Result<Vec<f32>, Error> {
        let architecture = self.0.architecture();
        let mut slopes = vec![0.0; architecture.n_logits() * architecture.answers()];
        let last = slopes.len() - 1;
        let slope = slopes.get_mut(logit);
        *slope.ok_or_else(|| {
            Error::Input(format!(
                "there is no logit {logit}; logits go from 0 to {last}"
            ))
        })? = 1.0;
        Ok(slopes)
    }

    /// Integrated gradients of a sum of a sample's logits, each times its slope, from an input of zeros.
    ///
    /// # Errors
    /// When the weights do not match the model.
    pub fn attribute(
        &self,
        weights: &[f32],
        dataset: &Dataset,
        sample: u32,
        slopes: &[f32],
    ) -> Result<Attribution, Error> {
        self.check(weights)?;
        let (architecture, samples) = (self.0.architecture(), samples(dataset));
        let found = integrated_gradients(architecture, weights, samples, sample, slopes, None);
        Ok(found)
    }

    /// Gradients of sums of logits by the embeddings of tokens, as [`Tracer::token_gradients`]. `[sample, position, d_model]`
    ///
    /// # Errors
    /// When the weights do not match the model.
    pub fn token_gradients(
        &mut self,
        weights: &[f32],
        dataset: &Dataset,
        chosen: &[u32],
        slopes: &[f32],
        holds_weights: bool,
    ) -> Result<Vec<f32>, Error> {
        self.check(weights)?;
        let samples = samples(dataset);
        let found = self
            .0
            .token_gradients(weights, samples, chosen, slopes, holds_weights);
        Ok(found)
    }

    /// Checks the number of weights, and that they are finite.
    ///
    /// # Errors
    /// When they are not.
    pub fn check(&self, weights: &[f32]) -> Result<(), Error> {
        let (given, count) = (weights.len(), self.size());
        if given != count {
            return Err(Error::Input(format!(
                "{given} weights were given, and the model has {count}"
            )));
        }
        if !weights.iter().all(|weight| weight.is_finite()) {
            let message =
                "a parameter is NaN or infinite: the weights file is damaged, or training diverged";
            return Err(Error::Diverged(message.to_owned()));
        }
        Ok(())
    }
}

/// Borrows a dataset in the form that `headlight-fused` takes.
fn samples(dataset: &Dataset) -> Samples<'_> {
    Samples {
        tokens: dataset.all_tokens(),
        labels: dataset.labels(),
        weights: dataset.weights(),
    }
}

/// The engine's predictions as every engine gives them: in f64, with the mean of all heads.
pub fn to_predictions(
    batch: &headlight_fused::BatchPredictions,
    heads: usize,
    dataset: &Dataset,
    predictions: &mut Predictions,
) {
    predictions.clear();
    let wide = |values: &[f32], into: &mut Vec<f64>| {
        into.extend(values.iter().map(|&value| f64::from(value)));
    };
    wide(&batch.logits, &mut predictions.logits);
    wide(&batch.probabilities, &mut predictions.probabilities);
    wide(&batch.losses, &mut predictions.losses);
    if heads == 1 {
        wide(&batch.attention, &mut predictions.attention);
        return;
    }
    predictions
        .attention
        .resize(batch.attention.len() / heads, 0.0);
    // Of each sample the row of one query, or those of all.
    let size = dataset.positions() * dataset.labels_per_sample();
    let means = predictions.attention.chunks_exact_mut(size);
    for (mean, rows) in means.zip(batch.attention.chunks_exact(heads * size)) {
        for row in rows.chunks_exact(size) {
            for (mean, &weight) in mean.iter_mut().zip(row) {
                *mean += f64::from(weight);
            }
        }
        for mean in mean {
            *mean /= heads as f64;
        }
    }
}

impl Predictor for FusedEngine<'_> {
    fn predict(&mut self, dataset: &Dataset, chosen: &[u32], predictions: &mut Predictions) {
        let (threads, samples) = (&self.threads, samples(dataset));
        self.model
            .predict_with(threads, samples, chosen, &mut self.predictions);
        let heads = self.experiment.config.model.n_heads;
        to_predictions(&self.predictions, heads, dataset, predictions);
    }

    fn samples_per_pass(&self) -> usize {
        // Where every position is read, predictions hold the attention of each.
        let config = &self.experiment.config;
        if config.data.task.is_per_position() {
            samples_per_pass(config)
        } else {
            SAMPLES_PER_PASS
        }
    }
}

impl Engine for FusedEngine<'_> {
    fn step(&mut self, train: &Dataset, batch: &[u32], learning_rate: f64) -> f64 {
        self.model.set_learning_rate(learning_rate);
        f64::from(self.model.step_with(&self.threads, samples(train), batch))
    }

    fn same_for<'b>(&self, other: &'b Experiment) -> Result<Box<dyn Engine + 'b>, Error> {
        Ok(Box::new(FusedEngine::new(other)?))
    }

    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter> {
        let gradient = self.model.gradient(samples(train), batch);
        self.named(&gradient.values)
    }

    fn gradient_norm(&self) -> Option<f64> {
        self.model.gradient_norm()
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.named(&self.model.parameters())
    }

    fn weights(&self) -> Vec<f32> {
        self.model.parameters()
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
        self.model.restore(&State {
            parameters: Parameter::weights(&state.parameters),
            first: state.first.clone(),
            second: state.second.clone(),
            steps: state.steps,
        });
        Ok(())
    }
}
