//! The run directory, which holds all files of a run.

mod again;
mod damage;
mod kept;
mod reading;
mod writing;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use headlight_experiment::config::ExperimentConfig;
use headlight_input::TEXT_LIMIT;
use serde::Deserialize;

use crate::Failure;
use crate::notes::note;
use crate::storage::checkpoint::{Checkpoint, Checkpoints};
use crate::storage::config;
use crate::storage::files::{TEMPORARY, is_at, read_text};
use crate::storage::inputs::note_named;
use crate::storage::manifest::Manifest;
use crate::storage::paths::{found, is_file, paths_in};
use crate::storage::standard::quoted;

pub use again::Rewound;
pub(crate) use damage::MANIFEST_LIMIT;
pub use damage::{Damage, is_dump};
pub use kept::KeptModel;
pub use writing::write_dump;

/// The folder of numbered run directories.
const RUNS: &str = "runs";

// The files and folders of a run directory.
/// The resolved config, the first file of a run: without it, no run has begun.
const CONFIG: &str = "config.toml";
/// The machine and the program.
const ENVIRONMENT: &str = "environment.json";
/// The words, if samples are texts.
const TOKENIZER: &str = "tokenizer.json";
/// The evaluations, one row each.
const METRICS: &str = "metrics.jsonl";
/// The loss of each step.
const LOSSES: &str = "loss.npy";
/// The weights after the last step.
const WEIGHTS: &str = "model.safetensors";
/// The weights of the best evaluation.
const BEST: &str = "best.safetensors";
/// What a run is resumed from.
const CHECKPOINTS: &str = "checkpoint";
/// The loss of each step until the last checkpoint, float32, little-endian.
const LOSS_LOG: &str = "losses.f32";
/// The dumps.
const ATTENTION: &str = "attention";
const STEP_WEIGHTS: &str = "weights";
/// The name of the best model's dump, without its format.
const BEST_DUMP: &str = "best";
/// The page.
const PAGE: &str = "inspector.html";
/// The last file of a run: with it, the run has ended.
const REPORT: &str = "report.md";
/// How the model answers all possible inputs, if the config asks for it.
pub(crate) const CERTIFICATE: &str = "certificate.json";
/// The hashes of the files.
const MANIFEST: &str = "manifest.sha256";
/// The lock file. The process that writes the run holds it, so that no other process does.
const LOCK: &str = ".lock";

/// Whether a path is a file of a run: one of its names, or in one of its folders.
pub fn is_file_of_run(path: &Path) -> bool {
    path.ancestors().skip(1).take(2).any(|folder| {
        let name = path.strip_prefix(folder).map(|path| path.iter().next());
        let name = name.ok().flatten().and_then(|name| name.to_str());
        let is_own = [
            CONFIG,
            ENVIRONMENT,
            TOKENIZER,
            METRICS,
            LOSSES,
            WEIGHTS,
            BEST,
            CHECKPOINTS,
            ATTENTION,
            PAGE,
            REPORT,
            CERTIFICATE,
            MANIFEST,
            LOCK,
        ];
        // A damaged run may lack one of them, or have something else in its place.
        let is_run = [ENVIRONMENT, MANIFEST]
            .iter()
            .any(|file| folder.join(file).symlink_metadata().is_ok());
        is_run && name.is_some_and(|name| is_own.contains(&name))
    })
}

/// A run directory.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The lock file, locked, if this process writes the run. It identifies the directory, whatever happens to the
    /// directory's name.
    lock: Option<File>,
    /// The files that this process has written, or has found as an earlier process wrote them.
    written: RefCell<Manifest>,
    /// The files that a repair leaves as they are, by name.
    whole: RefCell<BTreeSet<String>>,
}

