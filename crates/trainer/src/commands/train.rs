//! `headlight train`: a config to a run directory.

use std::fmt::Write;
use std::path::PathBuf;

use headlight_dump::AttentionDump;
use headlight_input::FILE_LIMIT;
use headlight_inspector::{ColourMode, Heatmap, Quantity};

use crate::browser;
use crate::cli::TrainArguments;
use crate::config::{self, ExperimentConfig};
use crate::engine::{Engine, EngineName, beyond_fused};
use crate::environment::Environment;
use crate::experiment::Experiment;
use crate::files::{note, print};
use crate::record::{Samples, record};
use crate::recorder::{Recorder, moment};
use crate::reference::Comparison;
use crate::report::{Report, reported_samples};
use crate::run_dir::RunDir;
use crate::run_page;
use crate::signals::Signals;
use crate::terminal;
use crate::train::{Ending, Mean, Progress, measure, train};
use crate::{Failure, resume};

/// Trains, and prints the notebook's report.
///
/// # Errors
/// As the config, the machine, the loss or a signal has it.
pub fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let reopened = match &arguments.run {
        Some(path) if arguments.resume && path.symlink_metadata().is_ok() => {
            Some(RunDir::reopen(path)?)
        }
        _ => None,
    };
    let begun = reopened.as_ref().filter(|run| run.is_begun());
    if let (true, None, None, Some(path)) = (
        arguments.resume,
        begun,
        &arguments.config.config,
        &arguments.run,
    ) {
        return Err(Failure::Input(format!(
            "there is no run in {} to go on with; name a CONFIG to begin one there",
            path.display()
        )));
    }
    let experiment = Experiment::new(config(arguments, begun)?)?;
    let mut engine = experiment.engine()?;
    let engine = engine.as_mut();
    let comparisons = match &experiment.reference {
        Some(reference) => reference.compare_at_start(&experiment, engine)?,
        None => Vec::new(),
    };
    let checkpoint = match begun {
        Some(run) => resume::newest(run, &experiment)?,
        None => None,
    };
    let start = checkpoint.as_ref().map(|checkpoint| checkpoint.progress);
    if let Some(checkpoint) = &checkpoint {
        engine.restore(&checkpoint.state)?;
    }
    if let Some(run) = begun {
        let step = start.unwrap_or_default().step;
        if resume::is_over(run, &experiment, checkpoint.as_ref()) {
            note(&format!("the run has ended already, at step {step}"));
            open_page(
                arguments,
                Some(run.page_path()).filter(|page| page.exists()),
            );
            return print(&format!("saved in {}\n", run.path().display()));
        }
        let steps = experiment.steps();
        note(&format!("going on from step {step} of {steps}"));
    }

    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let run = match reopened {
        Some(run) => run,
        None => create_run_dir(arguments)?,
    };
    let work = || -> Result<Option<PathBuf>, Failure> {
        run.write_config(&experiment.config.clone().with_absolute_paths()?)?;
        let environment = Environment::now(&experiment.config.compute, &experiment.device);
        run.write_environment(&environment, start.map(|start| start.step))?;
        let mut recorder = Recorder::new(&experiment, &run, checkpoint)?;
        let ending = if recorder.has_waited_enough() {
            Ending::Stopped
        } else {
            let start = start.unwrap_or_default();
            train(&experiment, engine, &signals, start, &mut recorder)?
        };
        let recorder = recorder.finish(engine)?;
        conclude(&experiment, engine, &run, ending, recorder, comparisons)
    };
    let page = work().map_err(|failure| failed(failure, &run))?;
    open_page(arguments, page);
    Ok(())
}

fn open_page(arguments: &TrainArguments, page: Option<PathBuf>) {
    match page {
        Some(page) if arguments.open => browser::open(&page),
        None if arguments.open => note("no inspector.html to open"),
        _ => {}
    }
}

