//! The model of a run, or the models of many, for the commands that apply them to samples.

use std::path::Path;
use std::thread;

use headlight_architecture::Parameter;
use headlight_data::files::{Format, Rows};
use headlight_data::words::UNK;
use headlight_data::{Dataset, Source};
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::fused::Intervention;
use headlight_experiment::{Changed, Ensemble, Experiment, Predictor, TrainingState};
use headlight_inspector::counted;
use headlight_sweep::{Again, Plan, Seeds, Sink};
use headlight_trainer::Failure;
use headlight_trainer::devices::OpenDevice;
use headlight_trainer::sessions::opening::open_device;
use headlight_trainer::sessions::session::{self, Session};
use headlight_trainer::sessions::signals::Signals;
use headlight_trainer::storage::dataset_file;
use headlight_trainer::storage::run_dir::{KeptModel, RunDir};
use headlight_trainer::storage::standard::shown;
use headlight_trainer::storage::weights;

use super::interventions::{InterventionArguments, Interventions};
use crate::arguments::SweptArguments;
use crate::terminal::SweepDisplay;

/// A config, the weights of one run or more, and an opened device.
pub(super) struct RunModel {
    /// The config; `compute.device` is the opened device.
    pub(super) config: ExperimentConfig,
    pub(super) members: Members,
    /// Which model of its run it is; `None` for weights from elsewhere, and for models of many runs.
    kept: Option<KeptModel>,
    pub(super) device: OpenDevice,
    /// What is changed in its forward passes.
    pub(super) interventions: Interventions,
}

/// The model of a run, or those of a results file, which are trained once everything else has been checked.
pub(super) enum Members {
    One(Vec<Parameter>),
    Many(Again),
}

impl RunModel {
    /// The model of the run in a directory, the best one if the run keeps it, with other weights or on another device if they
    /// are given; or the models of a results file.
    ///
    /// # Errors
    /// When the run or the weights cannot be read, or the device cannot be opened.
    pub(super) fn open(
        run: &Path,
        weights: Option<&Path>,
        device: Option<&String>,
        swept: &SweptArguments,
    ) -> Result<Self, Failure> {
        if run.is_file() {
            return Self::swept(run, weights, device, swept);
        }
        let own = RunDir::open(run)?;
        if swept.config.is_some() {
            return Err(Failure::Input(format!(
                "--config: {} is a run directory, which has its own config; --config belongs to a results file of `headlight \
                 sweep`",
                shown(run)
            )));
        }
        let mut config = own.config()?;
        if let Some(device) = device {
            config.compute.device.clone_from(device);
            // The run's engine may not support this device.
            config.compute.engine = EngineName::Auto;
        }
        let (weights, kept) = own.chosen_model(&config, weights)?;
        Ok(Self {
            members: Members::One(weights::load(&config, &weights)?),
            kept,
            device: open_device(&config.compute.device)?,
            interventions: Interventions::default(),
            config,
        })
    }

    /// The models of all rows of a results file, to be trained again.
    fn swept(
        path: &Path,
        weights: Option<&Path>,
        device: Option<&String>,
        swept: &SweptArguments,
    ) -> Result<Self, Failure> {
        let unsuitable = |option: &str| {
            Err(Failure::Input(format!(
                "{option}: {} is a file of many runs, which are trained again as they were; leave {option} out",
                shown(path)
            )))
        };
        if weights.is_some() {
            return unsuitable("--weights");
        }
        if device.is_some() {
            return unsuitable("--device");
        }
        Again::check(path)?;
        let Some(config) = &swept.config else {
            // Rows of a sweep are JSON Lines, too.
            if Format::to_read(path).is_some_and(|format| format != Format::Jsonl) {
                return Err(Failure::Input(format!(
                    "{0} holds data; name the run directory of a model before it: RUN {0}",
                    shown(path)
                )));
            }
            return Err(Failure::Input(format!(
                "{} is a file, so Headlight reads it as the results of a sweep; give the config of that sweep with --config",
                shown(path)
            )));
        };
        let plan = Plan::new(config, &swept.overrides, &Seeds(0..1), &[])?;
        let config = plan.points()[0].config().clone();
        Ok(Self {
            members: Members::Many(Again::read(path, plan)?),
            kept: None,
            device: open_device(&config.compute.device)?,
            interventions: Interventions::default(),
            config,
        })
    }

    /// This model with interventions.
    ///
    /// # Errors
    /// When they do not suit it.
    pub(super) fn with(mut self, arguments: &InterventionArguments) -> Result<Self, Failure> {
        self.interventions = Interventions::new(arguments, &self.config, self.members.len())?;
        Ok(self)
    }

    /// This model, trained again if it is the only one of a results file.
    ///
    /// # Errors
    /// As [`Members::each`].
    pub(super) fn trained(mut self) -> Result<Self, Failure> {
        if self.members.len() == 1 {
            let mut only = Vec::new();
            self.members.each(&mut |weights| {
                only = weights;
                Ok(())
            })?;
            self.members = Members::One(only);
        }
        Ok(self)
    }

    /// The steps that the model was trained for, if they are known.
    pub(super) fn step(&self) -> Option<usize> {
        self.kept.as_ref()?.step
    }

