//! Writes a run directory during training: metrics, dumps and checkpoints.

use std::time::Instant;

use headlight_architecture::Parameter;
use headlight_dump::AttentionDump;
use headlight_experiment::best::{BestModel, Evaluations};
use headlight_experiment::config::{CheckpointConfig, DumpConfig, ExperimentConfig};
use headlight_experiment::metrics::StepMetrics;
use headlight_experiment::train::{
    Next, Observer, Progress, evaluation_is_due, is_due_every, measure,
};
use headlight_experiment::{Engine, Experiment, test_metrics};

use serde_json::Value;

use crate::files::access::Log;
use crate::files::config;
use crate::files::hash::inputs_sha256;
use crate::files::run_files::{
    BEST, BEST_DUMP, ENVIRONMENT, LOSS_LOG, METRICS, STATE, STEP_WEIGHTS,
};
use crate::run::checkpoint::{Checkpoint, Counters};
use crate::run::environment::{Environment, SourceCommit};
use crate::session::dumping::{DumpModel, Origin, dump};
use crate::{Failure, RunDir, Session};

/// Shows the progress of a run.
pub trait Display {
    /// Called after each step, with the number of steps taken.
    fn step(&self, step: usize);

    /// Called after each evaluation.
    fn evaluated(&self, metrics: &StepMetrics);

    /// Called once training has ended.
    fn finish(&self);
}

/// Writes metrics, dumps and checkpoints during training.
pub(crate) struct RunWriter<'a> {
    pub(crate) session: &'a Session,
    pub(crate) run: &'a RunDir,
    display: &'a dyn Display,
    /// The config with the names of its files alone, as the run's records have it: dumps, checkpoints, the report.
    pub(crate) config: ExperimentConfig,
    dumped: Vec<usize>,
    log: Log,
    loss_log: Log,
    /// The loss of each step since the last checkpoint, float32, little-endian.
    losses: Vec<u8>,
    inputs_sha256: String,
    /// The evaluations so far.
    pub(crate) evaluations: Evaluations,
    /// The progress of training.
    pub(crate) progress: Progress,
    /// The steps of the last dump and of the last checkpoint.
    last_dump: Option<usize>,
    last_checkpoint: Option<usize>,
    saved_at: Instant,
}

impl<'a> RunWriter<'a> {
    /// Begins a run, or takes it back to a checkpoint: what is later goes, and so do the files of its end.
    pub(crate) fn new(
        session: &'a Session,
        run: &'a RunDir,
        checkpoint: Option<Checkpoint>,
        source: SourceCommit,
        display: &'a dyn Display,
    ) -> Result<Self, Failure> {
        let experiment = &session.experiment;
        // A damaged file must not prevent resuming.
        let before: Value = run.json(ENVIRONMENT).ok().flatten().unwrap_or_default();
        // All that may be damaged is read before a file goes.
        let mut evaluations = Evaluations::new(&experiment.config.training);
        if let Some(checkpoint) = &checkpoint {
            evaluations.rows = run.step_metrics_of(checkpoint.counters.metrics_bytes)?;
        }
        run.begin(&config::with_absolute_paths(experiment.config.clone())?)?;
        let config = config::with_file_names(experiment.config.clone());
        let environment = Environment::now(source, &config.compute, &session.device);
        let (mut progress, mut metrics_bytes, mut resumed_from) = (Progress::default(), 0, None);
        if let Some(Checkpoint { counters, best, .. }) = checkpoint {
            progress = counters.progress;
            metrics_bytes = counters.metrics_bytes;
            resumed_from = Some(progress.step);
            if let Some(tracker) = &mut evaluations.tracker {
                tracker.best = best;
            }
        }
        match resumed_from {
            Some(step) if before.is_object() => {
                run.write_json(ENVIRONMENT, &environment.resumed(before, step))?;
            }
            _ => run.write_json(ENVIRONMENT, &environment)?,
        }
        run.rewind(|step| {
            resumed_from.is_some_and(|last| step <= last) && dump_is_due(experiment, step)
        })?;
        let log = Log::open(&run.file(METRICS), metrics_bytes)?;
        let loss_log = Log::open(&run.file(LOSS_LOG), 4 * progress.step as u64)?;
        run.keep_weights(|step| evaluations.rows.iter().any(|row| row.step == step))?;
        Ok(Self {
            session,
            run,
            display,
            config,
            dumped: experiment
                .config
                .dump
                .chosen(experiment.splits.displayed_samples()),
            log,
            loss_log,
            losses: Vec::new(),
            inputs_sha256: inputs_sha256(experiment),
            evaluations,
            progress,
            last_dump: None,
            last_checkpoint: None,
            saved_at: Instant::now(),
        })
    }

    /// Writes the best model so far: its weights, then its dump. `RunDir::rewind` has removed those of an
    /// earlier step. So, whatever stops this process, no dump is beside the weights of another step.
    pub(crate) fn write_best(&self) -> Result<(), Failure> {
        let Some(BestModel {
            parameters, step, ..
        }) = self.evaluations.best()
        else {
            return Ok(());
        };
        let dump = self.dump(parameters, *step)?;
        self.run.write_weights(BEST, parameters.clone())?;
        self.run
            .write_dump(BEST_DUMP, &dump, &self.config.dump.formats)
    }

