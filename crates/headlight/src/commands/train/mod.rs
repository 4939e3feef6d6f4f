//! `headlight train`: trains a config into a run directory.

mod ended;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use clap::Args;
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::{Experiment, shares_steps, threads_that_pay};
use headlight_report::counted;
use headlight_trainer::files::config;
use headlight_trainer::files::run_files::{CONFIG, PAGE};
use headlight_trainer::run::RunState;
use headlight_trainer::run::environment::SourceCommit;
use headlight_trainer::session::opening::{engine_for, unsupported_by_fused};
use headlight_trainer::show::finished_run::FinishedRun;
use headlight_trainer::training::Training;
use headlight_trainer::{
    DatasetFiles, Failure, RunDir, STANDARD, Session, Signals, shell_path, shown,
};

use ended::{Ended, pictures};

use crate::arguments::{Certify, ComputeArguments, ConfigArguments, Form, count};
use crate::browser;
use crate::printing::{Verbosity, detail, note, print, verbosity};
use crate::terminal;
use crate::training_display::TrainingDisplay;

/// Train a model and write a run directory
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight train notebook --set training.epochs=5 --run runs/longer"
)]
pub(crate) struct Arguments {
    /// The experiment
    #[command(flatten)]
    config: ConfigArguments,
    #[command(flatten)]
    compute: ComputeArguments,
    /// Share each step among N threads, at most as many as the machine has; the results stay the same [default: as many as
    /// make steps faster]
    #[arg(long, value_name = "N", value_parser = count)]
    threads: Option<usize>,
    /// The run directory to create; with --resume, it may exist [default: the next free runs/CONFIG-N]
    #[arg(long, alias = "out", value_name = "DIR")]
    run: Option<PathBuf>,
    /// Resume the run in --run DIR, with its own config unless CONFIG is given; if there is no run in
    /// DIR, start one from CONFIG
    #[arg(long, requires = "run")]
    resume: bool,
    /// Start from the parameters of this run or .safetensors file, instead of new ones; same as --set training.start=PATH
    #[arg(long, value_name = "RUN|FILE")]
    start: Option<PathBuf>,
    #[command(flatten)]
    certify: Certify,
    /// Open the run's page in a browser after training
    #[arg(long)]
    open: bool,
    /// Train even if the run will write more than 1 GiB of attention dumps and weights
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let reopened = reopen(arguments)?;
    let begun = reopened.as_ref().filter(|run| run.has_begun());
    let files = DatasetFiles::default();
    let config = resolved_config(arguments, begun, &files)?;
    let mut session = Training::open_session(config, begun, &files)?;
    drop(files);
    session.threads = threads(arguments, &session.experiment.config)?;
    tell_details(arguments, &session);
    let experiment = &session.experiment;
    let steps = experiment.steps();
    let training = Training::prepare(&session, begun, arguments.force)?;
    let start = training.step();
    if let Some(run) = begun {
        if training.is_complete {
            return tell_complete(arguments, run, &session, &training);
        }
        note(&format!("resuming from step {start} of {steps}"));
    }

    let signals = Signals::listen()?;
    let run = match reopened {
        Some(run) => run,
        None => create_run_dir(arguments)?,
    };
    let display = TrainingDisplay::new(steps, start, &experiment.config);
    let began = Instant::now();
    let source = SourceCommit {
        commit: env!("HEADLIGHT_COMMIT"),
        dirty: env!("HEADLIGHT_DIRTY"),
    };
    let stopped = || signals.received().is_some();
    let trained = training.train(&run, source, &display, stopped)?;
    detail(&format!(
        "trained {} and wrote all files in {:.2} s",
        counted(trained.progress.step - start, "step"),
        began.elapsed().as_secs_f64()
    ));
    let uninterrupted = check_uninterrupted(&trained, &run, &signals);
    show(
        arguments,
        &trained,
        experiment,
        &run,
        uninterrupted.is_err(),
    )?;
    uninterrupted?;
    open_page(arguments, trained.page);
    Ok(())
}

/// The run directory that the command line names, if it exists and may be trained into.
fn reopen(arguments: &Arguments) -> Result<Option<RunDir>, Failure> {
    let Some(path) = &arguments.run else {
        return Ok(None);
    };
    if path == Path::new(STANDARD) {
        let message = "--run -: a run is a folder; give its path";
        return Err(Failure::Input(message.to_owned()));
    }
    let run = RunDir::open_to_resume(path, arguments.resume)?;
    let has_begun = run.as_ref().is_some_and(RunDir::has_begun);
    if arguments.resume && !has_begun && arguments.config.config.is_none() {
        return Err(Failure::Input(format!(
            "there is no run in {} to resume; give a CONFIG to start one there",
            shown(path)
        )));
    }
    Ok(run)
}

/// Prints what came of a training: the first screen, or an object.
fn show(
    arguments: &Arguments,
    trained: &FinishedRun,
    experiment: &Experiment,
    run: &RunDir,
    was_interrupted: bool,
) -> Result<(), Failure> {
    let (layer, head) = trained.strongest;
    let report = || {
        let pictures = pictures(&trained.dump, (layer, head.head));
        format!("{}{pictures}", trained.report(experiment))
    };
    if arguments.form.json {
        detail(&report());
        let ended = Ended {
            outcome: trained.outcome.as_ref(),
            step: trained.progress.step,
            best_step: trained.evaluations.best_step(),
            was_interrupted,
        };
        return ended.print(run, experiment);
    }
    let typed = arguments.config.typed();
    let typed = typed.filter(|_| arguments.config.config.is_some() && arguments.start.is_none());
    let again = typed.unwrap_or_else(|| vec![shell_path(&run.file(CONFIG))]);
    let screen = trained.screen(experiment, run, &again)?;
    print(&screen.text(terminal::options().colour))?;
    if verbosity() == Verbosity::Verbose {
        print(&format!("\n{}", report()))?;
    }
    Ok(())
}

