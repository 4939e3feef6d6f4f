//! `headlight sweep`: many runs to one results file.

use std::path::Path;
use std::thread;

use crate::Failure;
use crate::cli::SweepArguments;
use crate::files::{note, print, write_whole};
use crate::signals::Signals;
use crate::sweep::{Plan, Report, Results, Row, Shard, Summary, work};
use crate::terminal::{self, SweepDisplay};

/// Trains every run that the results file does not hold yet, and sums up what it holds then.
///
/// # Errors
/// As the config, the results file, the machine or a signal has it, and when a run failed.
pub fn run(arguments: &SweepArguments) -> Result<(), Failure> {
    let mut overrides = arguments.config.overrides.clone();
    overrides.extend(
        arguments
            .engine
            .map(|engine| format!("compute.engine={engine}")),
    );
    let plan = Plan::new(
        arguments.config.path(),
        &overrides,
        &arguments.seeds,
        &arguments.grid,
    )?;
    let runs = Shard::choose(arguments.shard)?.runs(plan.len());
    let threads = match arguments.threads {
        Some(threads) => threads.get(),
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let results = Results::open(&arguments.out, &plan, runs.clone())?;
    if results.finished > 0 {
        note(&format!(
            "{} of {} runs are in {} already",
            results.finished,
            runs.len(),
            arguments.out.display()
        ));
    }
    let left = runs.start + results.finished..runs.end;
    let mut writer = Writer {
        display: SweepDisplay::new(left.len()),
        results,
    };
    let worked = work(
        &plan,
        left,
        threads.min(runs.len().max(1)),
        &signals,
        &mut writer,
    );
    let Writer { display, results } = writer;
    display.finish(threads);
    results.sync()?;
    worked?;
    let finished = results.finished;
    drop(results);
    if let Some(signal) = signals.received() {
        return Err(Failure::Interrupted {
            signal,
            message: format!(
                "interrupted: {} holds {finished} of {} runs; the same command goes on from there",
                arguments.out.display(),
                runs.len()
            ),
        });
    }
    summarise(&arguments.out, &plan)
}

fn summarise(path: &Path, plan: &Plan) -> Result<(), Failure> {
    let summary = Summary::read(path, plan)?;
    let picture = path.with_extension("svg");
    let rule = plan.points()[0].config().data.rule.as_ref();
    let task = rule.map_or_else(
        || "two classes from a file".to_owned(),
        headlight_data::LabelRule::describe,
    );
    let title = format!("{} runs: {task}", summary.runs());
    write_whole(&picture, |file| {
        std::io::Write::write_all(file, summary.picture(&title).as_bytes())
    })?;
    print(&format!(
        "{}\nresults in {}, pictures in {}\n",
        summary.text(terminal::options().width),
        path.display(),
        picture.display()
    ))?;
    match summary.failures() {
        0 => Ok(()),
        failed => Err(Failure::Diverged(format!(
            "{failed} of {} runs failed; their rows in {} say why",
            summary.runs(),
            path.display()
        ))),
    }
}

/// Writes rows, and shows how far the sweep is.
struct Writer {
    display: SweepDisplay,
    results: Results,
}

impl Report for Writer {
    fn finished(&mut self, row: &Row) {
        self.display.run();
        if let Err(message) = &row.outcome {
            let values = row
                .values
                .iter()
                .map(|(key, value)| format!(", {key}={value}"));
            let place = format!("seed {}{}", row.seed, values.collect::<String>());
            self.display.failed(&format!("{place}: {message}"));
        }
    }

    fn in_order(&mut self, row: &Row) -> Result<(), Failure> {
        self.results.append(row)
    }
}
