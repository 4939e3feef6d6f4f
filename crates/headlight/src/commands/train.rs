//! `headlight train`: trains a config into a run directory.

use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Instant;

use headlight_dump::AttentionDump;
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_inspector::{ColourMode, Heatmap, Quantity};
use headlight_trainer::printing::{detail, note, print, print_json};
use headlight_trainer::run_dir::{Damage, RunDir};
use headlight_trainer::run_report::WHOLE_MATRIX;
use headlight_trainer::session::{Session, engine_for, unsupported_by_fused};
use headlight_trainer::signals::Signals;
use headlight_trainer::standard::{STANDARD, shown};
use headlight_trainer::training::{Training, check_complete, how_to_resume};
use headlight_trainer::verdict::Verdict;
use headlight_trainer::{Failure, config, dump_volume};
use serde_json::json;

use crate::browser;
use crate::cli::TrainArguments;
use crate::terminal::{self, TrainingDisplay};

/// Trains, and prints the run's report.
///
/// # Errors
/// When the config is invalid, the machine fails, the loss diverges, or a signal comes.
pub(crate) fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    if arguments.run.as_deref() == Some(Path::new(STANDARD)) {
        return Err(Failure::Input(
            "--run -: a run is a folder; give its path".to_owned(),
        ));
    }
    if let Some(path) = &arguments.run
        && path.is_symlink()
        && fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    {
        return Err(Failure::Input(format!(
            "--run {}: it is a symbolic link to a folder that does not exist; create that folder, or remove the link",
            shown(path)
        )));
    }
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
            "there is no run in {} to resume; give a CONFIG to start one there",
            shown(path)
        )));
    }
    let session = Session::open(resolved_config(arguments, begun)?)?;
    tell_details(arguments, &session);
    let steps = session.experiment.steps();
    let training = Training::prepare(&session, begun)?;
    let start = training.step();
    if let Some(run) = begun {
        if training.is_over(run) {
            note(&format!("the run has already ended, at step {start}"));
            let page = Some(run.page_path());
            open_page(arguments, page.filter(|page| page.exists()));
            if arguments.form.json {
                print_summary(run, start, steps, false)?;
            } else {
                print(&format!("saved in {}\n", shown(run.path())))?;
            }
            return check_complete(run, &training.lost());
        }
        for Damage { file, problem } in training.repairs() {
            note(&format!("{file}: {problem}; Headlight writes it again"));
        }
        note(&format!("resuming from step {start} of {steps}"));
    }
    let is_accepted = arguments.force || begun.is_some_and(|run| has_as_many_epochs(run, &session));
    dump_volume::check(&session.experiment, start, is_accepted)?;

    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let run = match reopened {
        Some(run) => run,
        None => create_run_dir(arguments)?,
    };
    let display = TrainingDisplay::new(steps, start, session.experiment.config.model.n_heads);
    let began = Instant::now();
    let outcome = training.train(&run, &display, || signals.received().is_some())?;
    detail(&format!(
        "trained {} steps and wrote all files in {:.2} s",
        outcome.progress.step - start,
        began.elapsed().as_secs_f64()
    ));
    let pictures = pictures(&outcome.dump);
    let say = |text: &str| {
        if arguments.form.json {
            note(text.trim_end());
            return Ok(());
        }
        print(text)
    };
    say(&format!("{}{pictures}", outcome.report))?;
    if arguments.form.json {
        let step = outcome.progress.step;
        print_summary(&run, step, steps, outcome.was_interrupted)?;
    }
    let saved = format!("saved in {}", shown(run.path()));
    if let (true, Some(signal)) = (outcome.was_interrupted, signals.received()) {
        return Err(Failure::Interrupted {
            signal,
            message: format!(
                "interrupted after step {}; everything so far is {saved}; {}",
                outcome.progress.step,
                how_to_resume(&run)
            ),
        });
    }
    let page = outcome.page.as_ref();
    let page = page.map(|page| format!("its page: {}\n", shown(page)));
    say(&format!("\n{saved}\n{}", page.unwrap_or_default()))?;
    open_page(arguments, outcome.page);
    check_complete(&run, &outcome.lost)
}

/// Whether a run was begun with at least as many epochs as it has now, and so with as many dumps.
fn has_as_many_epochs(run: &RunDir, session: &Session) -> bool {
    let epochs = session.experiment.config.training.epochs;
    let begun = run.config();
    begun.is_ok_and(|begun| begun.training.epochs >= epochs)
}

/// Prints with `--verbose` the config, the samples, the engine and the device of the training.
fn tell_details(arguments: &TrainArguments, session: &Session) {
    let experiment = &session.experiment;
    let (config, splits) = (&experiment.config, &experiment.splits);
    let adapter = session.device.adapter.as_deref();
    detail(&format!(
        "config {}, seed {}\n{} training samples, {} held out; {} steps, {} per epoch\nengine {}, device {}",
        shown(arguments.config.path()),
        config.seed,
        splits.train.len(),
        splits.held_out.len(),
        experiment.steps(),
        experiment.steps_per_epoch(),
        config.compute.engine.name(),
        adapter.unwrap_or(&config.compute.device),
    ));
}

/// Prints where a run is, how far it came, whether it has learned, and its last evaluation.
fn print_summary(
    run: &RunDir,
    step: usize,
    steps: usize,
    was_interrupted: bool,
) -> Result<(), Failure> {
    let report = run.report()?;
    let Verdict { learned, outcome } = Verdict::of(&report);
    let page = Some(run.page_path()).filter(|page| page.exists());
    print_json(&json!({
        "run": run.path(),
        "step": step,
        "steps": steps,
        "interrupted": was_interrupted,
        "learned": learned,
        "outcome": outcome,
        "metrics": run.last_metrics()?,
        "report": run.report_path(),
        "page": page,
    }))
}

fn open_page(arguments: &TrainArguments, page: Option<PathBuf>) {
    match page {
        Some(page) if arguments.open => browser::open(&page),
        None if arguments.open => note("no inspector.html to open"),
        _ => {}
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
        && let Some(reason) = unsupported_by_fused(&config)
    {
        note(&format!(
            "using engine `burn`: `fused` does not support {reason}"
        ));
    }
    config.compute.engine = engine_for(&config)?;
    // Dumps and the report show the same paths, whether the config comes from the command line or from a
    // run directory.
    config::with_relative_paths(config)
}

fn create_run_dir(arguments: &TrainArguments) -> Result<RunDir, Failure> {
    if let Some(path) = &arguments.run {
        return RunDir::create(path);
    }
    let name = arguments.config.name();
    RunDir::create_numbered(name.as_deref().unwrap_or("run"))
}

/// Heatmaps of the last block's first head, one per sample of a dump; empty without colour, since the
/// report has the numbers, and for long samples.
fn pictures(dump: &AttentionDump) -> String {
    let options = terminal::options();
    if options.colour == ColourMode::Plain || dump.dims.positions > WHOLE_MATRIX {
        return String::new();
    }
    let layer = dump.dims.layers - 1;
    (0..dump.dims.samples).fold(String::new(), |mut text, sample| {
        let heatmap = Heatmap::of(dump, sample, &[layer], &[0], Quantity::Weights);
        let _ = writeln!(text, "\n{}", heatmap.text(options, None));
        text
    })
}
