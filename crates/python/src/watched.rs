//! Long work: without the interpreter's lock, with progress, stopped by Ctrl-C or by a callback.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use headlight_trainer::Failure;
use headlight_trainer::training::signals::Signals;
use pyo3::prelude::*;

use crate::failure::{raised, warn};

/// How often Python is asked for signals, and told of progress.
const OFTEN: Duration = Duration::from_millis(50);

/// What the work tells the thread of the caller.
pub(crate) enum Report {
    /// How much is done, and how much there is to do.
    Share(usize, usize),
    /// A step and its row of metrics, as JSON: the work waits for the answer.
    Row(usize, String, Sender<()>),
}

/// Functions of Python that hear of the work.
#[derive(Clone, Copy, Default)]
pub(crate) struct Listeners<'a> {
    /// Called now and then with how much is done and how much there is to do.
    pub(crate) progress: Option<&'a Py<PyAny>>,
    /// Called with each step and its row of metrics as JSON; if it returns true, the work stops.
    pub(crate) callback: Option<&'a Py<PyAny>>,
}

/// Does work on a thread of its own, which sends reports. It stops when the signals say so: after Ctrl-C, when the
/// callback returns true, or when a listener raises an exception.
///
/// # Errors
/// When the work fails, Python has a signal, or a listener raises an exception.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    listeners: Listeners<'_>,
    work: impl FnOnce(Sender<Report>, &Signals) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let signals = Signals::default();
    let (sender, receiver) = mpsc::channel();
    let (joined, interruption) = py.detach(move || {
        thread::scope(|scope| {
            let shared = &signals;
            let worker = scope.spawn(move || work(sender, shared));
            let (mut told, mut share, mut interruption) = (Instant::now(), None, None);
            loop {
                let received = receiver.recv_timeout(OFTEN);
                let is_over = matches!(received, Err(RecvTimeoutError::Disconnected));
                let mut row = None;
                match received {
                    Ok(Report::Share(done, all)) => share = Some((done, all)),
                    Ok(Report::Row(step, metrics, answer)) => row = Some((step, metrics, answer)),
                    Err(_) => {}
                }
                if told.elapsed() < OFTEN && !is_over && row.is_none() {
                    continue;
                }
                told = Instant::now();
                let heard = Python::attach(|py| -> PyResult<bool> {
                    if let (Some(share), Some(progress)) = (share.take(), listeners.progress) {
                        progress.call1(py, share)?;
                    }
                    py.check_signals()?;
                    match (&row, listeners.callback) {
                        (Some((step, metrics, _)), Some(callback)) if interruption.is_none() => {
                            callback.call1(py, (step, metrics))?.extract(py)
                        }
                        _ => Ok(false),
                    }
                });
                match heard {
                    Ok(false) => {}
                    Ok(true) => signals.stop(),
                    Err(error) => {
                        interruption.get_or_insert(error);
                        signals.stop();
                    }
                }
                if let Some((.., answer)) = row {
                    let _ = answer.send(());
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
