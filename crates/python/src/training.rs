//! Training into a run directory, and the model after any step.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};

use headlight_experiment::metrics::StepMetrics;
use headlight_experiment::train::{Ending, Next, Observer, Progress, train as take_steps};
use headlight_experiment::{Engine, Error};
use headlight_trainer::Failure;
use headlight_trainer::Session;
use headlight_trainer::files::dataset_file::DatasetFiles;
use headlight_trainer::messages::notes;
use headlight_trainer::run::RunDir;
use headlight_trainer::run::environment::SourceCommit;
use headlight_trainer::session::dataset::note_lost_words;
use headlight_trainer::training::Training;
use headlight_trainer::training::run_writer::Display;
use headlight_trainer::training::signals::Signals;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::config::Config;
use crate::failure::raised;
use crate::model::Model;
use crate::watched::{Listeners, Report, watched};

/// Trains a config into a new run directory, or resumes the run there. `progress` is called with the steps taken
/// and all steps, `callback` with each evaluation.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    config: &Config,
    run: PathBuf,
    resume: bool,
    force: bool,
    progress: Option<Py<PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<()> {
    let config = config.config.clone();
    let listeners = Listeners {
        progress: progress.as_ref(),
        callback: callback.as_ref(),
    };
    let has_callback = callback.is_some();
    watched(py, listeners, move |sender, signals| {
        notes::begin_call();
        let reopened = RunDir::open_to_resume(&run, resume)?;
        let begun = reopened.as_ref().filter(|run| run.has_begun());
        let session = Training::open_session(config, begun, &DatasetFiles::default())?;
        let training = Training::prepare(&session, begun, force)?;
        if training.is_complete {
            return Ok(());
        }
        note_lost_words(&session.experiment.config, &session.experiment.splits);
        let run = match reopened {
            Some(run) => run,
            None => RunDir::create(&run)?,
        };
        let stopped = || signals.received().is_some();
        let sent = ProgressSender {
            sender,
            count: session.experiment.steps(),
            waits: has_callback,
        };
        let source = SourceCommit {
            commit: env!("HEADLIGHT_COMMIT"),
            dirty: env!("HEADLIGHT_DIRTY"),
        };
        training.train(&run, source, &sent, stopped).map(|_| ())
    })
}

/// Sends the number of steps taken, and evaluations.
pub(crate) struct ProgressSender {
    pub(crate) sender: Sender<Report>,
    pub(crate) count: usize,
    /// Whether there is a callback, which may stop the training after this step.
    pub(crate) waits: bool,
}

impl Display for ProgressSender {
    fn step(&self, step: usize) {
        let _ = self.sender.send(Report::Share(step, self.count));
    }

    fn evaluated(&self, metrics: &StepMetrics) {
        if !self.waits {
            return;
        }
        let (answer, answered) = mpsc::channel();
        let row = serde_json::to_string(metrics).unwrap_or_default();
        let _ = self.sender.send(Report::Row(metrics.step, row, answer));
        let _ = answered.recv();
    }

    fn finish(&self) {}
}

/// The model after a step, trained again from the config: the same weights as in the run.
#[pyfunction]
pub(crate) fn at_step(py: Python<'_>, config: &Config, step: usize) -> PyResult<Model> {
    let config = config.config.clone();
    let parameters = watched(py, Listeners::default(), |_, signals: &Signals| {
        let mut config = config.clone();
        // They change no weight, and their files may be gone.
        config.tests.clear();
        let session = Session::open(config)?;
        let steps = session.experiment.steps();
        if step > steps {
            return Err(Failure::Input(format!(
                "there is no step {step}; this run has {steps} steps, and step 0 is the start"
            )));
        }
        let mut engine = session.engine()?;
        let stopped = || signals.received().is_some();
        let start = Progress::default();
        let ending = take_steps(
            &session.experiment,
            engine.as_mut(),
            start,
            stopped,
            &mut Until(step),
        )?;
        if ending == Ending::Interrupted {
            return Ok(None);
        }
        Ok(Some(engine.parameters()))
    })?;
    let parameters = parameters.ok_or_else(|| PyValueError::new_err("the training was stopped"))?;
    Ok(Model::of(config, parameters))
}

/// Stops after a step.
struct Until(usize);

impl Observer for Until {
    type Failure = Error;

    fn step(&mut self, progress: Progress, _engine: &mut dyn Engine) -> Result<Next, Error> {
        let is_there = progress.step == self.0;
        Ok(if is_there { Next::Stop } else { Next::Step })
    }
}

/// The files that are missing or changed since the run ended, with what is wrong with each.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, run: PathBuf) -> PyResult<Vec<(String, &'static str)>> {
    let verified = py.detach(|| {
        let run = RunDir::open(&run)?;
        let found = run.verify()?;
        run.check_ended(&found).map(|()| found.damage)
    });
    let damage = verified.map_err(raised)?.into_iter();
    Ok(damage.map(|damage| (damage.file, damage.problem)).collect())
}
