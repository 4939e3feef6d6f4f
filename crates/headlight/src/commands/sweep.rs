//! `headlight sweep`: many runs, or a shard of them, into one results file.

use std::path::Path;

use clap::Args;
use headlight_report::counted;
use headlight_sweep::{Folds, Grid, Plan, ReportChoices, Results, Seeds, Shard, Summary};
use headlight_trainer::{Destination, Failure, Output, Signals, shown};

use crate::arguments::{Certify, ComputeArguments, ConfigArguments, count, threads};
use crate::printing::{note, print};
use crate::rows;
use crate::terminal;

/// Train many seeds on all cores, with optional grids of config values
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight sweep --seeds 0..1000 --grid training.learning_rate=1e-3,3e-3 --out seeds.jsonl\nA part of it, for many machines: headlight sweep --seeds 0..1000 --shard 3/40 --out part-3.jsonl (see docs/how-to/clusters.md)"
)]
pub(crate) struct Arguments {
    /// The experiment
    #[command(flatten)]
    config: ConfigArguments,
    /// The seeds, from A up to but not including B
    #[arg(long, value_name = "A..B", required_unless_present = "folds")]
    seeds: Option<Seeds>,
    /// Split the samples of a file into K parts, and train K models for every seed, each with another part held out. Without
    /// --seeds, the seed is the config's
    #[arg(long, value_name = "K")]
    folds: Option<Folds>,
    /// Train every seed with each of these values of a config key; can be given several times
    #[arg(long, value_name = "KEY=V1,V2")]
    grid: Vec<Grid>,
    /// Run only shard I of N, counted from 1 [default: all runs]
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE, hide_default_value = true)]
    shard: Shard,
    #[command(flatten)]
    certify: Certify,
    /// The number of runs at a time [default: one per core]
    #[arg(long, value_parser = count)]
    threads: Option<usize>,
    #[command(flatten)]
    compute: ComputeArguments,
    /// The results file (.jsonl), one row per run; runs that are already in it are skipped
    #[arg(long, value_name = "FILE")]
    out: Destination,
    /// Keep the first and last parameters of each run, in the folder FILE.weights beside --out
    #[arg(long)]
    save_weights: bool,
    /// Replace the picture beside --out even if this sweep did not write it
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut plan = plan(arguments)?;
    Results::check_name(arguments.out.path())?;
    // Rows are added to a file that exists.
    let out = Output::new(&arguments.out, true)?.path();
    let runs = arguments.shard.runs(plan.runs());
    let threads = threads(arguments.threads);
    // A sweep replaces its own picture: one beside such a file.
    let picture = Destination::from(out.with_extension("svg"));
    let picture = Output::new(&picture, arguments.force || out.exists())?;
    let signals = Signals::listen()?;
    plan.save_weights(out, arguments.save_weights)?;
    rows::train(&plan, runs.clone(), out, threads, &signals)?;
    summarise(out, picture, &plan, runs.len())
}

/// The runs that the arguments describe.
fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let mut overrides = arguments.config.changes();
    let folds = arguments.folds.map(Folds::grid);
    let grid: Vec<Grid> = arguments.grid.iter().cloned().chain(folds).collect();
    let is_seed = |change: &&String| {
        let key = change.split_once('=').map(|(key, _)| key.trim());
        key == Some("seed") && arguments.seeds.is_some()
    };
    if let Some(change) = overrides.iter().find(is_seed) {
        return Err(Failure::Input(format!(
            "--set {change}: --seeds already gives the seeds; remove one of the two"
        )));
    }
    overrides.extend(arguments.certify.change(&arguments.config)?);
    let ComputeArguments { device, engine } = &arguments.compute;
    overrides.extend(engine.map(|engine| format!("compute.engine={engine}")));
    let device = device.name.as_ref();
    overrides.extend(device.map(|device| format!("compute.device={device}")));
    if arguments.folds.is_some() {
        overrides.push(Folds::NO_HELD_OUT.to_owned());
    }
    let seeds = match &arguments.seeds {
        Some(seeds) => seeds.clone(),
        None => Seeds::one(arguments.config.load()?.seed),
    };
    Plan::new(arguments.config.path(), &overrides, &seeds, &grid)
}

fn summarise(path: &Path, picture: Output<'_>, plan: &Plan, runs: usize) -> Result<(), Failure> {
    if runs == 0 {
        note(&format!(
            "{} is empty, because there are more shards than runs",
            shown(path)
        ));
        let all = counted(plan.runs(), "run");
        return print(&format!("{}: 0 of {all}\n", shown(path)));
    }
    let summary = Summary::read(path, &ReportChoices::default())?;
    if runs < plan.runs() {
        // No picture of one shard: it would show a part of the sweep, and each file burdens a cluster's disk.
        let all = plan.runs();
        print(&format!("{}: {runs} of {all} runs\n", shown(path)))?;
        return failures(&summary, path);
    }
    let data = &plan.points()[0].config().data;
    let task = data.rule.as_ref().map_or_else(
        || format!("{} classes from a file", data.n_classes),
        |rule| rule.describe(),
    );
    let title = format!("{}: {task}", counted(summary.runs(), "run"));
    picture.write_all(summary.picture(&title).as_bytes())?;
    print(&format!(
        "\n{}\nresults in {}, pictures in {}\n",
        terminal::written(&summary.document(&title)),
        shown(path),
        shown(picture.path())
    ))?;
    failures(&summary, path)
}

fn failures(summary: &Summary, path: &Path) -> Result<(), Failure> {
    match summary.failures() {
        0 => Ok(()),
        failed => Err(Failure::Diverged(format!(
            "{failed} of {} failed; the rows of failed runs in {} say why",
            counted(summary.runs(), "run"),
            shown(path)
        ))),
    }
}
