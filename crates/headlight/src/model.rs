//! The model of a run, for the commands that apply it to samples.

use std::path::PathBuf;

use clap::Args;
use headlight_analysis::ModelWithInterventions;
use headlight_architecture::Parameter;
use headlight_data::files::Rows;
use headlight_data::words::UNK;
use headlight_data::{Dataset, Source};
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::fused::Intervention;
use headlight_experiment::{Experiment, Predictor};
use headlight_trainer::files::dataset_file;
use headlight_trainer::files::weights;
use headlight_trainer::messages::notes::note_once;
use headlight_trainer::run::KeptModel;
use headlight_trainer::session::dataset::dataset;
use headlight_trainer::session::opening::open_device;
use headlight_trainer::session::test_sets::samples_have_changed;
use headlight_trainer::{Failure, RunDir, Session};

use crate::interventions::{InterventionArguments, Interventions};

/// A run, and which of its models is used.
#[derive(Args, Debug)]
pub(crate) struct ModelArguments {
    /// A run directory
    pub(crate) run: PathBuf,
    /// Use this weights file (.safetensors), such as the run's model.safetensors, of the last step [default: that of the best
    /// model if the run keeps one, or else of the last step]
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
}

/// A config, and the weights of a run.
pub(crate) struct RunModel {
    pub(crate) run: RunDir,
    pub(crate) config: ExperimentConfig,
    pub(crate) parameters: Vec<Parameter>,
    /// Which model of its run it is; `None` for weights from elsewhere.
    kept: Option<KeptModel>,
    /// What is changed in its forward passes.
    pub(crate) interventions: Interventions,
}

impl RunModel {
    /// The model of a run, the best one if the run keeps it, with other weights, for another device or with interventions if
    /// they are given.
    pub(crate) fn open(
        arguments: &ModelArguments,
        device: Option<&String>,
        interventions: Option<&InterventionArguments>,
    ) -> Result<Self, Failure> {
        let run = RunDir::open(&arguments.run)?;
        let mut config = run.config()?;
        if let Some(device) = device {
            config.compute.device.clone_from(device);
            // The run's engine may not support this device.
            config.compute.engine = EngineName::Auto;
        }
        let (weights, kept) = run.chosen_model(&config, arguments.weights.as_deref())?;
        Ok(Self {
            parameters: weights::load(&config, &weights)?,
            kept,
            interventions: Interventions::new(interventions, &config)?,
            config,
            run,
        })
    }

    /// The steps that the model was trained for, if they are known.
    pub(crate) fn step(&self) -> Option<usize> {
        self.kept.as_ref()?.step
    }

    /// Which model of its run it is, in words, if the run keeps more than one.
    pub(crate) fn which(&self) -> Option<String> {
        self.config.training.keep_best?;
        Some(format!("Model: {}", self.kept.as_ref()?))
    }

    /// Whether the run's samples may still be those of its training; notes it if they are not.
    pub(crate) fn has_own_samples(&self) -> bool {
        let changed = samples_have_changed(&self.run, &self.config);
        if changed {
            let told = "the run's data file has changed since training, so Headlight does not use it, and leaves out what it would say";
            note_once(told, told);
        }
        !changed
    }

    /// How many of some rows of a file the model was trained on, if there are any. Without the run's own data, nothing is known.
    pub(crate) fn trained_on(&self, samples: &Rows, rows: &[usize]) -> Option<usize> {
        self.has_own_samples().then_some(())?;
        let data = &self.config.data;
        let padding = self.config.model.attention.padding_token;
        let count = match &data.source {
            Source::File(path) => {
                let training_file = dataset_file::read(path, data).ok()?;
                let texts = samples.trained_on_texts(rows, &training_file, data);
                texts.or_else(|| {
                    let train = training_file.fit(data, padding).ok()?.train;
                    samples.trained_on(rows, &train, data, padding)
                })
            }
            Source::Generated(_) => {
                let train = dataset(&self.config).ok()?.train;
                samples.trained_on(rows, &train, data, padding)
            }
        };
        count.filter(|&count| count > 0)
    }

    /// That the model never saw an unknown word in training, if that is so and a sample has one.
    pub(crate) fn unseen(&self, given: &Dataset) -> Option<&'static str> {
        self.config.data.words.as_ref()?;
        let has_unknown = |dataset: &Dataset| {
            (0..dataset.len()).any(|sample| dataset.tokens(sample).contains(&UNK))
        };
        if !has_unknown(given) || !self.has_own_samples() {
            return None;
        }
        // Without the run's own data, nothing is known of them.
        let train = dataset(&self.config).ok()?.train;
        (!has_unknown(&train)).then_some(
            "the model never saw an unknown word ([UNK]) in training, so its answer is arbitrary",
        )
    }

    /// The model for the samples of a dataset, on its device.
    pub(crate) fn session(&self, dataset: Dataset) -> Result<ModelSession, Failure> {
        let interventions = self.interventions.engine(dataset.len())?;
        let device = open_device(&self.config.compute.device)?;
        let parameters = self.parameters.clone();
        let config = self.config.clone();
        Ok(ModelSession {
            session: Session::with_weights(config, parameters, dataset, device)?,
            interventions,
        })
    }
}

/// A model for some samples.
pub(crate) struct ModelSession {
    pub(crate) session: Session,
    /// What is changed in its forward passes.
    interventions: Vec<Intervention>,
}

impl ModelSession {
    /// What predicts the samples.
    pub(crate) fn predictor(&self) -> Result<Box<dyn Predictor + '_>, Failure> {
        if self.interventions.is_empty() {
            return Ok(self.session.engine()?);
        }
        let Experiment {
            config,
            splits,
            start,
            ..
        } = &self.session.experiment;
        let changed =
            ModelWithInterventions::new(config, start, &splits.train, &self.interventions)?;
        Ok(Box::new(changed))
    }
}
