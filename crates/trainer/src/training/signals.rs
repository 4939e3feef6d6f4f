//! SIGINT, SIGTERM and SIGUSR1: the first signal stops the work after the current step, the second at once.
//!
//! Schedulers can send SIGUSR1 some time before a job's time limit (Slurm: `--signal`).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, io, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
#[cfg(unix)]
use signal_hook::consts::{SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

use crate::Failure;
use crate::files::access::UNFINISHED;

/// The signals that ask to stop.
const STOPPING: &[i32] = &[
    SIGINT,
    SIGTERM,
    #[cfg(unix)]
    SIGUSR1,
];

/// Whether a signal has asked to stop. The default listens to none: its owner stops the work with [`stop`](Self::stop).
#[derive(Clone, Debug, Default)]
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the system refuses the signal handlers.
    pub fn listen() -> Result<Self, Failure> {
        let received = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        let register = || -> io::Result<()> {
            // The order matters: on the first signal, the shutdown must find `again` unset.
            for &signal in STOPPING {
                flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again))?;
            }
            for &signal in STOPPING {
                flag::register(signal, Arc::clone(&again))?;
                flag::register_usize(signal, Arc::clone(&received), signal as usize)?;
            }
            Ok(())
        };
        register()
            .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
        Ok(Self(received))
    }

    /// Asks to stop, as SIGINT does.
    pub fn stop(&self) {
        self.0.store(SIGINT as usize, Ordering::Relaxed);
    }

    /// The number of the signal that asked to stop.
    pub fn received(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}

/// Lets a signal end this process at once, as it does by default, but without leaving an unfinished file.
///
/// # Errors
/// As [`Signals::listen`].
pub fn end_at_signals() -> Result<(), Failure> {
    let (signals, unfinished) = (Signals::listen()?, UNFINISHED.get_or_init(Mutex::default));
    thread::spawn(move || {
        let signal = loop {
            match signals.received() {
                Some(signal) => break signal,
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        // While this holds the lock, no other file begins.
        let unfinished = unfinished.lock();
        for file in unfinished.iter().flat_map(|files| files.iter()) {
            let _ = fs::remove_file(file);
        }
        let _ = emulate_default_handler(signal);
    });
    Ok(())
}

/// Makes a write beyond the limit of this process on the size of files (`ulimit -f`) fail, as on a full disk. Without
/// this, the system ends the process in the middle of a record.
pub fn survive_size_limit() {
    // If the system refuses the handler, only this protection is lacking.
    #[cfg(unix)]
    let _ = flag::register(SIGXFSZ, Arc::default());
}