    /// Dumps, saves and evaluates the last step, if that was not done yet.
    pub(crate) fn finish(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        self.display.finish();
        self.write_dump(engine)?;
        if self.progress.step > 0 {
            self.save(engine)?;
        }
        let evaluated = self.evaluations.rows.last().map(|last| last.step);
        if evaluated != Some(self.progress.step) {
            // An interrupted run: until it is resumed, this model may be its best. Its checkpoint comes before this
            // evaluation, so that the run drops it when it is resumed, and ends with the rows and the best model of a run
            // that was not interrupted.
            self.evaluate(engine)?;
        }
        Ok(())
    }

    /// Whether a checkpoint is due. Unlike dumps, checkpoints may depend on the clock: they change no result.
    fn checkpoint_is_due(&self, step: usize) -> bool {
        let experiment = &self.session.experiment;
        let CheckpointConfig {
            every_seconds,
            every_epochs,
            every_steps,
        } = experiment.config.checkpoint;
        let late = every_seconds > 0 && self.saved_at.elapsed().as_secs() >= every_seconds;
        step > 0 && (late || is_due(experiment, every_epochs, every_steps, step))
    }

    /// Saves all that is needed to resume the run from here.
    fn save(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        let (experiment, step) = (&self.session.experiment, self.progress.step);
        if self.last_checkpoint == Some(step) {
            return Ok(());
        }
        self.last_checkpoint = Some(step);
        self.saved_at = Instant::now();
        let state = engine.state();
        if let Some(name) = state.not_finite() {
            let reason = format!("{name} is no longer finite after step {step}");
            return Err(experiment.diverged(&reason).into());
        }
        // A checkpoint relies on the logs up to it.
        self.write_losses()?;
        let checkpoint = Checkpoint {
            counters: Counters {
                progress: self.progress,
                metrics_bytes: self.log.length(),
                config: config::to_json(&self.config)?,
                inputs_sha256: self.inputs_sha256.clone(),
            },
            state,
            best: self.evaluations.best().cloned(),
        };
        self.run.write(STATE, &checkpoint.encode()?)
    }

    /// Writes the loss of each step so far.
    pub(crate) fn write_losses(&mut self) -> Result<(), Failure> {
        self.loss_log.append(&self.losses)?;
        self.losses.clear();
        Ok(())
    }

    fn write_dump(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        if self.last_dump == Some(self.progress.step) {
            return Ok(());
        }
        self.last_dump = Some(self.progress.step);
        let step = self.progress.step;
        let dump = self.dump(&engine.parameters(), step)?;
        let name = format!("step-{step:06}");
        self.run.write_dump(&name, &dump, &self.config.dump.formats)
    }

    /// The dump of the model after a step.
    fn dump(&self, parameters: &[Parameter], step: usize) -> Result<AttentionDump, Failure> {
        let experiment = &self.session.experiment;
        let config = &self.config;
        dump(
            DumpModel { config, parameters },
            &self.session.dump_samples(self.dumped.clone()),
            origin(step, experiment),
            &self.session.device,
            &[],
        )
        .map_err(|failure| match failure {
            Failure::Diverged(reason) => experiment.diverged(&reason).into(),
            other => other,
        })
    }

    fn evaluate(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        let experiment = &self.session.experiment;
        let mut metrics = measure(experiment, engine, self.progress)?;
        self.display.evaluated(&metrics);
        if experiment.config.training.save_weights {
            let name = format!("{STEP_WEIGHTS}/step-{:06}.safetensors", self.progress.step);
            self.run.write_weights(&name, engine.parameters())?;
        }
        self.evaluations.compare(&metrics, engine);
        if self.evaluations.is_out_of_patience() && self.progress.step < experiment.steps() {
            metrics.tests = test_metrics(experiment, engine, |_| true)?;
        }
        self.log.append_line(&metrics)?;
        self.evaluations.rows.push(metrics);
        Ok(())
    }
}

/// Whether every run of the experiment makes a dump after `step`, however it ends.
pub(super) fn dump_is_due(experiment: &Experiment, step: usize) -> bool {
    let DumpConfig {
        every_epochs,
        every_steps,
        ..
    } = experiment.config.dump;
    step == 0
        || step == experiment.steps()
        || is_due(experiment, every_epochs.value, every_steps, step)
}

/// Whether something done every `every_epochs` epochs and `every_steps` steps is due; 0 means never.
fn is_due(experiment: &Experiment, every_epochs: usize, every_steps: usize, step: usize) -> bool {
    let per_epoch = experiment.steps_per_epoch();
    let epoch_ends = step.is_multiple_of(per_epoch);
    is_due_every(every_steps, step) || epoch_ends && is_due_every(every_epochs, step / per_epoch)
}

impl Observer for RunWriter<'_> {
    type Failure = Failure;

    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Failure> {
        let experiment = &self.session.experiment;
        self.progress = progress;
        self.display.step(progress.step);
        if let Some(loss) = progress.loss {
            self.losses.extend((loss as f32).to_le_bytes());
        }
        let step = progress.step;
        if dump_is_due(experiment, step) {
            self.write_dump(engine)?;
        }
        if evaluation_is_due(experiment, progress) {
            self.evaluate(engine)?;
        }
        if self.checkpoint_is_due(step) {
            self.save(engine)?;
        }
        Ok(if self.evaluations.is_out_of_patience() {
            Next::Stop
        } else {
            Next::Step
        })
    }
}

/// The origin of a dump that a run makes.
pub(crate) fn origin(step: usize, experiment: &Experiment) -> Origin {
    let config = &experiment.config;
    Origin {
        step: Some(step),
        epoch: (!experiment.is_fresh()).then(|| step / experiment.steps_per_epoch()),
        seed: Some(config.seed),
    }
}