/// Writes what is left of a run that has come to its end, or to an end for now, and prints it; says
/// where its page is.
fn conclude(
    experiment: &Experiment,
    engine: &mut dyn Engine,
    run: &RunDir,
    ending: Ending,
    recorder: Recorder<'_>,
    mut comparisons: Vec<Comparison>,
) -> Result<Option<PathBuf>, Failure> {
    let Recorder {
        mut metrics,
        progress,
        losses,
        watch,
        ..
    } = recorder;
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
            losses: Mean::default(),
            ..progress
        };
        metrics.push(measure(experiment, engine, here)?);
    }
    if let Some(best) = watch.as_ref().and_then(|watch| watch.best.as_ref()) {
        run.write_best(best.parameters.clone())?;
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
    let interruption = matches!(ending, Ending::Interrupted(_)).then(|| {
        format!(
            "Interrupted after {} steps ({} of {} epochs finished): all figures are of that moment.",
            progress.step, progress.epoch, experiment.config.training.epochs
        )
    });
    let best = watch.and_then(|watch| watch.describe(progress.step));
    let notes: Vec<String> = interruption.into_iter().chain(best).collect();
    let report = Report {
        config: &experiment.config,
        train: &experiment.splits.train,
        held_out: experiment.splits.held_out.len(),
        model: &model,
        metrics: &metrics,
        dump: &dump,
        comparisons: &comparisons,
        notes: &notes,
    };
    let page = write_page(run);
    run.write_report(&report.markdown(true))?;
    print(&format!("{}{}", report.markdown(false), pictures(&dump)))?;
    let saved = format!("saved in {}", run.path().display());
    match ending {
        Ending::Finished | Ending::Stopped => print(&format!("\n{saved}\n")).map(|()| page),
        Ending::Interrupted(signal) => Err(Failure::Interrupted {
            signal,
            message: format!(
                "interrupted after step {}; everything so far is {saved}; {}",
                progress.step,
                how_to_go_on(run)
            ),
        }),
    }
}

/// The config of the command line, or that of the run that is gone on with.
fn config(arguments: &TrainArguments, begun: Option<&RunDir>) -> Result<ExperimentConfig, Failure> {
    let mut config = match begun {
        Some(run) if arguments.config.config.is_none() => {
            config::load(&run.config_path(), &arguments.config.overrides)?
        }
        _ => arguments.config.load()?,
    };
    config.compute.device = arguments.device.unwrap_or(config.compute.device);
    config.compute.engine = arguments.engine.unwrap_or(config.compute.engine);
    if config.compute.engine == EngineName::Auto
        && let Some(reason) = beyond_fused(&config)
    {
        note(&format!("engine burn: `fused` is no choice, {reason}"));
    }
    config.compute.engine = config.compute.engine.resolve(&config)?;
    // The same from the command line and from a run's folder: dumps and the report show them.
    config.with_paths_from_here()
}

/// A failure once there is a run, with what is left of it.
fn failed(failure: Failure, run: &RunDir) -> Failure {
    match failure {
        Failure::Diverged(message) => {
            let _ = run_page::write(run);
            let good = run.checkpoints().newest(FILE_LIMIT, |_| Ok(()));
            let mut saved = "metrics".to_owned();
            if let Ok(Some(good)) = good {
                let step = good.progress.step;
                saved = format!("the last good checkpoint, of step {step}, and metrics");
                if let Some(best) = good.best
                    && run.write_best(best.parameters).is_ok()
                {
                    saved = format!("best.safetensors, of step {}, {saved}", best.step);
                }
            }
            let place = run.path().display();
            Failure::Diverged(format!("{message}; {saved} so far are in {place}"))
        }
        Failure::System(message) => Failure::System(format!("{message}; {}", how_to_go_on(run))),
        other => other,
    }
}

fn how_to_go_on(run: &RunDir) -> String {
    let path = run.path().display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    let path = if path.chars().all(plain) {
        path
    } else {
        // As a shell takes it.
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    format!("go on with: headlight train --resume --run {path}")
}

/// A run is whole without its page, which `inspect --html` can make at any time.
fn write_page(run: &RunDir) -> Option<PathBuf> {
    run_page::write(run).unwrap_or_else(|failure| {
        note(&format!("no inspector.html: {failure}"));
        None
    })
}

fn create_run_dir(arguments: &TrainArguments) -> Result<RunDir, Failure> {
    if let Some(path) = &arguments.run {
        return RunDir::create(path);
    }
    let stem = arguments.config.path().file_stem().unwrap_or_default();
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
        let _ = writeln!(text, "\n{}", heatmap.text(options));
        text
    })
}
