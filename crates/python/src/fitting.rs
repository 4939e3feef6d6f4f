//! Training in memory: no file is written.

use headlight_experiment::Engine;
use headlight_experiment::best::Evaluations;
use headlight_experiment::train::{
    Next, Observer, Progress, evaluation_is_due, is_due_every, measure, train,
};
use headlight_trainer::Failure;
use headlight_trainer::Session;
use headlight_trainer::messages::notes;
use headlight_trainer::session::dataset::note_lost_words;
use headlight_trainer::training::run_writer::Display;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::config::Config;
use crate::model::Model;
use crate::training::ProgressSender;
use crate::watched::{Listeners, watched};

/// How often progress is sent, in steps: to wake the caller's thread takes longer than a step.
const OFTEN: usize = 64;

/// The last model; the best one with its step, if the config keeps one; evaluations as JSON, with a line for each; and the loss of
/// each step's batch, before the step `[step]`.
type Fitted = (Model, Option<(usize, Model)>, String, Py<PyArray1<f32>>);

/// Trains a config in memory: the same steps and evaluations as `train` takes. `progress` is called with the steps taken and
/// all steps, `callback` with each evaluation.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    config: &Config,
    progress: Option<Py<PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Fitted> {
    let config = config.config.clone();
    let listeners = Listeners {
        progress: progress.as_ref(),
        callback: callback.as_ref(),
    };
    let (is_shown, waits) = (progress.is_some(), callback.is_some());
    let (config, parameters, best, metrics, losses) =
        watched(py, listeners, move |sender, signals| {
            notes::begin_call();
            let session = Session::open(config)?;
            note_lost_words(&session.experiment.config, &session.experiment.splits);
            let experiment = &session.experiment;
            let mut engine = session.engine()?;
            let engine = engine.as_mut();
            let stopped = || signals.received().is_some();
            let count = experiment.steps();
            let mut fitting = Fitting {
                session: &session,
                sent: ProgressSender {
                    sender,
                    count,
                    waits,
                },
                is_shown,
                evaluations: Evaluations::new(&experiment.config.training),
                progress: Progress::default(),
                losses: Vec::with_capacity(count.min(1 << 20)),
            };
            train(
                experiment,
                engine,
                Progress::default(),
                stopped,
                &mut fitting,
            )?;
            if fitting.evaluations.rows.last().map(|last| last.step) != Some(fitting.progress.step)
            {
                fitting.evaluate(engine)?;
            }
            let best = fitting.evaluations.best().cloned();
            let lines = fitting.evaluations.rows.iter().map(serde_json::to_string);
            let lines: Result<Vec<_>, _> = lines.collect();
            let lines = lines.map_err(|error| Failure::System(error.to_string()))?;
            Ok((
                experiment.config.clone(),
                engine.parameters(),
                best.map(|best| (best.step, best.parameters)),
                lines.join("\n"),
                fitting.losses,
            ))
        })?;
    let best = best.map(|(step, parameters)| (step, Model::of(config.clone(), parameters)));
    let losses = PyArray1::from_vec(py, losses).unbind();
    Ok((Model::of(config, parameters), best, metrics, losses))
}

/// Keeps evaluations, losses and the best model.
struct Fitting<'a> {
    session: &'a Session,
    sent: ProgressSender,
    is_shown: bool,
    evaluations: Evaluations,
    progress: Progress,
    losses: Vec<f32>,
}

impl Fitting<'_> {
    fn evaluate(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        let metrics = measure(&self.session.experiment, engine, self.progress)?;
        self.sent.evaluated(&metrics);
        self.evaluations.add(metrics, engine);
        Ok(())
    }
}

impl Observer for Fitting<'_> {
    type Failure = Failure;

    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Failure> {
        self.progress = progress;
        if self.is_shown && is_due_every(OFTEN, progress.step) {
            self.sent.step(progress.step);
        }
        self.losses.extend(progress.loss.map(|loss| loss as f32));
        if evaluation_is_due(&self.session.experiment, progress) {
            self.evaluate(engine)?;
        }
        Ok(if self.evaluations.is_out_of_patience() {
            Next::Stop
        } else {
            Next::Step
        })
    }
}
