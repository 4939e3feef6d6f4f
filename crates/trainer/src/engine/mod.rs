//! What computes training steps: Burn, or the hand-derived step of `headlight-fused`.
//!
//! Both start from the same weights, see the same batches and leave the same files. Burn's engine is
//! the reference and runs everything; the fused one runs one block on a CPU, a hundred times faster
//! and with the same bytes on every machine.

mod burn;
mod fused;

use std::fmt;

use clap::ValueEnum;
use headlight_data::{ClsPlace, Dataset};
use headlight_model::{Mask, Parameter, ProjectionKind, TransformerClassifier};
use serde::{Deserialize, Serialize};

pub use burn::BurnEngine;
pub use fused::FusedEngine;

use crate::Failure;
use crate::config::ExperimentConfig;
use crate::devices::DeviceName;
use crate::experiment::Experiment;

/// A model in training.
pub trait Engine {
    /// Takes one step of Adam; returns the batch's mean loss before it.
    fn step(&mut self, train: &Dataset, batch: &[u32]) -> f64;

    /// What the model says of some samples, at most [`at_once`](Self::at_once); `answers` is written
    /// over.
    fn ask(&mut self, dataset: &Dataset, samples: &[u32], answers: &mut Answers);

    /// How many samples to ask about at a time.
    fn at_once(&self) -> usize;

    /// The gradient of a batch's loss for each parameter, in the model's order.
    fn gradient(&mut self, train: &Dataset, batch: &[u32]) -> Vec<Parameter>;

    /// All parameters, in the model's order.
    fn parameters(&self) -> Vec<Parameter>;

    /// What the next steps depend on.
    fn state(&self) -> TrainingState;

    /// Goes on from a state: on a CPU, with the same bytes as where it was taken.
    ///
    /// # Errors
    /// When it is none of this model.
    fn restore(&mut self, state: &TrainingState) -> Result<(), Failure>;

    /// The model without automatic differentiation, for dumps.
    ///
    /// # Errors
    /// When its weights are no longer numbers.
    fn model(&self) -> Result<TransformerClassifier, Failure>;
}

/// A model in training, on the host.
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
    /// Checks that a state has these parameters, and as many moments.
    ///
    /// # Errors
    /// Names the first difference.
    fn check(&self, own: &[Parameter]) -> Result<(), Failure> {
        let differs = |what: String| Err(Failure::Input(format!("it is of another model: {what}")));
        if self.parameters.len() != own.len() {
            return differs(format!(
                "{} parameters, not {}",
                self.parameters.len(),
                own.len()
            ));
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
        if (self.first.len(), self.second.len()) != (count, count) {
            return differs(format!(
                "{} and {} moments, not {count}",
                self.first.len(),
                self.second.len()
            ));
        }
        Ok(())
    }
}

/// What a model says of some samples.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Log-odds of the positive class. `[sample]`
    pub logits: Vec<f64>,
    /// Probability of the positive class. `[sample]`
    pub probabilities: Vec<f64>,
    /// Binary cross-entropy with the sample's label, in nats. `[sample]`
    pub losses: Vec<f64>,
    /// Attention of `[CLS]` in the last block, mean over heads. `[sample, position]`
    pub attention: Vec<f64>,
}

impl Answers {
    fn clear(&mut self) {
        self.logits.clear();
        self.probabilities.clear();
        self.losses.clear();
        self.attention.clear();
    }
}

/// An engine by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// `fused` where it can run the config, `burn` elsewhere.
    #[default]
    Auto,
    /// Burn's tensors and automatic differentiation, on any device.
    Burn,
    /// One hand-derived step: one block, on a CPU.
    Fused,
}

impl EngineName {
    /// The name in configs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Burn => "burn",
            Self::Fused => "fused",
        }
    }

    /// The engine that is meant, for a config.
    ///
    /// # Errors
    /// When it cannot run the config: says why.
    pub fn resolve(self, config: &ExperimentConfig) -> Result<Self, Failure> {
        match (self, beyond_fused(config)) {
            (Self::Auto | Self::Fused, None) => Ok(Self::Fused),
            (Self::Auto | Self::Burn, _) => Ok(Self::Burn),
            (Self::Fused, Some(reason)) => Err(Failure::Input(format!(
                "`compute.engine`: engine `fused` cannot run this config: {reason}; \
                 use `--engine burn`, or `auto`"
            ))),
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why the fused engine cannot run a config; `None` if it can.
pub fn beyond_fused(config: &ExperimentConfig) -> Option<String> {
    let model = &config.model;
    let attention = &model.attention;
    let beyond = [
        (
            model.n_layers != 1,
            format!(
                "it computes one block, and model.n_layers is {}",
                model.n_layers
            ),
        ),
        (
            model.d_ff != 0,
            format!(
                "it has no feed-forward layer, and model.d_ff is {}",
                model.d_ff
            ),
        ),
        (
            !model.positions,
            "it adds position embeddings, and model.positions is false".to_owned(),
        ),
        (
            attention.projections != ProjectionKind::Separate,
            "it has separate projections, and model.attention.projections says otherwise"
                .to_owned(),
        ),
        (
            attention.mask != Mask::None,
            "it has no mask, and model.attention.mask is set".to_owned(),
        ),
        (
            attention.padding_token.is_some(),
            "it knows no padding, and model.attention.padding_token is set".to_owned(),
        ),
        (
            config.data.cls != ClsPlace::First,
            "it reads position 0, and data.cls is \"last\"".to_owned(),
        ),
        (
            !matches!(
                config.compute.device,
                DeviceName::Flex | DeviceName::Ndarray
            ),
            format!(
                "it computes on the CPU, and the device is `{}`",
                config.compute.device
            ),
        ),
    ];
    let reason = beyond.into_iter().find(|(is_beyond, _)| *is_beyond)?;
    Some(reason.1)
}

impl Experiment {
    /// The engine of the config, with the model at its start.
    ///
    /// # Errors
    /// When the engine cannot run the config.
    pub fn engine(&self) -> Result<Box<dyn Engine + '_>, Failure> {
        match self.config.compute.engine.resolve(&self.config)? {
            EngineName::Fused => Ok(Box::new(FusedEngine::new(self)?)),
            EngineName::Auto | EngineName::Burn => Ok(Box::new(BurnEngine::new(self)?)),
        }
    }
}
