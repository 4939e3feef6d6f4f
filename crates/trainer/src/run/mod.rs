//! The run directory, which holds all files of a run.

pub mod checkpoint;
pub mod environment;
mod kept;
mod reading;
mod rewind;
mod state;
mod tokenizer;
mod verify;
mod writing;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::access::TEMPORARY;
use crate::files::run_files::{CONFIG, LOCK, MANIFEST, is_in_run};
use crate::{Failure, STANDARD, option, shell_path, shown};

pub use kept::KeptModel;
pub use state::RunState;
pub use verify::{Damage, Verification};
pub use writing::write_dump;

/// The folder of numbered run directories.
const RUNS: &str = "runs";

/// A run directory.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The lock file, locked for as long as this process writes the run.
    _lock: Option<File>,
}

impl RunDir {
    /// Creates the run directory `path`, which must not exist yet.
    ///
    /// # Errors
    /// When it exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if is_in_run(path) {
            return Err(Failure::Input(format!(
                "{} is in the directory of another run; choose another one with {}",
                shown(path),
                option("--run", "run=")
            )));
        }
        if let Some(failure) = Failure::in_file(path) {
            return Err(failure);
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Failure::writing(parent, &error))?;
        }
        if let Some(run) = Self::create_new(path)? {
            return Ok(run);
        }
        check_resumable(path)?;
        if path.join(LOCK).exists() {
            Self::locked(path, File::open)?;
        }
        Err(Failure::Input(format!(
            "the run directory {} already exists, and a run never overwrites another; \
             choose a new one with {}, or resume that run with {}",
            shown(path),
            option("--run", "run="),
            option("--resume", "resume=True")
        )))
    }

    /// Creates a run directory; `None` if it exists.
    fn create_new(path: &Path) -> Result<Option<Self>, Failure> {
        match fs::create_dir(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(Failure::writing(path, &error)),
        }
        let run = Self::locked(path, File::create_new)?;
        // Until the lock was taken, another process may have resumed the empty directory, as one that a killed process left.
        Ok(if run.has_begun() { None } else { Some(run) })
    }

    /// Creates the first free directory of `runs/NAME-1`, `runs/NAME-2`, ...
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create_numbered(name: &str) -> Result<Self, Failure> {
        fs::create_dir_all(RUNS).map_err(|error| Failure::writing(Path::new(RUNS), &error))?;
        let mut number = 1;
        loop {
            let path = Path::new(RUNS).join(format!("{name}-{number}"));
            if let Some(run) = Self::create_new(&path)? {
                return Ok(run);
            }
            number += 1;
        }
    }

    /// Opens the directory of a run to resume it, if there is one and `resume` asks for it.
    ///
    /// # Errors
    /// When another process is writing it, it is not a folder, or it holds files but no run.
    pub fn open_to_resume(path: &Path, resume: bool) -> Result<Option<Self>, Failure> {
        if !resume || path.symlink_metadata().is_err() {
            return Ok(None);
        }
        check_resumable(path)?;
        Self::locked(path, File::create).map(Some)
    }

    /// Locks a directory. A new run creates its lock file, which fails if another run has taken the directory's name.
    fn locked(path: &Path, open: fn(PathBuf) -> io::Result<File>) -> Result<Self, Failure> {
        let lock = path.join(LOCK);
        let file = open(lock.clone()).map_err(|error| Failure::writing(&lock, &error))?;
        // Some network file systems have no locks; there, runs are written without one.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Failure::Input(format!(
                "another process is writing the run in {}; wait for it, or stop it first",
                shown(path)
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            _lock: Some(file),
        })
    }

    /// Removes a directory in which no run has begun.
    pub(crate) fn discard_empty(&self) {
        if !self.has_begun() {
            let _ = fs::remove_file(self.path.join(LOCK));
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Whether another process may be writing the run; always `true` on a file system without locks.
    pub fn is_being_written(&self) -> bool {
        let lock = File::open(self.path.join(LOCK)).map(|file| file.try_lock_shared());
        matches!(lock, Ok(Err(_)))
    }

    /// Opens a run directory to read it.
    ///
    /// # Errors
    /// When it is not a run directory.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let run = Self {
            path: path.to_owned(),
            _lock: None,
        };
        // A damaged run may lack its config.
        if run.has_begun() || path.join(MANIFEST).is_file() {
            Ok(run)
        } else {
            Err(not_a_run(path))
        }
    }

    /// Whether the run has begun, with its config written.
    pub fn has_begun(&self) -> bool {
        self.file(CONFIG).is_file()
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How a user goes on with the run, in words.
    pub fn how_to_resume(&self) -> String {
        let path = shell_path(&self.path);
        let how = option(
            "headlight train --resume --run ",
            "hl.train with the same config, resume=True and run=",
        );
        format!("resume with: {how}{path}")
    }

    /// The sentence for a run that cannot be resumed or is damaged: its config repeats it byte for byte.
    pub(crate) fn how_to_repeat(&self) -> String {
        let how = option("headlight train", "hl.train with the config");
        format!("train it again: {how} {}", shell_path(&self.file(CONFIG)))
    }

    /// A file of the run, by its name in the table.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A file that the user names for this run: if there is none of that name, the run's file may be meant.
    pub(crate) fn path_of(&self, name: &Path) -> PathBuf {
        let in_run = self.path.join(name);
        if !name.exists() && in_run.is_file() {
            in_run
        } else {
            name.to_owned()
        }
    }
}

/// Checks that a run can go on in what exists: a run's folder, or one in which no run has begun.
fn check_resumable(path: &Path) -> Result<(), Failure> {
    let is_free = || -> Result<bool, Failure> {
        Ok(path.is_dir() && paths_in(path)?.iter().all(|path| may_precede_config(path)))
    };
    if path.join(CONFIG).is_file() || is_free()? {
        return Ok(());
    }
    Err(denied(path).unwrap_or_else(|| {
        Failure::Input(format!(
            "{} exists and is not a run; choose another one with {}",
            shown(path),
            option("--run", "run=")
        ))
    }))
}

/// The failure to look into a folder without permission.
fn denied(path: &Path) -> Option<Failure> {
    let error = fs::metadata(path.join(CONFIG)).err()?;
    (error.kind() == io::ErrorKind::PermissionDenied).then(|| Failure::unreadable(path, &error))
}

fn not_a_run(path: &Path) -> Failure {
    if let Some(failure) = denied(path) {
        return failure;
    }
    if path == Path::new(STANDARD) {
        let message = "a run cannot come from standard input; name its directory in place of -";
        return Failure::Input(message.to_owned());
    }
    let reason = if path.exists() {
        "it is not a run directory (it holds no config.toml)"
    } else {
        "the folder does not exist"
    };
    Failure::reading(path, reason)
}

/// The paths in a folder; empty if the folder does not exist.
fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let paths = fs::read_dir(folder).and_then(|entries| {
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect()
    });
    match paths {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        paths => paths.map_err(|error| Failure::unreadable(folder, &error)),
    }
}

/// Whether a file is a temporary one, left by a process that was killed.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(TEMPORARY)
}

/// Whether a file can exist in a run directory before the config: a lock, or a temporary file.
fn may_precede_config(path: &Path) -> bool {
    is_temporary(path) || path.file_name().is_some_and(|name| name == LOCK)
}
