//! Long work: without the interpreter's lock, with progress, stopped by Ctrl-C.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use headlight_trainer::Failure;
use headlight_trainer::sessions::signals::Signals;
use pyo3::prelude::*;

use crate::failure::{raised, warn};

/// How often Python is asked for signals, and told of progress.
const OFTEN: Duration = Duration::from_millis(50);

/// How much is done, and how much there is to do.
pub(crate) type Share = (usize, usize);

/// Does work on a thread of its own. It sends how much is done, which `progress` is called with now and then, and stops
/// when the signals say so: after Ctrl-C, or when `progress` raises an exception.
///
/// # Errors
/// When the work fails, Python has a signal, or `progress` raises an exception.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(Sender<Share>, &Signals) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let signals = Signals::default();
    let (sender, receiver) = mpsc::channel();
    let (joined, interruption) = py.detach(move || {
        thread::scope(|scope| {
            let own = &signals;
            let worker = scope.spawn(move || work(sender, own));
            let (mut told, mut done, mut interruption) = (Instant::now(), None, None);
            loop {
                let received = receiver.recv_timeout(OFTEN);
                let is_over = received == Err(RecvTimeoutError::Disconnected);
                done = received.ok().or(done);
                if told.elapsed() < OFTEN && !is_over {
                    continue;
                }
                told = Instant::now();
                let told = Python::attach(|py| -> PyResult<()> {
                    if let (Some(done), Some(progress)) = (done.take(), progress) {
                        progress.call1(py, done)?;
                    }
                    py.check_signals()
                });
                if let Err(error) = told {
                    interruption.get_or_insert(error);
                    signals.stop();
                }
                if is_over {
                    break;
                }
            }
            (worker.join(), interruption)
        })
    });
    let result = joined.unwrap_or_else(|panic| resume_unwind(panic));
    warn(py)?;
    match interruption {
        Some(interruption) => Err(interruption),
        None => result.map_err(raised),
    }
}
