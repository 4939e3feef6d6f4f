//! An experiment on this machine: its files read, its device opened.

pub mod dataset;
mod doubts;
pub mod dumping;
pub mod opening;
mod start_parameters;
pub mod test_sets;

use std::sync::Arc;

use headlight_architecture::Parameter;
use headlight_data::{Dataset, Splits};
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::{Engine, Experiment, FusedEngine};

use crate::devices::OpenDevice;
use crate::session::dataset::dataset_with;
use crate::session::doubts::doubts;
use crate::session::opening::{engine_for, open_device};
use crate::session::test_sets::with_tests;
use crate::{DatasetFiles, Failure, note};

/// An experiment and the device of its config.
#[derive(Debug)]
pub struct Session {
    /// Config, samples and initial weights.
    pub experiment: Experiment,
    /// The opened device of the config.
    pub device: OpenDevice,
    /// Threads that share each step of the fused engine. They change no result.
    pub threads: usize,
}

impl Session {
    /// Generates or reads the dataset, and opens the device.
    ///
    /// # Errors
    /// When one of them fails, `[dump]` selects a missing sample, or training would be too large.
    pub fn open(config: ExperimentConfig) -> Result<Self, Failure> {
        Self::open_with(config, &DatasetFiles::default())
    }

    /// As [`open`](Self::open), with the files that the command has read.
    pub(crate) fn open_with(
        config: ExperimentConfig,
        files: &DatasetFiles,
    ) -> Result<Self, Failure> {
        let splits = Arc::new(with_tests(&config, dataset_with(&config, files)?)?);
        let device = open_device(&config.compute.device)?;
        let session = Self::with_shared(config, splits, device)?;
        session.experiment.check_recording()?;
        for sentence in doubts(&session.experiment) {
            note(&sentence);
        }
        Ok(session)
    }

    /// With a dataset and a device that several sessions share. Unlike [`open`](Self::open), it neither checks what is dumped nor notes
    /// doubts.
    ///
    /// # Errors
    /// When training would be too large, or the parameters that it starts from cannot be read.
    pub fn with_shared(
        config: ExperimentConfig,
        splits: Arc<Splits>,
        device: OpenDevice,
    ) -> Result<Self, Failure> {
        let start = start_parameters::start_parameters(&config)?;
        Ok(Self {
            experiment: Experiment::new(config, splits, start)?,
            device,
            threads: 1,
        })
    }

    /// Given weights for the samples of a dataset.
    ///
    /// # Errors
    /// When the model would be too large.
    pub fn with_weights(
        config: ExperimentConfig,
        weights: Vec<Parameter>,
        dataset: Dataset,
        device: OpenDevice,
    ) -> Result<Self, Failure> {
        let held_out = dataset.without_samples();
        let splits = Splits::new(dataset, held_out);
        Ok(Self {
            experiment: Experiment::new(config, Arc::new(splits), Some(weights))?,
            device,
            threads: 1,
        })
    }

    /// The engine of the config, with the initial weights.
    ///
    /// # Errors
    /// When the engine does not support the config, or is not in this build.
    pub fn engine(&self) -> Result<Box<dyn Engine + '_>, Failure> {
        let experiment = &self.experiment;
        match engine_for(&experiment.config)? {
            EngineName::Fused => {
                let engine = FusedEngine::new(experiment)?.with_threads(self.threads);
                Ok(Box::new(engine))
            }
            #[cfg(feature = "burn")]
            _ => {
                let device = &self.device.device;
                Ok(Box::new(crate::burn::BurnEngine::new(experiment, device)?))
            }
            #[cfg(not(feature = "burn"))]
            _ => Err(Failure::without_burn("`compute.engine`: engine `burn`")),
        }
    }

    /// Samples that the run shows, by index, for a dump: of the training set, or of the held-out one if each step draws its
    /// own.
    pub fn dump_samples(&self, indices: Vec<usize>) -> dumping::DumpSamples<'_> {
        dumping::DumpSamples {
            dataset: self.experiment.splits.displayed_samples(),
            indices,
            numbered: true,
            labelled: true,
        }
    }
}
