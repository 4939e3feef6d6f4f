//! Trains runs on all cores, and passes their rows on in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use headlight_trainer::Failure;
use headlight_trainer::signals::Signals;

use crate::plan::Plan;
use crate::room::threads_that_fit;
use crate::row::Row;
use crate::run::run;

/// How many runs a worker may be ahead of the last row that was passed on in order. The rows between them wait
/// in memory.
const MAX_AHEAD: usize = 10_000;

/// Receives rows.
pub trait RowSink {
    /// Called once, with the number of threads that train.
    fn started(&mut self, threads: usize);

    /// Called with each row as soon as its run has ended, in any order.
    fn finished(&mut self, row: &Row);

    /// Called with each row in the order of the plan.
    ///
    /// # Errors
    /// Any error stops the sweep, for example a file that cannot be written.
    fn in_order(&mut self, row: &Row) -> Result<(), Failure>;
}

/// Trains runs of a plan, until all are done or a signal arrives.
///
/// Starts `threads` threads, or as many of them as the system has room for. If it has none, the calling thread trains.
///
/// # Errors
/// When a row cannot be written or the system fails. The sink has received all rows before that one.
pub fn work(
    plan: &Plan,
    runs: Range<usize>,
    threads: usize,
    signals: &Signals,
    sink: &mut dyn RowSink,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(runs.start);
    let reported = AtomicUsize::new(runs.start);
    let stop = AtomicBool::new(false);
    let worker = |sender: mpsc::Sender<(usize, Result<Option<Row>, Failure>)>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            while index >= reported.load(Ordering::Relaxed) + MAX_AHEAD
                && !stop.load(Ordering::Relaxed)
            {
                thread::sleep(Duration::from_millis(1));
            }
            if index >= runs.end || stop.load(Ordering::Relaxed) || signals.received().is_some() {
                return;
            }
            if sender.send((index, run(plan, index, signals))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let start = |_: &usize| {
            let sender = sender.clone();
            let started = thread::Builder::new().spawn_scoped(scope, || worker(sender));
            started.is_ok()
        };
        let started = (0..threads.min(threads_that_fit()))
            .take_while(start)
            .count();
        drop(sender);
        sink.started(started.max(1));
        let mut waiting: BTreeMap<usize, Row> = BTreeMap::new();
        let mut take = |(index, row): (usize, Result<Option<Row>, Failure>)| {
            let Some(row) = row? else { return Ok(()) };
            sink.finished(&row);
            waiting.insert(index, row);
            while let Some(row) = waiting.remove(&reported.load(Ordering::Relaxed)) {
                sink.in_order(&row)?;
                reported.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        let result = if started == 0 {
            let mut own = runs.clone().take_while(|_| signals.received().is_none());
            own.try_for_each(|index| take((index, run(plan, index, signals))))
        } else {
            receiver.into_iter().try_for_each(take)
        };
        stop.store(true, Ordering::Relaxed);
        result
    })
}
