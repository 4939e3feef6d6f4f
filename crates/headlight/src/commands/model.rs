//! The model of a run, for the commands that apply it to samples.

use std::path::Path;

use headlight_architecture::Parameter;
use headlight_data::Dataset;
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_trainer::devices::OpenDevice;
use headlight_trainer::opening::open_device;
use headlight_trainer::printing::note;
use headlight_trainer::run_dir::RunDir;
use headlight_trainer::session::Session;
use headlight_trainer::{Failure, weights};

/// A run's config, with weights and an opened device.
pub(super) struct RunModel {
    /// The config; `compute.device` is the opened device.
    pub(super) config: ExperimentConfig,
    pub(super) weights: Vec<Parameter>,
    pub(super) device: OpenDevice,
}

impl RunModel {
    /// The model of the run in a directory, with other weights or on another device if they are given.
    ///
    /// # Errors
    /// When the run or the weights cannot be read, or the device cannot be opened.
    pub(super) fn open(
        run: &Path,
        weights: Option<&Path>,
        device: Option<&String>,
    ) -> Result<Self, Failure> {
        let run = RunDir::open(run)?;
        if !run.has_ended() {
            note("the run has not ended; its saved weights are from an earlier step");
        }
        let mut config = run.config()?;
        if let Some(device) = device {
            config.compute.device.clone_from(device);
            // The run's engine may not support this device.
            config.compute.engine = EngineName::Auto;
        }
        let weights = weights.map(|path| run.path_of(path));
        Ok(Self {
            weights: match weights {
                Some(path) => weights::load(&config, &path)?,
                None => run.load_weights(&config)?,
            },
            device: open_device(&config.compute.device)?,
            config,
        })
    }

    /// The model, for the samples of a dataset.
    ///
    /// # Errors
    /// When the model would be too large.
    pub(super) fn session(self, dataset: Dataset) -> Result<Session, Failure> {
        Session::with_weights(self.config, self.weights, dataset, self.device)
    }
}
