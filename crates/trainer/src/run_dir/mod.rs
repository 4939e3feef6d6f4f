//! The run directory, which holds all files of a run.

mod damage;

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_dump::AttentionDump;
use headlight_experiment::config::{DumpFormat, ExperimentConfig};
use headlight_input::TEXT_LIMIT;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::environment::Environment;
use crate::files::{
    Log, TEMPORARY, folder_of, is_at, read_bounded, read_json_lines, read_text, sync_names,
    write_atomically,
};
use crate::hash::file_sha256;
use crate::manifest::Manifest;
use crate::printing::note;
use crate::{Failure, config, tokenizer, weights};

pub use damage::{Damage, is_dump};

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
/// The page.
const PAGE: &str = "inspector.html";
/// The last file of a run: with it, the run has ended.
const REPORT: &str = "report.md";
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
        Ok(Some(run).filter(|run| !run.is_begun()))
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

    /// Opens the directory of a run to resume it, and removes what a killed process left in it; creates the
    /// directory if it does not exist.
    ///
    /// # Errors
    /// When another process is writing it, or it holds files but no run.
    pub fn reopen(path: &Path) -> Result<Self, Failure> {
        if !path.exists() {
            return Self::create(path);
        }
        let entries = fs::read_dir(path).map_err(|error| Failure::unreadable(path, &error))?;
        let foreign = entries
            .filter_map(Result::ok)
            .any(|entry| !may_precede_config(&entry.path()));
        let checkpoint = Checkpoints::at(path.join(CHECKPOINTS)).newest_whole();
        if foreign && checkpoint.is_none() && !path.join(CONFIG).is_file() {
            return Err(not_a_run(path));
        }
        let run = Self::locked(path, File::create)?;
        if run.is_begun() {
            run.remove_unfinished()?;
        }
        if let Some(checkpoint) = checkpoint {
            run.restore_config(&checkpoint)?;
        }
        Ok(run)
    }

    /// Removes what killed processes left unfinished.
    fn remove_unfinished(&self) -> Result<(), Failure> {
        let folders = [
            &self.path,
            &self.attention_path(),
            &self.path.join(CHECKPOINTS),
        ];
        self.remove(
            &folders
                .map(|folder| files_in(folder, is_unfinished))
                .concat(),
        )
    }

    /// Writes the config again from a checkpoint, if it is missing or cannot be read.
    fn restore_config(&self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        let Err(reason) = self.config() else {
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
        let run = Self {
            path: path.to_owned(),
            lock: Some(file),
            written: RefCell::default(),
        };
        let held = run.check_place();
        held.map_err(|error| Failure::writing(path, &error))?;
        Ok(run)
    }

    /// Whether the path still leads to the directory that this process writes.
    fn is_in_place(&self) -> bool {
        let lock = self.lock.as_ref();
        lock.is_none_or(|lock| is_at(lock, &self.path.join(LOCK)))
    }

    /// Checks that the path still leads there.
    ///
    /// # Errors
    /// When it does not: what to do.
    pub fn check_in_place(&self) -> Result<(), Failure> {
        if self.is_in_place() {
            return Ok(());
        }
        Err(Failure::System(format!(
            "the run directory {} was moved, replaced or deleted while this process used it; if it still exists, \
             resume the run under its new name",
            self.path.display()
        )))
    }

    fn check_place(&self) -> io::Result<()> {
        if self.is_in_place() {
            return Ok(());
        }
        Err(io::Error::other(
            "the run directory was moved, replaced or deleted",
        ))
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
            lock: None,
            written: RefCell::default(),
        };
        if run.is_begun() {
            return Ok(run);
        }
        Err(not_a_run(path))
    }

    /// Whether the run has begun, with its config written.
    pub fn is_begun(&self) -> bool {
        self.config_path().is_file()
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The resolved config.
    pub fn config_path(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// The weights after the last step.
    pub fn weights_path(&self) -> PathBuf {
        self.path.join(WEIGHTS)
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

    /// Writes the page.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_page(&self, html: &str) -> Result<(), Failure> {
        self.write_text(PAGE, html)
    }

    /// The page.
    pub fn page_path(&self) -> PathBuf {
        self.path.join(PAGE)
    }

    /// The evaluations, one row each.
    pub fn metrics_path(&self) -> PathBuf {
        self.path.join(METRICS)
    }

    /// Writes the resolved config: enough to repeat the run. It is on the disk before any other file of the run is.
    /// So are the names of all folders above it: this process may have created them, or an earlier one that was killed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_config(&self, config: &ExperimentConfig) -> Result<(), Failure> {
        let text = toml::to_string(config)
            .map_err(|error| Failure::System(format!("the config cannot be written: {error}")))?;
        self.write_text(CONFIG, &text)?;
        if let Some(words) = &config.data.words {
            self.write_json(TOKENIZER, &tokenizer::json(&config.data, words))?;
        }
        let path = self.config_path();
        let above = path.ancestors();
        above.map(folder_of).try_for_each(sync_names)
    }

    /// Reads the config back.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn config(&self) -> Result<ExperimentConfig, Failure> {
        config::load(&self.config_path(), &[])
    }

    /// Writes `environment.json`. If this process resumes the run from `step`, adds to the existing file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_environment(
        &self,
        environment: &Environment,
        step: Option<usize>,
    ) -> Result<(), Failure> {
        let path = self.path.join(ENVIRONMENT);
        match step {
            Some(step) if path.exists() => {
                let before = read_text(&path, TEXT_LIMIT)?;
                self.write_json(ENVIRONMENT, &environment.resumed(&before, step))
            }
            _ => self.write_json(ENVIRONMENT, environment),
        }
    }

    /// Writes a value as JSON.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::System(format!("{name} cannot be written: {error}")))?;
        self.write_text(name, &(text + "\n"))
    }

    /// Writes a text file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), Failure> {
        self.write_all(name, text.as_bytes())
    }

    fn write_all(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        self.write(name, |file| file.write_all(bytes))
    }

    /// Writes a file, and adds it to the manifest.
    fn write(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut hash = Sha256::new();
        self.put(name, |file| {
            write(file)?;
            file.flush()?;
            let file = file.get_mut();
            file.rewind()?;
            io::copy(file, &mut hash).map(|_| ())
        })?;
        let sha256 = format!("{:x}", hash.finalize());
        self.written.borrow_mut().record(name, sha256);
        Ok(())
    }

    /// Writes a file into this run's directory, never into one that took its name.
    ///
    /// The check comes when the temporary file is there. If the directory is moved after it, the temporary file cannot
    /// be found under the directory's old name, so that renaming it fails.
    fn put(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write_atomically(&self.path.join(name), |file| {
            write(file)?;
            self.check_place()
        })
    }

    /// Creates a folder of this run's directory, if there is none; never in a directory that took its name.
    fn create_subfolder(&self, folder: &Path) -> Result<(), Failure> {
        if folder.is_dir() {
            return Ok(());
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        // As in `files::written`.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let created = builder.tempdir_in(&self.path);
        let renamed = created.and_then(|created| {
            self.check_place()?;
            fs::rename(created.path(), folder)
        });
        renamed.map_err(|error| Failure::writing(folder, &error))
    }

    /// Removes files by way of a new folder that only this run's directory holds: a file of a directory that took its
    /// name cannot be moved there.
    fn remove(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut builder = tempfile::Builder::new();
        let failed = |error| Failure::writing(&self.path, &error);
        let bin = builder
            .prefix(TEMPORARY)
            .tempdir_in(&self.path)
            .map_err(failed)?;
        for (number, path) in paths.iter().enumerate() {
            self.check_place()
                .and_then(|()| fs::rename(path, bin.path().join(number.to_string())))
                .map_err(|error| Failure::writing(path, &error))?;
        }
        bin.close().map_err(failed)
    }

    /// Writes the model's weights.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_weights(&self, parameters: Vec<Parameter>) -> Result<(), Failure> {
        self.write_all(WEIGHTS, &weights::encode(parameters)?)
    }

    /// Whether the run has the weights of a trained model.
    pub fn has_weights(&self) -> bool {
        self.weights_path().exists()
    }

    /// Writes the weights of the best model.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_best(&self, parameters: Vec<Parameter>) -> Result<(), Failure> {
        self.write_all(BEST, &weights::encode(parameters)?)
    }

    /// Writes the loss of each step as an array. `[step]`
    ///
    /// # Errors
    /// When the losses cannot be read, or written.
    pub fn write_losses(&self) -> Result<(), Failure> {
        let losses = self.losses()?;
        self.write(LOSSES, |file| {
            file.write_all(&headlight_npz::npy(&[losses.len()], &losses)?)
        })
    }

    /// Syncs the folders, so that the names of all files so far are on the disk.
    ///
    /// # Errors
    /// When a folder cannot be synced.
    pub fn sync_names(&self) -> Result<(), Failure> {
        sync_names(&self.path)?;
        sync_names(&self.attention_path())?;
        sync_names(self.checkpoints().folder())
    }

    /// Writes a checkpoint, after a manifest of all that it relies on; once both are on the disk, removes all but the
    /// newest two.
    ///
    /// # Errors
    /// When it cannot be written; then the earlier ones stay.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        self.write_manifest()?;
        self.sync_names()?;
        let bytes = checkpoint.encode()?;
        let name = format!("{CHECKPOINTS}/{}", Checkpoints::name(checkpoint));
        self.put(&name, |file| file.write_all(&bytes))?;
        sync_names(self.checkpoints().folder())?;
        // An extra checkpoint does no harm.
        let _ = self.remove(&self.checkpoints().superseded()?);
        Ok(())
    }

    /// The checkpoints, from which the run can be resumed.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::at(self.path.join(CHECKPOINTS))
    }

    /// Reads the weights of the trained model, in the model's order.
    ///
    /// # Errors
    /// When they are missing, damaged, or do not match the config.
    pub fn load_weights(&self, config: &ExperimentConfig) -> Result<Vec<Parameter>, Failure> {
        weights::load(config, &self.weights_path())
    }

    /// Opens `metrics.jsonl` to append after its first `bytes`; drops the bytes after them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn metrics_log(&self, bytes: u64) -> Result<Log, Failure> {
        self.open_log(&self.metrics_path(), bytes)
    }

    /// The file with the loss of each step until the last checkpoint.
    pub fn loss_log_path(&self) -> PathBuf {
        self.path.join(CHECKPOINTS).join(LOSS_LOG)
    }

    /// Opens the file with the loss of each step to append after its first `bytes`; drops the bytes after them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn loss_log(&self, bytes: u64) -> Result<Log, Failure> {
        self.create_subfolder(&self.path.join(CHECKPOINTS))?;
        self.open_log(&self.loss_log_path(), bytes)
    }

    fn open_log(&self, path: &Path, bytes: u64) -> Result<Log, Failure> {
        refuse_special(path)?;
        if !path.exists() {
            self.put(&self.name_of(path), |_| Ok(()))?;
        }
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).open(path).and_then(|file| {
            self.check_place()?;
            Ok(file)
        });
        Log::at(
            opened.map_err(|error| Failure::writing(path, &error))?,
            path,
            bytes,
        )
    }

    /// Reads the loss of each step that is written so far. `[step]`
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn losses(&self) -> Result<Vec<f32>, Failure> {
        Ok(weights::float32(&read_bounded(
            &self.loss_log_path(),
            u64::MAX,
        )?))
    }

    /// Reads `metrics.jsonl`, and keeps what `take` returns for each row.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn metrics<T>(
        &self,
        take: impl FnMut(serde_json::Value) -> Option<T>,
    ) -> Result<Vec<T>, Failure> {
        read_json_lines(&self.metrics_path(), take)
    }

    /// The last row of `metrics.jsonl`; `None` before the first evaluation.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn last_metrics(&self) -> Result<Option<serde_json::Value>, Failure> {
        let mut last = None;
        self.metrics(|row| {
            last = Some(row);
            None::<()>
        })?;
        Ok(last)
    }

    /// Writes a dump in the given formats, named after its step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_dump(&self, dump: &AttentionDump, formats: &[DumpFormat]) -> Result<(), Failure> {
        self.create_subfolder(&self.attention_path())?;
        for &format in formats {
            let name = format!(
                "{ATTENTION}/step-{:06}.{}",
                dump.meta.step.unwrap_or(0),
                format.extension()
            );
            self.write(&name, |file| write_dump(dump, format, file))?;
        }
        Ok(())
    }

    /// Whether the run has ended, with its report written.
    pub fn has_ended(&self) -> bool {
        self.report_path().exists()
    }

    /// The report.
    pub fn report_path(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    /// Reads the report.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn report(&self) -> Result<String, Failure> {
        read_text(&self.report_path(), TEXT_LIMIT)
    }

    /// Writes the report, the last file of a run: all others are on the disk before it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_report(&self, text: &str) -> Result<(), Failure> {
        for path in self.checkpoints().newest_first()? {
            let sha256 = file_sha256(&path)?;
            self.written
                .borrow_mut()
                .record(&self.name_of(&path), sha256);
        }
        let sha256 = format!("{:x}", Sha256::digest(text));
        self.written.borrow_mut().record(REPORT, sha256);
        self.write_manifest()?;
        self.sync_names()?;
        self.put(REPORT, |file| file.write_all(text.as_bytes()))?;
        self.sync_names()
    }

    /// The npz dumps, by step.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn dumps(&self) -> Result<Vec<PathBuf>, Failure> {
        let folder = self.attention_path();
        let entries =
            fs::read_dir(&folder).map_err(|error| Failure::unreadable(&folder, &error))?;
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "npz"))
            .collect();
        paths.sort_by_key(|path| step_of(path));
        Ok(paths)
    }

    fn attention_path(&self) -> PathBuf {
        self.path.join(ATTENTION)
    }

    /// A file's path within the run directory.
    fn name_of(&self, path: &Path) -> String {
        let name = path.strip_prefix(&self.path).unwrap_or(path);
        name.to_string_lossy().into_owned()
    }
}

/// The files of a folder that `wanted` chooses; none if the folder cannot be read.
fn files_in(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths.filter(|path| wanted(path)).collect()
}

fn not_a_run(path: &Path) -> Failure {
    if let Err(error) = fs::metadata(path.join(CONFIG))
        && error.kind() == io::ErrorKind::PermissionDenied
    {
        return Failure::unreadable(path, &error);
    }
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

/// Writes a dump in a format.
///
/// # Errors
/// When writing fails.
pub fn write_dump(
    dump: &AttentionDump,
    format: DumpFormat,
    file: &mut BufWriter<File>,
) -> io::Result<()> {
    match format {
        DumpFormat::Npz => dump.write_npz(file),
        DumpFormat::Json => dump.write_json(file),
        DumpFormat::Csv => dump.write_csv(file),
    }
}
