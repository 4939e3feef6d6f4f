//! Threads that count, watched by the calling one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use headlight_experiment::Error;
use headlight_experiment::outcome::with_thousands;

/// How often the calling thread looks.
const LOOK: Duration = Duration::from_millis(100);

/// Before so many seconds nothing is estimated.
const FIRST: f64 = 60.0;

/// A count that would take more seconds than this is refused.
const MOST: f64 = 3600.0;

/// Is told the share that is done; its error ends the count.
type Watch<'a> = &'a (dyn Fn(f64) -> Result<(), Error> + Sync);

/// How far a certificate is.
pub(super) struct Progress<'a> {
    /// Inputs that are counted, and all of them.
    done: AtomicU64,
    all: u64,
    /// Whether threads should end before they are done.
    stop: AtomicBool,
    start: Instant,
    watch: Watch<'a>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(all: u64, watch: Watch<'a>) -> Self {
        Self {
            done: AtomicU64::new(0),
            all,
            stop: AtomicBool::new(false),
            start: Instant::now(),
            watch,
        }
    }

    /// More inputs are counted.
    pub(super) fn add(&self, inputs: u64) {
        self.done.fetch_add(inputs, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Tells the watch; refuses what would take too long.
    ///
    /// # Errors
    /// The watch's, or that it would take too long.
    pub(super) fn check_watch(&self) -> Result<(), Error> {
        let share = self.done.load(Ordering::Relaxed) as f64 / self.all as f64;
        (self.watch)(share)?;
        let seconds = self.start.elapsed().as_secs_f64();
        let whole = seconds / share.max(f64::MIN_POSITIVE);
        if seconds > FIRST && whole > MOST {
            let hours = whole / 3600.0;
            let long = match hours {
                ..2.0 => format!("about {:.0} minutes", whole / 60.0),
                ..1e4 => format!("about {hours:.0} hours"),
                _ => "more than a year".to_owned(),
            };
            return Err(Error::Input(format!(
                "the count of all {} inputs would take {long}, which is above the limit of one hour; ask about random inputs instead",
                with_thousands(&self.all)
            )));
        }
        Ok(())
    }

    /// What some threads return.
    ///
    /// # Errors
    /// As [`look`](Self::look); the threads have then ended before they were done.
    pub(super) fn each<T: Send>(
        &self,
        threads: usize,
        work: impl Fn() -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                let (sender, work) = (sender.clone(), &work);
                // The receiver waits for all of them.
                scope.spawn(move || sender.send(work()));
            }
            drop(sender);
            let (mut results, mut looked) = (Vec::new(), Ok(()));
            loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(result) => results.push(result),
                    Err(RecvTimeoutError::Timeout) if looked.is_ok() => {
                        looked = self.check_watch();
                        self.stop.store(looked.is_err(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return looked.map(|()| results),
                }
            }
        })
    }
}
