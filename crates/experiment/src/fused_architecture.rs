//! A config's model as `headlight-fused` describes models.

use headlight_fused::Architecture;

use crate::config::ExperimentConfig;
use crate::error::Error;

/// The architecture of a config's model.
///
/// # Errors
/// When the model is invalid.
pub fn architecture(config: &ExperimentConfig) -> Result<Architecture, Error> {
    Architecture::new(&config.model, config.inputs())
        .map_err(|invalid| Error::Input(invalid.message))
}

/// How many of some threads make the steps of a config's training faster.
///
/// # Errors
/// When the model is invalid.
pub fn threads_that_pay(config: &ExperimentConfig, threads: usize) -> Result<usize, Error> {
    let (training, batch) = (
        config.training.fused(config.seed),
        config.training.batch_size,
    );
    Ok(architecture(config)?.threads_that_pay(&training, batch, threads))
}

/// Whether threads can share a step of such a model, if its batch is large enough. Those of the notebook's kind of model are too short.
///
/// # Errors
/// When the config is invalid.
pub fn shares_steps(config: &ExperimentConfig) -> Result<bool, Error> {
    /// Samples that are enough for any other model.
    const MANY: usize = 1 << 20;
    let training = config.training.fused(config.seed);
    Ok(architecture(config)?.threads_that_pay(&training, MANY, 2) > 1)
}
