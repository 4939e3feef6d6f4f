//! `headlight sweep`: many runs, into one results file or one per shard.

use std::env;
use std::path::Path;
use std::thread;

use headlight_inspector::counted;
use headlight_sweep::{
    Assignment, Busy, Plan, Results, Row, ShardRequest, Sink, Summary, commands, run as train, work,
};
use headlight_trainer::Failure;
use headlight_trainer::outputs::Output;
use headlight_trainer::printing::{note, print};
use headlight_trainer::signals::Signals;
use headlight_trainer::standard::shown;

use crate::cli::SweepArguments;
use crate::terminal::{self, SweepDisplay};

/// Trains every run that is not in the results file yet, and summarises the results.
///
/// # Errors
/// When the config or the results file is invalid, the machine fails, a signal comes, or a run failed.
pub(crate) fn run(arguments: &SweepArguments) -> Result<(), Failure> {
    let mut overrides = arguments.config.overrides.clone();
    let engine = arguments.engine;
    overrides.extend(engine.map(|engine| format!("compute.engine={engine}")));
    let device = arguments.device.as_ref();
    overrides.extend(device.map(|device| format!("compute.device={device}")));
    let (seeds, grid) = (&arguments.seeds, &arguments.grid);
    let plan = Plan::new(arguments.config.path(), &overrides, seeds, grid)?;
    Results::check_name(&arguments.out)?;
    if let (Some(count), true) = (arguments.shards, arguments.list) {
        if count.get() > plan.len() {
            return Err(Failure::Input(format!(
                "--shards {count} exceeds the {} runs of this sweep; choose fewer shards",
                plan.len()
            )));
        }
        let lines = commands(env::args_os(), count, &arguments.out)?;
        return print(&(lines.join("\n") + "\n"));
    }
    let request = match (arguments.shard, arguments.shards) {
        (Some(shard), _) => ShardRequest::This(shard),
        (None, Some(count)) => ShardRequest::OneOf(count),
        (None, None) => ShardRequest::Unspecified,
    };
    let assignment = Assignment::new(request, |name| {
        env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    })?;
    let runs = assignment.shard.runs(plan.len());
    let out = match arguments.shards {
        Some(_) => assignment.shard.file(&arguments.out),
        None => arguments.out.clone(),
    };
    if let Some(named_by) = assignment.named_by {
        note(&format!(
            "shard {} by {named_by}: {} of {} runs, written to {}",
            assignment.shard,
            runs.len(),
            plan.len(),
            shown(&out)
        ));
    }
    let threads = match arguments.threads {
        Some(threads) => threads.get(),
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    // A sweep replaces its own picture: one beside results that exist already.
    let picture = out.with_extension("svg");
    let picture = Output::new(&picture, &[], arguments.force || out.exists())?;
    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let busy = if assignment.is_scheduled() {
        Busy::Wait(&signals)
    } else {
        Busy::Refuse
    };
    let results = Results::open(&out, &plan, runs.clone(), busy)?;
    if results.finished > 0 {
        note(&format!(
            "{} of {} runs are already in {}; skipping them",
            results.finished,
            runs.len(),
            shown(&out)
        ));
    }
    let left = runs.start + results.finished..runs.end;
    let mut writer = Writer {
        display: SweepDisplay::new(left.len()),
        threads: threads.min(left.len().max(1)),
        results,
    };
    let train = |index| train(&plan, index, &signals);
    let worked = work(train, left, writer.threads, &signals, &mut writer);
    let Writer {
        display,
        threads,
        mut results,
    } = writer;
    display.finish(threads);
    if worked.is_err() {
        results.discard_empty();
    }
    results.sync()?;
    worked?;
    results.check()?;
    let finished = results.finished;
    drop(results);
    if let Some(signal) = signals.received() {
        return Err(Failure::Interrupted {
            signal,
            message: format!(
                "interrupted: {} holds {finished} of {} runs; run the same command again to resume",
                shown(&out),
                runs.len()
            ),
        });
    }
    summarise(&out, picture, &plan, runs.len())
}

fn summarise(path: &Path, picture: Output<'_>, plan: &Plan, runs: usize) -> Result<(), Failure> {
    if runs == 0 {
        note(&format!(
            "{} is empty, because there are more shards than runs",
            shown(path)
        ));
        return print(&format!("{}: 0 of {} runs\n", shown(path), plan.len()));
    }
    let summary = Summary::read(path, plan)?;
    if runs < plan.len() {
        // No picture of one shard: it would show a part of the sweep, and each file burdens a cluster's disk.
        let all = plan.len();
        print(&format!("{}: {runs} of {all} runs\n", shown(path)))?;
        return failures(&summary, path);
    }
    let rule = plan.points()[0].config().data.rule.as_ref();
    let task = rule.map_or_else(
        || "two classes from a file".to_owned(),
        headlight_data::LabelRule::describe,
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
            "{failed} of {} runs failed; their rows in {} say why",
            summary.runs(),
            shown(path)
        ))),
    }
}

/// Writes rows, and shows the progress of the sweep.
struct Writer {
    display: SweepDisplay,
    threads: usize,
    results: Results,
}

impl Sink<Row> for Writer {
    fn started(&mut self, threads: usize) {
        if threads < self.threads {
            let wanted = self.threads;
            note(&format!(
                "the system has room for {threads} of {wanted} threads; to use more, raise its limits on threads \
                 (`ulimit -u`) or memory (`ulimit -v`)"
            ));
        }
        self.threads = threads;
    }

    fn finished(&mut self, row: &Row) {
        self.display.run_finished();
        if let Err(message) = &row.outcome {
            let values = row
                .values
                .iter()
                .map(|(key, value)| format!(", {key}={value}"));
            let place = format!("seed {}{}", row.seed, values.collect::<String>());
            self.display.run_failed(&format!("{place}: {message}"));
        }
    }

    fn in_order(&mut self, row: Row) -> Result<(), Failure> {
        self.results.append(&row)
    }
}
