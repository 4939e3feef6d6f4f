//! Trains the runs of a plan into a results file, and shows the progress.

use std::ops::Range;
use std::path::Path;

use headlight_inspector::counted;
use headlight_sweep::{Plan, ROWS_AHEAD, Results, Row, Sink, run as train_one, work};
use headlight_trainer::Failure;
use headlight_trainer::sessions::signals::Signals;
use headlight_trainer::storage::standard::shown;

use crate::printing::note;
use crate::terminal::SweepDisplay;

/// Trains the runs that the file lacks, and appends their rows.
///
/// # Errors
/// When the file is invalid, the machine fails, or a signal comes.
pub(super) fn train(
    plan: &Plan,
    runs: Range<usize>,
    out: &Path,
    threads: usize,
    signals: &Signals,
) -> Result<(), Failure> {
    let results = Results::open(out, plan, runs.clone())?;
    if results.finished > 0 {
        note(&format!(
            "{} of {} {} already in {}; skipping them",
            results.finished,
            counted(runs.len(), "run"),
            if runs.len() == 1 { "is" } else { "are" },
            shown(out)
        ));
    }
    let left = runs.start + results.finished..runs.end;
    let threads = threads.min(left.len().max(1));
    let mut writer = Writer {
        display: SweepDisplay::new(left.len()),
        results,
    };
    let train = |index| train_one(plan, index, signals);
    let worked = work(train, left, threads, ROWS_AHEAD, signals, &mut writer);
    let Writer { display, results } = writer;
    display.finish(threads);
    if worked.is_err() {
        results.discard_empty();
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

/// Writes rows, and shows the progress of the sweep.
struct Writer {
    display: SweepDisplay,
    results: Results,
}

impl Sink<Row> for Writer {
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
