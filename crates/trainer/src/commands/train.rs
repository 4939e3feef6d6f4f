//! `headlight train`: a config to a run directory.

use std::fmt::Write;

use headlight_dump::AttentionDump;
use headlight_inspector::{ColourMode, Heatmap, Quantity};

use crate::Failure;
use crate::browser;
use crate::cli::TrainArguments;
use crate::engine::{EngineName, beyond_fused};
use crate::environment::Environment;
use crate::experiment::Experiment;
use crate::files::{note, print};
use crate::record::{Samples, record};
use crate::recorder::{Recorder, moment};
use crate::report::{Report, reported_samples};
use crate::run_dir::RunDir;
use crate::run_page;
use crate::signals::Signals;
use crate::terminal;
use crate::train::{Ending, Progress, measure, train};

/// Trains, and prints the notebook's report.
///
/// # Errors
/// As the config, the machine, the loss or a signal has it.
pub fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let mut config = arguments.config.load()?;
    config.compute.device = arguments.device.unwrap_or(config.compute.device);
    config.compute.engine = arguments.engine.unwrap_or(config.compute.engine);
    if config.compute.engine == EngineName::Auto
        && let Some(reason) = beyond_fused(&config)
    {
        note(&format!("engine burn: `fused` is no choice, {reason}"));
    }
    config.compute.engine = config.compute.engine.resolve(&config)?;
    let experiment = Experiment::new(config)?;
    let mut engine = experiment.engine()?;
    let engine = engine.as_mut();
    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let run = create_run_dir(arguments)?;
    run.write_config(&experiment.config.clone().with_absolute_paths()?)?;
    run.write_json(
        "environment.json",
        &Environment::now(&experiment.config.compute, &experiment.device),
    )?;

    let mut comparisons = match &experiment.reference {
        Some(reference) => reference.compare_at_start(&experiment, engine)?,
        None => Vec::new(),
    };
    let mut recorder = Recorder::new(&experiment, &run)?;
    let ending =
        train(&experiment, engine, &signals, &mut recorder).map_err(|failure| match failure {
            Failure::Diverged(message) => Failure::Diverged(format!(
                "{message}; metrics so far are in {}",
                run.path().display()
            )),
            other => other,
        })?;
    let Recorder {
        mut metrics,
        progress,
        losses,
        ..
    } = recorder.finish(engine)?;
    if let Some(reference) = &experiment.reference {
        comparisons.extend(reference.compare_at_end(&experiment.splits.train, engine, &losses));
        run.write_json("reference.json", &comparisons)?;
    }
    let measured = metrics
        .last()
        .is_some_and(|last| last.step == progress.step);
    if !measured {
        // Interrupted. For the report alone: metrics.jsonl holds what an undisturbed run would have written.
        let here = Progress {
            epoch_loss: None,
            ..progress
        };
        metrics.push(measure(&experiment, engine, here)?);
    }

    let model = engine.model()?;
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
    let interruption = match ending {
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
        note: interruption.as_deref(),
    };
    write_page(&run, arguments.open);
    run.write_report(&report.markdown(true))?;
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

/// A run is whole without its page, which `inspect --html` can make at any time.
fn write_page(run: &RunDir, open: bool) {
    match run_page::write(run) {
        Err(failure) => note(&format!("no inspector.html: {failure}")),
        Ok(Some(page)) if open => browser::open(&page),
        Ok(None) if open => note("no inspector.html to open: dump.formats has no \"npz\""),
        Ok(_) => {}
    }
}

fn create_run_dir(arguments: &TrainArguments) -> Result<RunDir, Failure> {
    if let Some(path) = &arguments.run {
        return RunDir::create(path);
    }
    let stem = arguments.config.config.file_stem().unwrap_or_default();
    RunDir::create_numbered(&stem.to_string_lossy())
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