    /// Which model of its run it is, in words, if the run keeps more than one.
    pub(super) fn which(&self) -> Option<String> {
        which(&self.config, self.kept.as_ref())
    }

    /// How many of some samples the model was trained on, if there are any. Without the run's own data, nothing is known.
    pub(super) fn trained_on(&self, samples: &Rows) -> Option<usize> {
        let data = &self.config.data;
        let padding = self.config.model.attention.padding_token;
        let count = match &data.source {
            Source::File(own) => {
                let own = dataset_file::read(own, &data.columns).ok()?;
                samples.trained_on(&own, data, padding)
            }
            Source::Generated { .. } | Source::Fresh { .. } => {
                let train = session::dataset(&self.config).ok()?.train;
                samples.trained_on_generated(&train, data, padding)
            }
        };
        count.filter(|&count| count > 0)
    }

    /// That the model never saw an unknown word in training, if that is so and a sample has one.
    pub(super) fn unseen(&self, dataset: &Dataset) -> Option<&'static str> {
        self.config.data.words.as_ref()?;
        let has_unknown = |dataset: &Dataset| {
            (0..dataset.len()).any(|sample| dataset.tokens(sample).contains(&UNK))
        };
        if !has_unknown(dataset) {
            return None;
        }
        // Without the run's own data, nothing is known of them.
        let own = session::dataset(&self.config).ok()?.train;
        (!has_unknown(&own))
            .then_some("no training sample holds [UNK], so what the model makes of it is arbitrary")
    }

    /// The model for the samples of a dataset, the weights of each member, and the interventions.
    ///
    /// # Errors
    /// When the model would be too large, an intervention does not suit the samples, or as [`trained`](Self::trained).
    pub(super) fn session(
        self,
        dataset: Dataset,
    ) -> Result<(Session, Members, Vec<Intervention>), Failure> {
        let interventions = self.interventions.engine(dataset.len())?;
        let own = self.trained()?;
        let weights = match &own.members {
            Members::One(weights) => Some(weights.clone()),
            Members::Many(_) => None,
        };
        let session = Session::with_weights(own.config, weights, dataset, own.device)?;
        Ok((session, own.members, interventions))
    }
}

/// Which model of a run it is, in words, if the run keeps more than one.
pub(super) fn which(config: &ExperimentConfig, kept: Option<&KeptModel>) -> Option<String> {
    config.training.keep_best?;
    Some(format!("model: {}", kept?))
}

impl Members {
    /// The number of models, at least 1.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(again) => again.len(),
        }
    }

    /// Passes on the weights of each model, in order. Those of a results file are trained for it, and never held all at once.
    ///
    /// # Errors
    /// When a run gets other weights than its row says, a signal interrupts training, or `with` fails.
    pub(super) fn each(self, with: &mut With<'_>) -> Result<(), Failure> {
        let again = match self {
            Self::One(weights) => return with(weights),
            Self::Many(again) => again,
        };
        let signals = Signals::listen()
            .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut trained = Trained {
            display: SweepDisplay::new(again.len()),
            threads,
            done: 0,
            with,
        };
        again.train(threads, &signals, &mut trained)?;
        trained.display.finish(trained.threads);
        match signals.received() {
            None => Ok(()),
            Some(signal) => Err(Failure::Interrupted {
                signal,
                message: format!(
                    "interrupted after training {} of {} again",
                    trained.done,
                    counted(again.len(), "run")
                ),
            }),
        }
    }

    /// What predicts the samples of the session: the only model, or the mean of all. Passes on the weights of each of many.
    ///
    /// # Errors
    /// When the engine is not in this build, or as [`each`](Self::each).
    pub(super) fn predictor<'a>(
        self,
        session: &'a Session,
        interventions: &[Intervention],
        with: &mut dyn FnMut(&[Parameter]) -> Result<(), Failure>,
    ) -> Result<Box<dyn Predictor + 'a>, Failure> {
        if let (Self::One(weights), false) = (&self, interventions.is_empty()) {
            let Experiment { config, splits, .. } = &session.experiment;
            let changed = Changed::new(config, weights, &splits.train, interventions)?;
            return Ok(Box::new(changed));
        }
        let mut engine = session.engine()?;
        if self.len() == 1 {
            return Ok(engine);
        }
        let mut ensemble = Ensemble::default();
        self.each(&mut |weights| {
            with(&weights)?;
            engine.restore(&TrainingState::of(weights))?;
            ensemble.add(engine.as_mut(), &session.experiment.splits.train);
            Ok(())
        })?;
        Ok(Box::new(ensemble))
    }
}

/// Takes the weights of a model.
type With<'a> = dyn FnMut(Vec<Parameter>) -> Result<(), Failure> + 'a;

/// Passes on the weights of runs, and shows the progress.
struct Trained<'a, 'b> {
    display: SweepDisplay,
    threads: usize,
    done: usize,
    with: &'a mut With<'b>,
}

impl Sink<Vec<Parameter>> for Trained<'_, '_> {
    fn finished(&mut self, _weights: &Vec<Parameter>) {
        self.display.run_finished();
    }

    fn in_order(&mut self, weights: Vec<Parameter>) -> Result<(), Failure> {
        self.done += 1;
        (self.with)(weights)
    }
}
