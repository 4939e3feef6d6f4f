//! `headlight inspect --watch`: a run's attention during training.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use headlight_trainer::files::run_files::step_of;
use headlight_trainer::run::RunState;
use headlight_trainer::{Failure, RunDir};

/// The time between two looks at the run directory.
const PAUSE: Duration = Duration::from_millis(100);

/// Moves the cursor to the upper left corner and clears the screen.
const CLEAR_SCREEN: &str = "\x1b[H\x1b[2J";

/// Draws each new dump of a run until the run has ended, or standard output is closed. On a terminal, each
/// drawing replaces the one before.
pub(super) fn follow(
    run: &RunDir,
    draw: impl Fn(&Path) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let on_terminal = io::stdout().is_terminal();
    let mut shown: Option<usize> = None;
    loop {
        // Asked before the dumps are listed: so the last dump before the end is not missed.
        let ended = run.state() != RunState::Training || !run.is_being_written();
        let dumps = run.dumps()?;
        let mut new: Vec<&PathBuf> = dumps.iter().filter(|path| step_of(path) > shown).collect();
        if on_terminal {
            // A terminal shows one drawing at a time, so the newest is enough; a file gets all of them.
            new.drain(..new.len().saturating_sub(1));
        }
        for path in new {
            let picture = draw(path)?;
            let text = if on_terminal {
                format!("{CLEAR_SCREEN}{picture}")
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
