//! Trains the runs of a plan into a results file, and shows the progress.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use headlight_report::counted;
use headlight_sweep::{Plan, Results};
use headlight_trainer::{Failure, Signals, shown};

use crate::printing::note;
use crate::terminal::progress_bar;

/// Trains the runs that the file lacks, and appends their rows.
pub(crate) fn train(
    plan: &Plan,
    runs: Range<usize>,
    out: &Path,
    threads: usize,
    signals: &Signals,
) -> Result<(), Failure> {
    let mut results = Results::open(out, plan, runs.clone())?;
    if results.finished > 0 {
        note(&format!(
            "{} of {} {} already in {}; skipping them",
            results.finished,
            counted(runs.len(), "run"),
            if runs.len() == 1 { "is" } else { "are" },
            shown(out)
        ));
    }
    let left = results.missing_runs().len();
    let threads = threads.min(left.max(1));
    // A bar of all runs; without a terminal, only failed runs are reported.
    let bar = progress_bar(left, 0, "runs");
    let started = Instant::now();
    let worked = results.train(plan, threads, signals, |row| {
        bar.inc(1);
        if let Err(message) = &row.outcome {
            let values = row.values.iter();
            let values = values.map(|(key, value)| format!(", {key}={value}"));
            let run = format!("seed {}{}", row.seed, values.collect::<String>());
            bar.suspend(|| note(&format!("{run}: {message}")));
        }
    });
    bar.finish_and_clear();
    if bar.position() > 0 {
        let seconds = started.elapsed().as_secs_f64();
        let rate = bar.position() as f64 / seconds;
        let decimals = if rate < 10.0 { 2 } else { 0 };
        note(&format!(
            "{} in {seconds:.2} s on {}: {rate:.decimals$} runs/s",
            counted(bar.position() as usize, "run"),
            counted(threads, "thread"),
        ));
    }
    worked?;
    match signals.received() {
        Some(signal) => Err(Failure::Interrupted {
            signal,
            message: format!(
                "interrupted: {} holds {} of {}; run the same command again to resume",
                shown(out),
                results.finished,
                counted(runs.len(), "run")
            ),
        }),
        None => Ok(()),
    }
}