impl RunDir {
    /// Creates the run directory `path`, which must not exist yet.
    ///
    /// # Errors
    /// When it exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Failure::writing(parent, &error))?;
        }
        Self::create_new(path)?.ok_or_else(|| {
            Failure::Input(format!(
                "the run directory {} already exists, and a run never overwrites another; \
                 choose a new one with --run, or resume that run with --resume",
                path.display()
            ))
        })
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
        Ok(if run.is_begun()? { None } else { Some(run) })
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

    /// Opens the directory of a run to resume it; creates the directory if it does not exist.
    ///
    /// # Errors
    /// When another process is writing it, or it holds files but no run.
    pub fn reopen(path: &Path) -> Result<Self, Failure> {
        if found(path)?.is_none() {
            return Self::create(path);
        }
        fs::read_dir(path).map_err(|error| Failure::unreadable(path, &error))?;
        let foreign = !paths_in(path)?.iter().all(|path| may_precede_config(path));
        let checkpoint = Checkpoints::at(path.join(CHECKPOINTS)).newest_whole()?;
        if foreign && checkpoint.is_none() && !is_file(&path.join(CONFIG))? {
            return Err(not_a_run(path));
        }
        let run = Self::locked(path, File::create)?;
        if let Some(checkpoint) = checkpoint {
            run.restore_config(&checkpoint)?;
        }
        Ok(run)
    }

    /// Writes the config again from a checkpoint, if it is missing or cannot be read.
    fn restore_config(&self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        let Err(reason) = Failure::separate(self.config())? else {
            return Ok(());
        };
        let Ok(config) = ExperimentConfig::deserialize(&checkpoint.config) else {
            return Ok(());
        };
        let step = checkpoint.progress.step;
        note(&format!(
            "{reason}; Headlight writes it again from the checkpoint of step {step}"
        ));
        self.write_config(&config::with_absolute_paths(config)?)
    }

    /// Locks a directory. A new run creates its lock file, which fails if another run has taken the directory's name.
    fn locked(path: &Path, open: fn(PathBuf) -> io::Result<File>) -> Result<Self, Failure> {
        let lock = path.join(LOCK);
        refuse_special(&lock)?;
        let file = open(lock.clone()).map_err(|error| Failure::writing(&lock, &error))?;
        // Some network file systems have no locks; there, runs are written without one.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Failure::Input(format!(
                "another process is writing the run in {}; wait for it, or stop it first",
                path.display()
            )));
        }
        Ok(Self::at(path, Some(file)))
    }

    fn at(path: &Path, lock: Option<File>) -> Self {
        Self {
            path: path.to_owned(),
            lock,
            written: RefCell::default(),
            whole: RefCell::default(),
        }
    }

    /// Checks that the path still leads to the directory that this process writes, before each change to it.
    ///
    /// # Errors
    /// When it does not: what to do.
    pub(crate) fn check_in_place(&self) -> Result<(), Failure> {
        let lock = self.lock.as_ref();
        if lock.is_none_or(|lock| is_at(lock, &self.path.join(LOCK))) {
            return Ok(());
        }
        Err(Failure::System(format!(
            "the run directory {} was moved, replaced or deleted while this process used it; if it still exists, \
             resume the run under its new name",
            self.path.display()
        )))
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
        let run = Self::at(path, None);
        if run.is_begun()? {
            // What a run names counts as read, whatever the command reads of it.
            let config = read_text(&run.config_path(), TEXT_LIMIT).unwrap_or_default();
            let _ = config.parse().map(|config| note_named(&config));
            return Ok(run);
        }
        Err(not_a_run(path))
    }

    /// As [`open`](Self::open), for a run that may lack its config.
    ///
    /// # Errors
    /// When it has neither config, manifest nor checkpoint.
    pub fn open_damaged(path: &Path) -> Result<Self, Failure> {
        let run = Self::at(path, None);
        if run.manifest()?.is_some() || run.checkpoints().newest_whole()?.is_some() {
            return Ok(run);
        }
        Self::open(path)
    }

    /// Whether the run has begun, with its config written.
    ///
    /// # Errors
    /// When the machine cannot tell.
    pub fn is_begun(&self) -> Result<bool, Failure> {
        is_file(&self.config_path())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How a user goes on with the run, in words.
    pub fn how_to_resume(&self) -> String {
        let path = quoted(&self.path);
        // A name that begins like a flag is a value only after `=`.
        let begins_flag = self.path.as_os_str().as_encoded_bytes().starts_with(b"-");
        let sign = if begins_flag { '=' } else { ' ' };
        format!("resume with: headlight train --resume --run{sign}{path}")
    }

    /// The resolved config.
    pub fn config_path(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// The weights after the last step.
    pub(crate) fn weights_path(&self) -> PathBuf {
        self.path.join(WEIGHTS)
    }

    /// The weights of the best evaluation.
    fn best_path(&self) -> PathBuf {
        self.path.join(BEST)
    }

    /// The page.
    pub fn page_path(&self) -> PathBuf {
        self.path.join(PAGE)
    }

    /// The evaluations, one row each.
    pub(crate) fn metrics_path(&self) -> PathBuf {
        self.path.join(METRICS)
    }

    /// The file with the loss of each step until the last checkpoint.
    pub(crate) fn loss_log_path(&self) -> PathBuf {
        self.path.join(CHECKPOINTS).join(LOSS_LOG)
    }

    /// The report.
    pub fn report_path(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    fn attention_path(&self) -> PathBuf {
        self.path.join(ATTENTION)
    }

    /// The dump of the best model in a format.
    fn best_dump_path(&self, format: &str) -> PathBuf {
        self.attention_path().join(format!("{BEST_DUMP}.{format}"))
    }

    /// A file that the user names for this run: if there is none of that name, the run's file may be meant.
    pub fn path_of(&self, name: &Path) -> PathBuf {
        let own = self.path.join(name);
        if !name.exists() && own.is_file() {
            own
        } else {
            name.to_owned()
        }
    }

    /// A file's path within the run directory.
    fn name_of(&self, path: &Path) -> String {
        let name = path.strip_prefix(&self.path).unwrap_or(path);
        name.to_string_lossy().into_owned()
    }
}

fn not_a_run(path: &Path) -> Failure {
    let reason = if path.exists() {
        "it is not a run directory (it holds no config.toml)"
    } else {
        "the folder does not exist"
    };
    Failure::reading(path, reason)
}

/// Refuses pipes and devices, since to open one could block, and links, since they lead to files that are not the run's.
fn refuse_special(path: &Path) -> Result<(), Failure> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(Failure::reading(path, "it is not a regular file")),
        _ => Ok(()),
    }
}

/// Whether a file is a temporary one, left by a process that was killed.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(TEMPORARY)
}

/// Whether a file can exist in a run directory before the config: a lock, or an unfinished file.
fn may_precede_config(path: &Path) -> bool {
    is_unfinished(path) || path.file_name().is_some_and(|name| name == LOCK)
}

/// The step in a dump's file name.
pub fn step_of(path: &Path) -> Option<usize> {
    path.file_stem()?
        .to_str()?
        .strip_prefix("step-")?
        .parse()
        .ok()
}
