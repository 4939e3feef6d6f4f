//! What a training run writes while it goes on: metrics and dumps.

use headlight_model::TransformerClassifier;

use crate::Failure;
use crate::config::{DumpConfig, ExperimentConfig};
use crate::experiment::{Experiment, inference};
use crate::metrics::StepMetrics;
use crate::record::{self, Moment, Samples, record};
use crate::run_dir::{MetricsLog, RunDir};
use crate::terminal::TrainingDisplay;
use crate::train::{Observer, Progress, due};

/// Writes metrics and dumps while a model is trained.
pub(crate) struct Recorder<'a> {
    run: &'a RunDir,
    config: ExperimentConfig,
    train: headlight_data::Dataset,
    device: burn::tensor::Device,
    chosen: Vec<usize>,
    log: MetricsLog,
    display: TrainingDisplay,
    pub(crate) metrics: Vec<StepMetrics>,
    /// Each step's, where there is a recorded run to compare them with.
    pub(crate) losses: Vec<f64>,
    compared: bool,
    pub(crate) progress: Progress,
    recorded: Option<usize>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(experiment: &Experiment, run: &'a RunDir) -> Result<Self, Failure> {
        let train = experiment.splits.train.clone();
        let training = &experiment.config.training;
        let steps = train
            .len()
            .div_ceil(training.batch_size)
            .saturating_mul(training.epochs);
        Ok(Self {
            run,
            config: experiment.config.clone(),
            chosen: record::chosen(&experiment.config.dump, &train),
            train,
            device: experiment.device.device.clone(),
            log: run.metrics_log()?,
            display: TrainingDisplay::new(steps),
            metrics: Vec::new(),
            losses: Vec::new(),
            compared: experiment.reference.is_some(),
            progress: Progress::default(),
            recorded: None,
        })
    }

    /// Records the last moment, unless it is already.
    pub(crate) fn finish(mut self, experiment: &Experiment) -> Result<Self, Failure> {
        self.display.finish();
        self.record(&experiment.model)?;
        Ok(self)
    }

    fn record(&mut self, model: &TransformerClassifier) -> Result<(), Failure> {
        if self.recorded == Some(self.progress.step) {
            return Ok(());
        }
        self.recorded = Some(self.progress.step);
        let samples = Samples {
            dataset: &self.train,
            indices: self.chosen.clone(),
            from_training: true,
            labelled: true,
        };
        let moment = moment(self.progress, &self.config);
        let dump = record(
            &inference(model),
            &samples,
            moment,
            &self.config,
            &self.device,
        )?;
        self.run.write_dump(&dump, &self.config.dump.formats)
    }

    fn is_due(&self) -> bool {
        let DumpConfig {
            every_epochs,
            every_steps,
            ..
        } = self.config.dump;
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
    fn step(&mut self, progress: Progress, model: &TransformerClassifier) -> Result<(), Failure> {
        self.progress = progress;
        self.display.step(progress.step);
        if self.compared {
            self.losses.extend(progress.loss);
        }
        if self.is_due() {
            self.record(model)
        } else {
            Ok(())
        }
    }

    fn evaluated(&mut self, metrics: &StepMetrics) -> Result<(), Failure> {
        self.display.evaluated(metrics);
        self.log.append(metrics)?;
        self.metrics.push(metrics.clone());
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
