//! Trains runs on several threads, and passes their results on in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use headlight_trainer::{Failure, Signals};

/// How many runs a worker may be ahead of the last result that was passed on in order. The results between them wait in memory.
const AHEAD: usize = 10_000;

/// Trains runs on at most `threads` threads, until all are done or a signal arrives. `train` gives the result of a run, or `None`
/// if a signal interrupts it. `finished` is called with each result as soon as its run has ended, in any order; then `in_order`, in
/// the order of the runs.
///
/// # Errors
/// When `in_order` or a run fails, or the system cannot start a thread. `in_order` has received all results before that one.
pub fn work<T: Send>(
    train: impl Fn(usize) -> Result<Option<T>, Failure> + Sync,
    runs: Range<usize>,
    threads: usize,
    signals: &Signals,
    mut finished: impl FnMut(&T),
    mut in_order: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let threads = threads.min(runs.len().max(1));
    let next = AtomicUsize::new(runs.start);
    let reported = AtomicUsize::new(runs.start);
    let stop = AtomicBool::new(false);
    let worker = |sender: mpsc::Sender<(usize, Result<Option<T>, Failure>)>| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let is_stopped = || stop.load(Ordering::Relaxed) || signals.received().is_some();
            while index >= reported.load(Ordering::Relaxed) + AHEAD && !is_stopped() {
                thread::sleep(Duration::from_millis(1));
            }
            if index >= runs.end || is_stopped() {
                return;
            }
            if sender.send((index, train(index))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for started in 0..threads {
            let sender = sender.clone();
            let thread = thread::Builder::new().spawn_scoped(scope, || worker(sender));
            if let (Err(error), 0) = (thread, started) {
                let message = format!("the system cannot start a thread: {error}");
                return Err(Failure::System(message));
            }
        }
        drop(sender);
        let mut waiting: BTreeMap<usize, Result<T, Failure>> = BTreeMap::new();
        let mut take = |(index, result): (usize, Result<Option<T>, Failure>)| {
            let Some(result) = result.transpose() else {
                return Ok(());
            };
            match &result {
                Ok(result) => finished(result),
                // Runs that were begun before it end, and their results are passed on.
                Err(_) => stop.store(true, Ordering::Relaxed),
            }
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&reported.load(Ordering::Relaxed)) {
                in_order(result?)?;
                reported.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        let result = receiver.into_iter().try_for_each(&mut take);
        stop.store(true, Ordering::Relaxed);
        // A failure after a run that a signal interrupted.
        result.and_then(|()| {
            waiting
                .into_values()
                .find_map(Result::err)
                .map_or(Ok(()), Err)
        })
    })
}
