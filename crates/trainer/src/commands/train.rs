//! `headlight train`: a config to a run directory.

use std::fmt::Write;

use headlight_dump::AttentionDump;
use headlight_inspector::{ColourMode, Heatmap, Quantity};
use headlight_model::TransformerClassifier;

use crate::Failure;
use crate::cli::TrainArguments;
use crate::config::{DumpConfig, ExperimentConfig};
use crate::environment::Environment;
use crate::experiment::{Experiment, inference};
use crate::files::print;
use crate::metrics::StepMetrics;
use crate::record::{self, Moment, Samples, record};
use crate::report::{Report, reported_samples};
use crate::run_dir::{MetricsLog, RunDir};
use crate::signals::Signals;
use crate::terminal::{self, TrainingDisplay};
use crate::train::{Ending, Observer, Progress, due, measure, train};

/// Trains, and prints the notebook's report.
///
/// # Errors
/// As the config, the machine, the loss or a signal has it.
pub fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let mut config = arguments.config.load()?;
    config.compute.device = arguments.device.unwrap_or(config.compute.device);
    let mut experiment = Experiment::new(config)?;
    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let run = create_run_dir(arguments)?;
    run.write_config(&experiment.config.clone().with_absolute_paths()?)?;
    run.write_json(
        "environment.json",
        &Environment::now(experiment.config.compute.device, &experiment.device),
    )?;

    let mut comparisons = match &experiment.reference {
        Some(reference) => reference.compare_at_start(&experiment)?,
        None => Vec::new(),
    };
    let mut recorder = Recorder::new(&experiment, &run)?;
    let ending = train(&mut experiment, &signals, &mut recorder)?;
    let Recorder {
        mut metrics,
        progress,
        losses,
        ..
    } = recorder.finish(&experiment)?;
    if let Some(reference) = &experiment.reference {
        comparisons.extend(reference.compare_at_end(&experiment, &losses));
        run.write_json("reference.json", &comparisons)?;
    }
    let measured = metrics
        .last()
        .is_some_and(|last| last.step == progress.step);
    if !measured {
        // Interrupted. For the report alone: metrics.jsonl holds what an undisturbed run would have written.
        metrics.push(measure(&experiment, progress, None)?);
    }

    let model = inference(&experiment.model);
    run.write_weights(&model)?;
    let dump = record(
        &model,
        &Samples {
            dataset: &experiment.splits.train,
            indices: reported_samples(&experiment.splits.train),
            from_training: true,
            labelled: true,
        },
        moment(progress, &experiment.config),
        &experiment.config,
        &experiment.device.device,
    )?;
    let note = match ending {
        Ending::Finished => None,
        Ending::Interrupted(_) => Some(format!(
            "Interrupted after {} steps ({} of {} epochs finished): all figures are of that moment.",
            progress.step, progress.epoch, experiment.config.training.epochs
        )),
    };
    let report = Report {
        config: &experiment.config,
        train: &experiment.splits.train,
        held_out: experiment.splits.held_out.len(),
        model: &model,
        metrics: &metrics,
        dump: &dump,
        comparisons: &comparisons,
        note: note.as_deref(),
    };
    run.write_text("report.md", &report.markdown(true))?;
    print(&format!("{}{}", report.markdown(false), pictures(&dump)))?;
    let saved = format!("saved in {}", run.path().display());
    match ending {
        Ending::Finished => print(&format!("\n{saved}\n")),
        Ending::Interrupted(signal) => Err(Failure::Interrupted {
            signal,
            message: format!(
                "interrupted after step {}; everything so far is {saved}",
                progress.step
            ),
        }),
    }
}

fn create_run_dir(arguments: &TrainArguments) -> Result<RunDir, Failure> {
    if let Some(path) = &arguments.run {
        return RunDir::create(path);
    }
    let stem = arguments.config.config.file_stem().unwrap_or_default();
    RunDir::create_numbered(&stem.to_string_lossy())
}

fn moment(progress: Progress, config: &ExperimentConfig) -> Moment {
    Moment {
        step: progress.step,
        epoch: progress.epoch,
        // A recorded run has its weights and batches from elsewhere.
        seed: config.reference.is_none().then_some(config.seed),
    }
}

/// The last block's first head for each sample of a dump, as heatmaps; nothing where there is no
/// colour, since the report has the numbers.
fn pictures(dump: &AttentionDump) -> String {
    let options = terminal::options();
    if options.colour == ColourMode::Plain {
        return String::new();
    }
    let layer = dump.dims.layers - 1;
    (0..dump.dims.samples).fold(String::new(), |mut text, sample| {
        let heatmap = Heatmap::of(dump, sample, layer, 0, Quantity::Weights);
        let _ = writeln!(
            text,
            "\n{}",
            headlight_inspector::terminal::draw(&heatmap, options)
        );
        text
    })
}

/// Writes metrics and dumps while a model is trained.
struct Recorder<'a> {
    run: &'a RunDir,
    config: ExperimentConfig,
    train: headlight_data::Dataset,
    device: burn::tensor::Device,
    chosen: Vec<usize>,
    log: MetricsLog,
    display: TrainingDisplay,
    metrics: Vec<StepMetrics>,
    /// Each step's, where there is a recorded run to compare them with.
    losses: Vec<f64>,
    compared: bool,
    progress: Progress,
    recorded: Option<usize>,
}

impl<'a> Recorder<'a> {
    fn new(experiment: &Experiment, run: &'a RunDir) -> Result<Self, Failure> {
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
    fn finish(mut self, experiment: &Experiment) -> Result<Self, Failure> {
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
