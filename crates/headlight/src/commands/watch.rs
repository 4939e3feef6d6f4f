//! `headlight inspect --watch`: a run's attention while it trains.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use headlight_trainer::Failure;
use headlight_trainer::run_dir::{RunDir, step_of};

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(100);

/// To the upper left corner, and all below it wiped away.
const WIPE: &str = "\x1b[H\x1b[2J";

/// Draws each new dump of a run, in the place of the one before where a terminal allows it, until
/// the run has ended or nobody listens any more.
///
/// # Errors
/// When a dump cannot be drawn, or standard output cannot be written to.
pub(super) fn follow(
    run: &RunDir,
    draw: impl Fn(&Path) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let wipe = io::stdout().is_terminal();
    let mut shown: Option<usize> = None;
    loop {
        // In this order: what a run writes before it ends is seen once it has.
        let ended = run.has_ended() || !run.is_being_written();
        let dumps = run.dumps()?;
        let mut new: Vec<&PathBuf> = dumps.iter().filter(|path| step_of(path) > shown).collect();
        if wipe {
            // A terminal shows one picture at a time; in a file none should be missing.
            new.drain(..new.len().saturating_sub(1));
        }
        for path in new {
            let picture = draw(path)?;
            let text = if wipe {
                format!("{WIPE}{picture}")
            } else {
                picture + "\n"
            };
            let mut out = io::stdout().lock();
            match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(Failure::writing(Path::new("standard output"), &error)),
                Ok(()) => shown = step_of(path),
            }
        }
        if ended {
            return Ok(());
        }
        sleep(PAUSE);
    }
}