/// Fails if a signal ended the training, or the count of all inputs after it.
fn check_uninterrupted(
    trained: &FinishedRun,
    run: &RunDir,
    signals: &Signals,
) -> Result<(), Failure> {
    let Some(signal) = signals.received() else {
        return Ok(());
    };
    let message = if trained.state == RunState::Interrupted {
        format!(
            "interrupted after step {}; {} holds everything so far; {}",
            trained.progress.step,
            shown(run.path()),
            run.how_to_resume()
        )
    } else if trained.is_uncounted {
        format!(
            "interrupted before all inputs were counted; the other files of the run are complete; to count: headlight certify {}",
            shell_path(run.path())
        )
    } else {
        return Ok(());
    };
    Err(Failure::Interrupted { signal, message })
}

/// The threads that share each step.
fn threads(arguments: &Arguments, config: &ExperimentConfig) -> Result<usize, Failure> {
    let (most, reason) = if config.compute.engine != EngineName::Fused {
        (1, "only the engine `fused` trains on several threads")
    } else if !shares_steps(config)? {
        (1, "the steps of this model are too short to be shared")
    } else {
        let all = thread::available_parallelism().map_or(1, usize::from);
        (all, "more than the machine has make steps slower")
    };
    let Some(wanted) = arguments.threads else {
        return Ok(threads_that_pay(config, most)?);
    };
    if wanted > most {
        let used = counted(most, "thread");
        note(&format!(
            "--threads {wanted}: {reason}; Headlight uses {used}"
        ));
    }
    Ok(wanted.min(most))
}

/// Tells of a run that is to be resumed, but is complete.
fn tell_complete(
    arguments: &Arguments,
    run: &RunDir,
    session: &Session,
    training: &Training<'_>,
) -> Result<(), Failure> {
    let step = training.step();
    note(&format!("the run has already ended, at step {step}"));
    let page = Some(run.file(PAGE));
    open_page(arguments, page.filter(|page| page.exists()));
    if arguments.form.json {
        let outcome = training.outcome(run)?;
        let experiment = &session.experiment;
        let ended = Ended {
            outcome: outcome.as_ref(),
            step,
            best_step: training.best_step(),
            was_interrupted: false,
        };
        ended.print(run, experiment)
    } else {
        print(&format!("the run is in {}\n", shown(run.path())))
    }
}

/// Prints with `--verbose` the config, the samples, the engine and the device of the training.
fn tell_details(arguments: &Arguments, session: &Session) {
    let experiment = &session.experiment;
    let (config, splits) = (&experiment.config, &experiment.splits);
    let adapter = session.device.adapter.as_deref();
    let (samples, per_epoch) = if experiment.is_fresh() {
        ("each step draws its own samples".to_owned(), String::new())
    } else {
        (
            counted(splits.train.len(), "training sample"),
            format!(", {} per epoch", experiment.steps_per_epoch()),
        )
    };
    detail(&format!(
        "config {}, seed {}\n{samples}, {} held out; {}{per_epoch}\nengine {}, device {}, {}",
        if arguments.resume && arguments.config.config.is_none() {
            "of the run".to_owned()
        } else {
            shown(arguments.config.path())
        },
        config.seed,
        splits.held_out.len(),
        counted(experiment.steps(), "step"),
        config.compute.engine.name(),
        adapter.unwrap_or(&config.compute.device),
        counted(session.threads, "thread"),
    ));
}

fn open_page(arguments: &Arguments, page: Option<PathBuf>) {
    match page {
        Some(page) if arguments.open => browser::open(&page),
        None if arguments.open => note("the run has no page, because dump.formats lacks \"npz\""),
        _ => {}
    }
}

/// The config of the command line, or that of the run to resume.
fn resolved_config(
    arguments: &Arguments,
    begun: Option<&RunDir>,
    files: &DatasetFiles,
) -> Result<ExperimentConfig, Failure> {
    let mut config = match begun {
        Some(run) if arguments.config.config.is_none() => {
            config::load_with(&run.file(CONFIG), &arguments.config.changes(), files)?
        }
        _ => arguments.config.load_with(files)?,
    };
    config.training.start = arguments.start.clone().or(config.training.start);
    arguments.certify.add_to(&mut config)?;
    let ComputeArguments { device, engine } = &arguments.compute;
    if let Some(device) = &device.name {
        config.compute.device.clone_from(device);
    }
    config.compute.engine = engine.unwrap_or(config.compute.engine);
    if config.compute.engine == EngineName::Auto
        && let Some(reason) = unsupported_by_fused(&config)
    {
        note(&format!(
            "using engine `burn`: `fused` does not support {reason}"
        ));
    }
    config.compute.engine = engine_for(&config)?;
    Ok(config)
}

fn create_run_dir(arguments: &Arguments) -> Result<RunDir, Failure> {
    if let Some(path) = &arguments.run {
        return RunDir::create(path);
    }
    let name = arguments.config.name();
    RunDir::create_numbered(name.as_deref().unwrap_or("run"))
}
