//! What a training run writes while it goes on: metrics and dumps.

use crate::Failure;
use crate::config::{DumpConfig, ExperimentConfig};
use crate::engine::Engine;
use crate::experiment::Experiment;
use crate::files::LineFile;
use crate::metrics::StepMetrics;
use crate::record::{self, Moment, Samples, record};
use crate::run_dir::RunDir;
use crate::terminal::TrainingDisplay;
use crate::train::{Observer, Progress, due, measure};

/// Writes metrics and dumps while a model is trained.
pub(crate) struct Recorder<'a> {
    experiment: &'a Experiment,
    run: &'a RunDir,
    chosen: Vec<usize>,
    log: LineFile,
    display: TrainingDisplay,
    pub(crate) metrics: Vec<StepMetrics>,
    /// Each step's, where there is a recorded run to compare them with.
    pub(crate) losses: Vec<f64>,
    pub(crate) progress: Progress,
    recorded: Option<usize>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(experiment: &'a Experiment, run: &'a RunDir) -> Result<Self, Failure> {
        let train = &experiment.splits.train;
        let training = &experiment.config.training;
        let steps = train
            .len()
            .div_ceil(training.batch_size)
            .saturating_mul(training.epochs);
        Ok(Self {
            experiment,
            run,
            chosen: record::chosen(&experiment.config.dump, train),
            log: run.metrics_log()?,
            display: TrainingDisplay::new(steps),
            metrics: Vec::new(),
            losses: Vec::new(),
            progress: Progress::default(),
            recorded: None,
        })
    }

    /// Records the last moment, unless it is already.
    pub(crate) fn finish(mut self, engine: &mut dyn Engine) -> Result<Self, Failure> {
        self.display.finish();
        self.record(engine)?;
        Ok(self)
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
        self.metrics.push(metrics);
        Ok(())
    }

    fn is_due(&self) -> bool {
        let DumpConfig {
            every_epochs,
            every_steps,
            ..
        } = self.experiment.config.dump;
        let Progress {
            epoch,
            step,
            at_epoch_end,
            ..
        } = self.progress;
        step == 0 || due(every_steps, step) || at_epoch_end && due(every_epochs, epoch)
    }
}

impl Observer for Recorder<'_> {
    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<(), Failure> {
        self.progress = progress;
        self.display.step(progress.step);
        if self.experiment.reference.is_some() {
            self.losses.extend(progress.loss);
        }
        if self.is_due() {
            self.record(engine)?;
        }
        let every = self.experiment.config.training.evaluate_every;
        if progress.at_epoch_end || due(every, progress.step) {
            self.evaluate(engine)?;
        }
        Ok(())
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
