//! What a command prints: its result to standard output; notes, details and complaints to standard error.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use headlight_inspector::terminal::visible;
use serde::Serialize;

use crate::Failure;

/// What a command tells on standard error besides errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Nothing.
    Quiet,
    /// Notes and progress.
    #[default]
    Usual,
    /// Also details: what was resolved, and how long it took.
    Verbose,
}

/// The verbosity of this process; the command line sets it once.
static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets the verbosity of this process, before the first note.
pub fn set_verbosity(verbosity: Verbosity) {
    let _ = VERBOSITY.set(verbosity);
}

/// The verbosity of this process.
pub fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or_default()
}

/// Receives notes, details and complaints in place of standard error.
type Listener = fn(&str);

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Passes the notes, details and complaints of this process on, for a host program that has its own way to tell them.
pub fn pass_on(listener: Listener) {
    let _ = LISTENER.set(listener);
}

/// Writes a line to standard error, with `--quiet` too. A closed standard error (`2>&1 | head`) must not end the
/// work.
pub fn complain(text: &str) {
    match LISTENER.get() {
        Some(listener) => listener(&visible(text)),
        None => {
            let _ = writeln!(io::stderr(), "{}", visible(text));
        }
    }
}

/// Writes a line to standard error, unless with `--quiet`.
pub fn note(text: &str) {
    if verbosity() >= Verbosity::Usual {
        complain(text);
    }
}

/// Writes a line to standard error with `--verbose`.
pub fn detail(text: &str) {
    if verbosity() == Verbosity::Verbose {
        complain(text);
    }
}

/// Prints a value as one line of JSON to standard output.
///
/// # Errors
/// When standard output cannot be written to; if it is closed, that is not a failure.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(value)
        .map_err(|error| Failure::System(format!("the JSON cannot be made: {error}")))?;
    write(&(line + "\n"))
}

/// Prints a text to standard output, its control characters replaced.
///
/// # Errors
/// As [`print_json`].
pub fn print(text: &str) -> Result<(), Failure> {
    write(&visible(text))
}

/// Writes to standard output; a closed standard output (`| head`) is not a failure.
///
/// # Errors
/// When standard output cannot be written to for any other reason.
fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::writing(Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}
