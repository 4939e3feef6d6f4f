//! `headlight train`: trains a config into a run directory.

use std::fmt::Write;
use std::path::PathBuf;

use headlight_dump::AttentionDump;
use headlight_experiment::Engine;
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::train::{Ending, Mean, Progress, measure, train};
use headlight_input::FILE_LIMIT;
use headlight_inspector::{ColourMode, Heatmap, Quantity};
use headlight_trainer::dumping::{Model, dump};
use headlight_trainer::environment::Environment;
use headlight_trainer::files::{note, print};
use headlight_trainer::reference::{Comparison, compare_at_end, compare_at_start};
use headlight_trainer::run_dir::RunDir;
use headlight_trainer::run_report::{RunReport, reported_samples};
use headlight_trainer::run_writer::{RunWriter, origin};
use headlight_trainer::session::{Session, beyond_fused_here, engine_for};
use headlight_trainer::signals::Signals;
use headlight_trainer::{Failure, config, page, resume};

use crate::browser;
use crate::cli::TrainArguments;
use crate::terminal::{self, TrainingDisplay};

/// Trains, and prints the notebook's report.
///
/// # Errors
/// When the config is invalid, the machine fails, the loss diverges, or a signal comes.
pub(crate) fn run(arguments: &TrainArguments) -> Result<(), Failure> {
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
            "there is no run in {} to resume; name a CONFIG to begin one there",
            path.display()
        )));
    }
    let session = Session::open(resolved_config(arguments, begun)?)?;
    let experiment = &session.experiment;
    let mut engine = session.engine()?;
    let engine = engine.as_mut();
    let comparisons = match &session.reference {
        Some(reference) => compare_at_start(reference, &session, engine)?,
        None => Vec::new(),
    };
    let checkpoint = match begun {
        Some(run) => resume::newest(run, &session)?,
        None => None,
    };
    let start = checkpoint.as_ref().map(|checkpoint| checkpoint.progress);
    if let Some(checkpoint) = &checkpoint {
        engine.restore(&checkpoint.state)?;
    }
    if let Some(run) = begun {
        let step = start.unwrap_or_default().step;
        if resume::is_over(run, &session, checkpoint.as_ref()) {
            note(&format!("the run has already ended, at step {step}"));
            open_page(
                arguments,
                Some(run.page_path()).filter(|page| page.exists()),
            );
            return print(&format!("saved in {}\n", run.path().display()));
        }
        let steps = experiment.steps();
        note(&format!("resuming from step {step} of {steps}"));
    }

    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let run = match reopened {
        Some(run) => run,
        None => create_run_dir(arguments)?,
    };
    let work = || -> Result<Option<PathBuf>, Failure> {
        run.write_config(&config::with_absolute_paths(experiment.config.clone())?)?;
        let environment = Environment::now(&experiment.config.compute, &session.device);
        run.write_environment(&environment, start.map(|start| start.step))?;
        let display = TrainingDisplay::new(experiment.steps());
        let mut writer = RunWriter::new(&session, &run, checkpoint, &display)?;
        let ending = if writer.is_out_of_patience() {
            Ending::Stopped
        } else {
            let start = start.unwrap_or_default();
            let interrupted = || signals.received().is_some();
            train(experiment, engine, start, interrupted, &mut writer)?
        };
        let writer = writer.finish(engine)?;
        let signal = match ending {
            Ending::Interrupted => signals.received(),
            Ending::Finished | Ending::Stopped => None,
        };
        conclude(&session, engine, &run, signal, writer, comparisons)
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

/// Writes what remains to be written of a run that has ended or was interrupted, prints its report, and
/// returns the path of its page.
fn conclude(
    session: &Session,
    engine: &mut dyn Engine,
    run: &RunDir,
    signal: Option<i32>,
    writer: RunWriter<'_>,
    mut comparisons: Vec<Comparison>,
) -> Result<Option<PathBuf>, Failure> {
    let RunWriter {
        mut metrics,
        progress,
        losses,
        tracker,
        ..
    } = writer;
    let experiment = &session.experiment;
    let (config, train) = (&experiment.config, &experiment.splits.train);
    if let Some(reference) = &session.reference {
        comparisons.extend(compare_at_end(reference, train, engine, &losses));
        run.write_json("reference.json", &comparisons)?;
    }
    let last = metrics.last();
    if last.is_none_or(|last| last.step != progress.step) {
        // Interrupted. For the report alone: metrics.jsonl holds what an undisturbed run would have written.
        let here = Progress {
            losses: Mean::default(),
            ..progress
        };
        metrics.push(measure(experiment, engine, here)?);
    }
    let best = tracker.as_ref().and_then(|tracker| tracker.best.as_ref());
    if let Some(best) = best {
        run.write_best(best.parameters.clone())?;
    }

    let parameters = &engine.parameters();
    run.write_weights(parameters.clone())?;
    let dump = if cfg!(feature = "burn") {
        let model = Model { config, parameters };
        let samples = session.training_samples(reported_samples(train));
        let origin = origin(progress, config);
        Some(dump(model, &samples, origin, &session.device)?)
    } else {
        note("this build lacks Burn, so attention was not dumped and is not in the report");
        None
    };
    let report = RunReport {
        config,
        train,
        held_out: experiment.splits.held_out.len(),
        metrics: &metrics,
        dump: dump.as_ref(),
        comparisons: &comparisons,
        interrupted: signal.is_some().then_some(progress),
        tracker: tracker.as_ref(),
    };
    let page = write_page(run);
    run.write_report(&report.markdown(true))?;
    let pictures = dump.as_ref().map_or_else(String::new, pictures);
    print(&format!("{}{pictures}", report.markdown(false)))?;
    let saved = format!("saved in {}", run.path().display());
    match signal {
        None => print(&format!("\n{saved}\n")).map(|()| page),
        Some(signal) => Err(Failure::Interrupted {
            signal,
            message: format!(
                "interrupted after step {}; everything so far is {saved}; {}",
                progress.step,
                how_to_resume(run)
            ),
        }),
    }
}

/// The config of the command line, or that of the run to resume.
fn resolved_config(
    arguments: &TrainArguments,
    begun: Option<&RunDir>,
) -> Result<ExperimentConfig, Failure> {
    let mut config = match begun {
        Some(run) if arguments.config.config.is_none() => {
            config::load(&run.config_path(), &arguments.config.overrides)?
        }
        _ => arguments.config.load()?,
    };
    if let Some(device) = &arguments.device {
        config.compute.device.clone_from(device);
    }
    config.compute.engine = arguments.engine.unwrap_or(config.compute.engine);
    if config.compute.engine == EngineName::Auto
        && let Some(reason) = beyond_fused_here(&config)
    {
        note(&format!(
            "using engine `burn`: `fused` does not support {reason}"
        ));
    }
    config.compute.engine = engine_for(&config)?;
    // Dumps and the report show the same paths, whether the config comes from the command line or from a
    // run directory.
    config::with_paths_from_here(config)
}

/// A failure after the run began, with what the run directory holds.
fn failed(failure: Failure, run: &RunDir) -> Failure {
    match failure {
        Failure::Diverged(message) => {
            let _ = page::write(run);
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
        Failure::System(message) => Failure::System(format!("{message}; {}", how_to_resume(run))),
        other => other,
    }
}

fn how_to_resume(run: &RunDir) -> String {
    let path = run.path().display().to_string();
    let path = shlex::try_quote(&path).map_or_else(|_| path.clone(), Into::into);
    format!("resume with: headlight train --resume --run {path}")
}

/// Writes the page. A run is complete without it: `inspect --html` can make it at any time.
fn write_page(run: &RunDir) -> Option<PathBuf> {
    page::write(run).unwrap_or_else(|failure| {
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

/// Heatmaps of the last block's first head, one per sample of a dump; empty without colour, since the
/// report has the numbers.
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
