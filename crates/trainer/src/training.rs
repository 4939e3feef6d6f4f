//! Training into a run directory, from the start or from a checkpoint, until all of its files are written.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use headlight_architecture::Parameter;
use headlight_dump::AttentionDump;
use headlight_experiment::certificate::Certificate;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::evaluate::assess;
use headlight_experiment::measures::{certified, measured};
use headlight_experiment::metrics::TestMetrics;
use headlight_experiment::outcome::Outcome;
use headlight_experiment::train::{Ending, Progress, train};
use headlight_experiment::{Engine, Error, Experiment, TrainingState, tested};
use headlight_inspector::Screen;

use crate::Failure;
use crate::documents::page;
use crate::documents::report::{RunReport, reported_samples};
use crate::documents::screen::Ended;
use crate::notes::note;
use crate::sessions::dumping::{Model, Origin, dump};
use crate::sessions::resume::{self, CHECKPOINT_LIMIT};
use crate::sessions::run_writer::{Display, RunWriter, origin};
use crate::sessions::session::Session;
use crate::storage::checkpoint::Checkpoint;
use crate::storage::environment::SourceCommit;
use crate::storage::run_dir::{CERTIFICATE, RunDir};
use crate::storage::standard::shown;

/// The inputs of each class in a run's certificate.
const EXAMPLES: usize = 10;

/// A count that takes longer is announced.
const SILENT: Duration = Duration::from_secs(3);

/// An experiment that is ready to be trained.
pub struct Training<'a> {
    session: &'a Session,
    engine: Box<dyn Engine + 'a>,
    stage: Stage,
}

/// How far the run is.
enum Stage {
    /// It starts with the first step.
    New,
    /// It goes on after its checkpoint.
    Resumed(Checkpoint),
    /// Nothing is left to train or to write.
    Complete(Checkpoint),
}

/// A trained run, after all of its files are written.
#[derive(Debug)]
pub struct Trained {
    /// Whether the model learned its task; `None` without an evaluation.
    pub outcome: Option<Outcome>,
    /// How the model that is used does on all test sets.
    pub tests: Vec<TestMetrics>,
    /// The report as Markdown.
    pub report: String,
    /// The dump of the samples in the report: by the best model if the run keeps it, or else by the last one.
    pub dump: AttentionDump,
    /// The layer and the head to look at first, as the run's dumps say.
    pub strongest: (usize, usize),
    /// The step of the best model, if the run keeps one.
    pub best_step: Option<usize>,
    /// The parameters of the model that is used, in the model's order.
    pub parameters: Vec<Parameter>,
    /// The run's page; `None` if it was not written.
    pub page: Option<PathBuf>,
    /// The progress of training at its end.
    pub progress: Progress,
    /// Whether training was interrupted.
    pub was_interrupted: bool,
    /// Whether the run lacks its certificate, since the count was interrupted or would take too long.
    pub is_uncounted: bool,
}

impl Trained {
    /// The first screen of the run; `again` is its config on a command line, word by word.
    ///
    /// # Errors
    /// When the model does not suit the config.
    pub fn screen(
        &self,
        experiment: &Experiment,
        run: &RunDir,
        again: Vec<String>,
    ) -> Result<Screen, Failure> {
        let ended = Ended {
            experiment,
            run,
            again,
            parameters: &self.parameters,
            outcome: self.outcome.as_ref(),
            tests: &self.tests,
            interrupted: self.was_interrupted.then_some(self.progress),
        };
        ended.screen()
    }
}

impl<'a> Training<'a> {
    /// Prepares the engine, and resumes the run in `resumed` from its last checkpoint, if it has one.
    ///
    /// # Errors
    /// When the engine does not suit the config, or the run cannot be resumed.
    pub fn prepare(session: &'a Session, resumed: Option<&RunDir>) -> Result<Self, Failure> {
        let mut engine = session.engine()?;
        let checkpoint = match resumed {
            Some(run) => resume::checkpoint_of(run, session)?,
            None => None,
        };
        let stage = match checkpoint {
            None => Stage::New,
            Some(checkpoint) => {
                engine.restore(&checkpoint.state)?;
                if resumed.is_some_and(RunDir::has_ended)
                    && resume::is_trained(session, &checkpoint)
                {
                    Stage::Complete(checkpoint)
                } else {
                    Stage::Resumed(checkpoint)
                }
            }
        };
        Ok(Self {
            session,
            engine,
            stage,
        })
    }

