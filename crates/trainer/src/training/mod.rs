//! Training into a run directory, from the start or from a checkpoint, until all of its files are written.

mod conclusion;
pub mod dump_volume;
pub mod resume;
pub mod run_writer;
pub mod signals;

use headlight_experiment::Engine;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::outcome::Outcome;
use headlight_experiment::train::{Ending, train};

use crate::run::RunState;
use crate::run::checkpoint::Checkpoint;
use crate::run::environment::SourceCommit;
use crate::session::dataset::check_data_file;
use crate::show::finished_run::FinishedRun;
use crate::show::page;
use crate::{DatasetFiles, Failure, RunDir, Session, option, shown};

use conclusion::conclude;
use run_writer::{Display, RunWriter};

/// An experiment that is ready to be trained.
pub struct Training<'a> {
    session: &'a Session,
    engine: Box<dyn Engine + 'a>,
    /// What the run goes on after.
    checkpoint: Option<Checkpoint>,
    /// Whether nothing of the run is left to train or to write.
    pub is_complete: bool,
}

impl<'a> Training<'a> {
    /// The session of a run, in a directory in which it may have `begun`: takes the samples from their files, opens the device, and keeps the
    /// default dumps small.
    ///
    /// # Errors
    /// When the samples or the device do not suit the config.
    pub fn open_session(
        config: ExperimentConfig,
        begun: Option<&RunDir>,
        files: &DatasetFiles,
    ) -> Result<Session, Failure> {
        if begun.is_some() {
            let remedy = option(
                "name it with --set data.file=FILE",
                "name it with data={\"file\": FILE}",
            );
            check_data_file(&config, remedy)?;
        }
        let mut session = Session::open_with(config, files)?;
        dump_volume::reduce_dumps(&mut session.experiment, begun)?;
        Ok(session)
    }

    /// Prepares the engine, and gives it the checkpoint of a run that has `begun`.
    ///
    /// # Errors
    /// When the engine does not suit the config, the run cannot be resumed, or its dumps would be too large, unless `force`.
    pub fn prepare(
        session: &'a Session,
        begun: Option<&RunDir>,
        force: bool,
    ) -> Result<Self, Failure> {
        let mut engine = session.engine()?;
        let checkpoint = begun.map(|run| resume::checkpoint_of(run, session));
        let checkpoint = checkpoint.transpose()?.flatten();
        if let Some(checkpoint) = &checkpoint {
            engine.restore(&checkpoint.state)?;
        }
        let state = begun.map(RunDir::state);
        let has_same_length = |checkpoint| resume::has_same_length(session, checkpoint);
        let is_complete =
            state == Some(RunState::Complete) && checkpoint.as_ref().is_some_and(has_same_length);
        let training = Self {
            session,
            engine,
            checkpoint,
            is_complete,
        };
        if !is_complete {
            if let (Some(run), Some(RunState::Interrupted | RunState::Complete)) = (begun, state) {
                run.check_whole()?;
            }
            dump_volume::check_volume(&session.experiment, begun, force)?;
        }
        Ok(training)
    }

    /// The number of steps taken so far.
    pub fn step(&self) -> usize {
        let checkpoint = self.checkpoint.as_ref();
        checkpoint.map_or(0, |checkpoint| checkpoint.counters.progress.step)
    }

    /// The step of the best model so far, if the run keeps one.
    pub fn best_step(&self) -> Option<usize> {
        Some(self.checkpoint.as_ref()?.best.as_ref()?.step)
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
    ) -> Result<FinishedRun, Failure> {
        let Self {
            session,
            mut engine,
            checkpoint,
            ..
        } = self;
        let experiment = &session.experiment;
        let engine = engine.as_mut();
        let work = || {
            let mut writer = RunWriter::new(session, run, checkpoint, source, display)?;
            let interrupted = &interrupted;
            let ending = if writer.evaluations.is_out_of_patience() {
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
            conclude(writer, engine, ending, interrupted)
        };
        work().map_err(|failure| with_remedy(failure, run, session))
    }
}

/// Adds to a failure during training what the run directory holds, or how to resume the run.
fn with_remedy(failure: Failure, run: &RunDir, session: &Session) -> Failure {
    match failure {
        Failure::Diverged(message) => {
            // A page that cannot be written leaves the run as it is.
            let _ = page::write(run, &session.experiment, None);
            let _ = run.write_manifest(None);
            let mut saved = Vec::new();
            let best = run.kept_model(&session.experiment.config);
            if let (true, Some(step)) = (best.is_best, best.step) {
                saved.push(format!("best.safetensors, of step {step}, "));
            }
            if let Ok(Some(checkpoint)) = run.checkpoint() {
                let step = checkpoint.counters.progress.step;
                saved.push(format!("the last good checkpoint, of step {step}, "));
            }
            let and = if saved.is_empty() { "" } else { "and " };
            let (saved, place) = (saved.concat(), shown(run.path()));
            Failure::Diverged(format!(
                "{message}; {saved}{and}metrics so far are in {place}"
            ))
        }
        Failure::System(message) if run.has_begun() => {
            Failure::System(format!("{message}; {}", run.how_to_resume()))
        }
        other => {
            run.discard_empty();
            other
        }
    }
}
