//! What a training run writes while it goes on: metrics, dumps and checkpoints.

use std::time::Instant;

use crate::Failure;
use crate::best::Watch;
use crate::checkpoint::{Checkpoint, inputs_sha256};
use crate::config::{CheckpointConfig, DumpConfig, ExperimentConfig};
use crate::engine::Engine;
use crate::experiment::Experiment;
use crate::files::LineFile;
use crate::metrics::StepMetrics;
use crate::record::{self, Moment, Samples, record};
use crate::resume;
use crate::run_dir::RunDir;
use crate::terminal::TrainingDisplay;
use crate::train::{Next, Observer, Progress, due, measure};

/// Writes metrics, dumps and checkpoints while a model is trained.
pub(crate) struct Recorder<'a> {
    experiment: &'a Experiment,
    run: &'a RunDir,
    chosen: Vec<usize>,
    log: LineFile,
    display: TrainingDisplay,
    inputs_sha256: String,
    pub(crate) metrics: Vec<StepMetrics>,
    /// Each step's, where there is a recorded run to compare them with.
    pub(crate) losses: Vec<f64>,
    pub(crate) watch: Option<Watch>,
    pub(crate) progress: Progress,
    /// The steps of the last dump and of the last checkpoint.
    recorded: Option<usize>,
    saved: Option<usize>,
    saved_at: Instant,
}

impl<'a> Recorder<'a> {
    /// Begins, or goes on from a checkpoint. What the run's folder holds of later moments goes.
    pub(crate) fn new(
        experiment: &'a Experiment,
        run: &'a RunDir,
        checkpoint: Option<Checkpoint>,
    ) -> Result<Self, Failure> {
        let mut watch = Watch::new(&experiment.config.training);
        let (mut progress, mut losses, mut bytes) = (Progress::default(), Vec::new(), 0);
        if let Some(checkpoint) = checkpoint {
            (progress, losses) = (checkpoint.progress, checkpoint.losses);
            bytes = checkpoint.metrics.bytes;
            if let Some(watch) = &mut watch {
                watch.best = checkpoint.best;
            }
        }
        let log = run.metrics_log(bytes)?;
        let metrics = run.metrics(|line| Some(StepMetrics::read(&line)))?;
        let metrics: Option<Vec<StepMetrics>> = metrics.into_iter().collect();
        let metrics = metrics.ok_or_else(|| {
            Failure::reading(&run.metrics_path(), "it has lines that are no metrics")
        })?;
        run.rewind(|step| step <= progress.step && dump_is_due(experiment, step))?;
        Ok(Self {
            experiment,
            run,
            chosen: record::chosen(&experiment.config.dump, &experiment.splits.train),
            log,
            display: TrainingDisplay::new(experiment.steps()),
            inputs_sha256: inputs_sha256(experiment),
            metrics,
            losses,
            watch,
            progress,
            recorded: None,
            saved: None,
            saved_at: Instant::now(),
        })
    }

    /// Whether the config's patience is at its end already.
    pub(crate) fn has_waited_enough(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::has_waited_enough)
    }

    /// Records and saves the last moment, unless it is already.
    pub(crate) fn finish(mut self, engine: &mut dyn Engine) -> Result<Self, Failure> {
        self.display.finish();
        self.record(engine)?;
        if self.progress.step > 0 {
            self.save(engine)?;
        }
        Ok(self)
    }

    /// When it is made depends on the clock; what comes of the run does not.
    fn checkpoint_is_due(&self, step: usize) -> bool {
        let CheckpointConfig {
            every_seconds,
            every_epochs,
            every_steps,
        } = self.experiment.config.checkpoint;
        let late = every_seconds > 0 && self.saved_at.elapsed().as_secs() >= every_seconds;
        step > 0 && (late || falls_on(self.experiment, every_epochs, every_steps, step))
    }

    /// Saves all that is needed to go on from here.
    fn save(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        if self.saved == Some(self.progress.step) {
            return Ok(());
        }
        self.saved = Some(self.progress.step);
        self.saved_at = Instant::now();
        let state = engine.state();
        let lost = state
            .parameters
            .iter()
            .find(|parameter| !parameter.values.iter().all(|value| value.is_finite()));
        if let Some(lost) = lost {
            return Err(Failure::Diverged(format!(
                "`{}` is no longer finite after step {}",
                lost.name, self.progress.step
            )));
        }
        // What a checkpoint stands on must not be lost when it is not.
        self.log.sync()?;
        self.run.sync_names()?;
        self.run.checkpoints().save(&Checkpoint {
            progress: self.progress,
            state,
            metrics: self.log.mark(),
            best: self.watch.as_ref().and_then(|watch| watch.best.clone()),
            losses: self.losses.clone(),
            config: resume::json(&self.experiment.config)?,
            inputs_sha256: self.inputs_sha256.clone(),
        })
    }

    fn record(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        if self.recorded == Some(self.progress.step) {
            return Ok(());
        }
        self.recorded = Some(self.progress.step);
        let Experiment {
            config,
            splits,
            device,
            ..
        } = self.experiment;
        let samples = Samples {
            dataset: &splits.train,
            indices: self.chosen.clone(),
            from_training: true,
            labelled: true,
        };
        let moment = moment(self.progress, config);
        let dump = record(&engine.model()?, &samples, moment, config, &device.device)?;
        self.run.write_dump(&dump, &config.dump.formats)
    }

    fn evaluate(&mut self, engine: &mut dyn Engine) -> Result<(), Failure> {
        let metrics = measure(self.experiment, engine, self.progress)?;
        self.display.evaluated(&metrics);
        self.log.append(&metrics)?;
        if let Some(watch) = &mut self.watch {
            watch.see(&metrics, engine);
        }
        self.metrics.push(metrics);
        Ok(())
    }
}

/// Whether a run records what attention does after `step`, however it may end.
fn dump_is_due(experiment: &Experiment, step: usize) -> bool {
    let DumpConfig {
        every_epochs,
        every_steps,
        ..
    } = experiment.config.dump;
    step == 0 || step == experiment.steps() || falls_on(experiment, every_epochs, every_steps, step)
}

/// Whether something done every so many epochs and every so many steps is due; every 0 means never.
fn falls_on(experiment: &Experiment, every_epochs: usize, every_steps: usize, step: usize) -> bool {
    let of_epoch = experiment.steps_per_epoch();
    due(every_steps, step) || step.is_multiple_of(of_epoch) && due(every_epochs, step / of_epoch)
}

impl Observer for Recorder<'_> {
    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Failure> {
        self.progress = progress;
        self.display.step(progress.step);
        if self.experiment.reference.is_some() {
            self.losses.extend(progress.loss);
        }
        let step = progress.step;
        if dump_is_due(self.experiment, step) {
            self.record(engine)?;
        }
        let every = self.experiment.config.training.evaluate_every;
        if progress.at_epoch_end || due(every, step) {
            self.evaluate(engine)?;
        }
        if self.checkpoint_is_due(step) {
            self.save(engine)?;
        }
        Ok(if self.has_waited_enough() {
            Next::Stop
        } else {
            Next::Step
        })
    }
}

/// The moment that a run stands at.
pub(crate) fn moment(progress: Progress, config: &ExperimentConfig) -> Moment {
    Moment {
        step: Some(progress.step),
        epoch: Some(progress.epoch),
        // A recorded run has its weights and batches from elsewhere.
        seed: config.reference.is_none().then_some(config.seed),
    }
}