    fn checkpoint(&self) -> Option<&Checkpoint> {
        match &self.stage {
            Stage::New => None,
            Stage::Resumed(checkpoint) | Stage::Complete(checkpoint) => Some(checkpoint),
        }
    }

    /// The number of steps taken so far.
    pub fn step(&self) -> usize {
        self.checkpoint()
            .map_or(0, |checkpoint| checkpoint.counters.progress.step)
    }

    /// The step of the best model so far, if the run keeps one.
    pub fn best_step(&self) -> Option<usize> {
        Some(self.checkpoint()?.best.as_ref()?.step)
    }

    /// Whether nothing of the run is left to train or to write.
    pub fn is_complete(&self) -> bool {
        matches!(self.stage, Stage::Complete(_))
    }

    /// The outcome of a run that [is complete](Self::is_complete), computed again from its evaluations and its model.
    ///
    /// # Errors
    /// When `metrics.jsonl` cannot be read.
    pub fn outcome(&self, run: &RunDir) -> Result<Option<Outcome>, Failure> {
        let experiment = &self.session.experiment;
        Ok(Outcome::of(
            &experiment.config,
            &experiment.splits,
            &run.step_metrics()?,
            self.best_step(),
        ))
    }

    /// Trains until the end, or until `interrupted` returns `true`, and writes all files of the run. `source` is that of
    /// the program.
    ///
    /// # Errors
    /// When the loss diverges, or a file cannot be written; the message says what the run directory holds.
    pub fn train(
        self,
        run: &RunDir,
        source: SourceCommit,
        display: &dyn Display,
        interrupted: impl Fn() -> bool + Sync,
    ) -> Result<Trained, Failure> {
        let Self {
            session,
            mut engine,
            stage,
        } = self;
        let experiment = &session.experiment;
        let engine = engine.as_mut();
        let checkpoint = match stage {
            Stage::New => None,
            Stage::Resumed(checkpoint) | Stage::Complete(checkpoint) => Some(checkpoint),
        };
        let work = || {
            let mut writer = RunWriter::new(session, run, checkpoint, source, display)?;
            let interrupted = &interrupted;
            let ending = if writer.is_out_of_patience() {
                Ending::Stopped
            } else {
                let start = writer.progress;
                let ending = train(experiment, engine, start, interrupted, &mut writer);
                if let Err(failure) = &ending {
                    // The curve up to a failure shows how it came about.
                    let _ = writer.write_losses().and_then(|()| run.write_losses());
                    if let Failure::Diverged(_) = failure {
                        let _ = writer.write_best();
                    }
                }
                ending?
            };
            writer.finish(engine)?;
            conclude(session, engine, run, ending, &writer, interrupted)
        };
        work().map_err(|failure| with_remedy(failure, run, session))
    }
}

