//! What a command prints: its result to standard output; notes, details and complaints to standard error.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use headlight_report::terminal::visible;
use headlight_trainer::{Failure, Output};
use serde::Serialize;

/// What a command tells on standard error besides errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
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
pub(crate) fn set_verbosity(verbosity: Verbosity) {
    let _ = VERBOSITY.set(verbosity);
}

/// The verbosity of this process.
pub(crate) fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or_default()
}

/// Writes a line to standard error, with `--quiet` too. A closed standard error (`2>&1 | head`) must not end the
/// work.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// Writes a line to standard error, unless with `--quiet`.
pub(crate) fn note(text: &str) {
    if verbosity() >= Verbosity::Usual {
        complain(text);
    }
}

/// Writes a line to standard error with `--verbose`.
pub(crate) fn detail(text: &str) {
    if verbosity() == Verbosity::Verbose {
        complain(text);
    }
}

/// Prints a value as one line of JSON to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(value)
        .map_err(|error| Failure::System(format!("the JSON cannot be made: {error}")))?;
    write(&(line + "\n"))
}

/// Prints a text to standard output, its control characters replaced.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(&visible(text))
}

/// Writes to standard output; a closed standard output (`| head`) is not a failure.
fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::writing(Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// Tells what a command wrote: on standard output, unless the output itself went there.
pub(crate) fn tell(output: Output<'_>, text: &str) -> Result<(), Failure> {
    if output.is_standard() {
        return print_beside(&[Some(output)], text);
    }
    print(&format!("{}: {text}\n", output.display_name()))
}

/// Prints what a command tells beside its outputs: on standard output, unless one of them goes there.
pub(crate) fn print_beside(outputs: &[Option<Output<'_>>], text: &str) -> Result<(), Failure> {
    if outputs.iter().flatten().any(|output| output.is_standard()) {
        note(text.trim_end());
        return Ok(());
    }
    print(text)
}