/// Writes the last files of a run that has ended or was interrupted. They show the best model, if the run keeps it.
fn conclude(
    session: &Session,
    engine: &mut dyn Engine,
    run: &RunDir,
    ending: Ending,
    writer: &RunWriter<'_>,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Trained, Failure> {
    let experiment = &session.experiment;
    let config = &writer.config;
    run.write_losses()?;
    writer.write_best()?;
    run.write_weights(engine.parameters())?;

    let progress = writer.progress;
    let best_step = writer.best().map(|best| best.step);
    if let Some(best) = writer.best() {
        engine.restore(&TrainingState::of(best.parameters.clone()))?;
    }
    let step = best_step.unwrap_or(progress.step);
    let parameters = &engine.parameters();
    let model = Model { config, parameters };
    let shown = experiment.splits.shown();
    let samples = session.shown_samples(reported_samples(shown));
    let dump = dump(model, &samples, origin(step, experiment), &session.device)?;
    let strongest = strongest(session, model)?;
    let assessment = assess(engine, experiment.splits.judged(), config.data.n_classes).ok();
    let outcome = Outcome::of(config, &experiment.splits, &writer.metrics, best_step);
    let tests = tested(experiment, engine, |_| true)?;
    let weights = engine.weights();
    // A run is complete without its certificate: `certify` counts at any time. A model that is half trained needs none.
    let certificate = match ending {
        Ending::Interrupted => Ok(None),
        _ => certificate(config, &weights, interrupted),
    };
    let is_uncounted = certificate.is_err();
    let certificate = certificate.unwrap_or_else(|error| {
        note(&format!("no {CERTIFICATE}: {error}"));
        None
    });
    if let Some(certificate) = &certificate {
        run.write_json(CERTIFICATE, certificate)?;
    }
    let judged = experiment.splits.judged();
    let measures = measured(config, &weights, judged, certificate.as_ref())?;
    let report = RunReport {
        config,
        splits: &experiment.splits,
        metrics: &writer.metrics,
        of_model: writer.metrics.iter().rfind(|row| row.step <= step),
        assessment: assessment.as_ref(),
        outcome: outcome.as_ref(),
        tests: &tests,
        measures: &measures,
        certificate: certificate.as_ref(),
        dump: &dump,
        strongest,
        interrupted: matches!(ending, Ending::Interrupted).then_some(progress),
        tracker: writer.tracker.as_ref(),
    };
    // A run is complete without its page: `inspect --html` can write it at any time.
    let page = page::write(run, outcome.as_ref()).unwrap_or_else(|failure| {
        note(&format!("no inspector.html: {failure}"));
        None
    });
    let was_interrupted = report.interrupted.is_some();
    let report = report.markdown();
    run.write_report(&report)?;
    Ok(Trained {
        outcome,
        tests,
        report,
        dump,
        strongest,
        best_step,
        parameters: parameters.clone(),
        page,
        progress,
        was_interrupted,
        is_uncounted,
    })
}

/// How the model answers all possible inputs, if a measure asks for it.
fn certificate(
    config: &ExperimentConfig,
    weights: &[f32],
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Certificate>, Error> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (began, told) = (Instant::now(), AtomicBool::new(false));
    certified(config, weights, EXAMPLES, threads, &|_| {
        if interrupted() {
            let message = "the count of all inputs was interrupted".to_owned();
            return Err(Error::Input(message));
        }
        if began.elapsed() > SILENT && !told.swap(true, Ordering::Relaxed) {
            note("training has ended; Headlight counts the answers to all inputs");
        }
        Ok(())
    })
}

/// The last layer and its strongest head, over the samples that the run dumps, so that all that shows the run opens on the
/// same head.
fn strongest(session: &Session, model: Model<'_>) -> Result<(usize, usize), Failure> {
    let experiment = &session.experiment;
    let config = &experiment.config;
    if config.model.n_heads == 1 {
        return Ok((config.model.n_layers - 1, 0));
    }
    let samples = session.shown_samples(config.dump.chosen(experiment.splits.shown()));
    Ok(dump(model, &samples, Origin::default(), &session.device)?.strongest())
}

/// Adds to a failure during training what the run directory holds, or how to resume the run.
fn with_remedy(failure: Failure, run: &RunDir, session: &Session) -> Failure {
    match failure {
        Failure::Diverged(message) => {
            let _ = page::write(run, None).and_then(|_| run.write_manifest(None));
            let mut saved = "metrics".to_owned();
            if let Ok(Some(checkpoint)) = run.checkpoint(CHECKPOINT_LIMIT) {
                let step = checkpoint.counters.progress.step;
                saved = format!("the last good checkpoint, of step {step}, and metrics");
            }
            let best = run.kept_model(&session.experiment.config);
            if let (true, Some(step)) = (best.is_best, best.step) {
                saved = format!("best.safetensors, of step {step}, {saved}");
            }
            let place = shown(run.path());
            Failure::Diverged(format!("{message}; {saved} so far are in {place}"))
        }
        Failure::System(message) if run.is_begun() => {
            Failure::System(format!("{message}; {}", run.how_to_resume()))
        }
        other => {
            run.discard_empty();
            other
        }
    }
}
