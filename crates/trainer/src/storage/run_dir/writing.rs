//! Writes the files of a run, each only while the run directory is the one that this process locked.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_dump::AttentionDump;
use headlight_experiment::config::{DumpFormat, ExperimentConfig};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::damage::ENVIRONMENT_LIMIT;
use super::{
    ATTENTION, BEST, BEST_DUMP, CHECKPOINTS, CONFIG, ENVIRONMENT, LOSSES, MANIFEST, PAGE, REPORT,
    RunDir, STEP_WEIGHTS, TOKENIZER, WEIGHTS, is_unfinished, refuse_special,
};
use crate::Failure;
use crate::storage::checkpoint::{Checkpoint, Checkpoints};
use crate::storage::config;
use crate::storage::environment::Environment;
use crate::storage::files::{Log, folder_of, read_bounded, sync_names, write_atomically};
use crate::storage::hash::file_sha256;
use crate::storage::paths::{found, paths_in};
use crate::storage::tokenizer;
use crate::storage::weights;

impl RunDir {
    /// Writes the page.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_page(&self, html: &str) -> Result<(), Failure> {
        self.write_all(PAGE, html.as_bytes())
    }

    /// Writes the resolved config: enough to repeat the run. It is on the disk before any other file of the run is.
    /// So are the names of all folders above it: this process may have created them, or an earlier one that was killed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_config(&self, config: &ExperimentConfig) -> Result<(), Failure> {
        let text = config::to_toml(config)?;
        self.write_all(CONFIG, text.as_bytes())?;
        // Values of columns are no words of a text.
        if let Some(words) = &config.data.words
            && config.data.columns.features.is_empty()
        {
            self.write_json(TOKENIZER, &tokenizer::json(&config.data, words))?;
        }
        let path = self.config_path();
        let above = path.ancestors();
        above.map(folder_of).try_for_each(sync_names)
    }

    /// Writes `environment.json`. If this process resumes the run from `step`, adds to the existing file.
    pub(crate) fn write_environment(
        &self,
        environment: &Environment,
        step: Option<usize>,
    ) -> Result<(), Failure> {
        let path = self.path.join(ENVIRONMENT);
        match step {
            Some(step) if path.symlink_metadata().is_ok() => {
                // Whatever stands there, it is no reason not to resume.
                let before = match Failure::separate(read_bounded(&path, ENVIRONMENT_LIMIT))? {
                    Ok(before) => String::from_utf8_lossy(&before).into_owned(),
                    Err(reason) => reason.to_string(),
                };
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
        self.write_all(name, (text + "\n").as_bytes())
    }

    fn write_all(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        self.write(name, |file| file.write_all(bytes))
    }

    /// Writes a file, and adds it to the manifest; not one that a repair leaves as it is.
    fn write(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.whole.borrow().contains(name) {
            return Ok(());
        }
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

    /// Writes a file, if the directory is in place. A folder of its name, which no file can replace, is put aside.
    pub(super) fn put(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        self.check_in_place()?;
        let path = self.path.join(name);
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            self.put_aside(&path, "it is a folder")?;
        }
        write_atomically(&path, write)
    }

    /// Creates a folder of this run's directory, if there is none. What has its name is put aside.
    pub(super) fn create_subfolder(&self, folder: &Path) -> Result<(), Failure> {
        if found(folder)?.is_some_and(|found| found.is_dir()) {
            return Ok(());
        }
        self.put_aside(folder, "it is not a folder")?;
        self.check_in_place()?;
        fs::create_dir(folder).map_err(|error| Failure::writing(folder, &error))
    }

    /// Removes what killed processes left unfinished.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove_unfinished(&self) -> Result<(), Failure> {
        for folder in [
            &self.path,
            &self.attention_path(),
            &self.path.join(STEP_WEIGHTS),
            &self.path.join(CHECKPOINTS),
        ] {
            let mut paths = paths_in(folder)?;
            paths.retain(|path| is_unfinished(path));
            self.remove(&paths)?;
        }
        Ok(())
    }

    /// Removes files, and folders with all that they hold.
    pub(super) fn remove(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        for path in paths {
            self.check_in_place()?;
            let removed = if path.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
            removed.map_err(|error| Failure::writing(path, &error))?;
        }
        Ok(())
    }

    /// Writes the model's weights.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_weights(&self, parameters: Vec<Parameter>) -> Result<(), Failure> {
        self.write_all(WEIGHTS, &weights::encode(parameters)?)
    }

    /// Writes the weights after a step, in a file named after it.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn write_step_weights(
        &self,
        step: usize,
        parameters: Vec<Parameter>,
    ) -> Result<(), Failure> {
        self.create_subfolder(&self.path.join(STEP_WEIGHTS))?;
        let name = format!("{STEP_WEIGHTS}/step-{step:06}.safetensors");
        self.write_all(&name, &weights::encode(parameters)?)
    }

    /// Writes the best model: its weights, then its dump in the given formats. Those of an earlier step are
    /// [removed](Self::remove_outdated) by now, so that whatever stops this process, no dump is beside the weights of another
    /// step.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_best(
        &self,
        parameters: Vec<Parameter>,
        dump: &AttentionDump,
        formats: &[DumpFormat],
    ) -> Result<(), Failure> {
        self.write_all(BEST, &weights::encode(parameters)?)?;
        self.write_dump_as(BEST_DUMP, dump, formats)
    }

    /// Writes the loss of each step as an array. `[step]`
    pub(crate) fn write_losses(&self) -> Result<(), Failure> {
        let losses = self.losses()?;
        self.write(LOSSES, |file| {
            file.write_all(&headlight_npz::npy(&[losses.len()], &losses)?)
        })
    }

    /// Syncs the folders, so that the names of all files so far are on the disk.
    fn sync_names(&self) -> Result<(), Failure> {
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

    /// Opens `metrics.jsonl` to append after its first `bytes`; drops the bytes after them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn metrics_log(&self, bytes: u64) -> Result<Log, Failure> {
        self.open_log(&self.metrics_path(), bytes)
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
        self.check_in_place()?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options
            .open(path)
            .map_err(|error| Failure::writing(path, &error))?;
        Log::at(file, path, bytes)
    }

    /// Writes a dump in the given formats, named after its step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_dump(&self, dump: &AttentionDump, formats: &[DumpFormat]) -> Result<(), Failure> {
        let name = format!("step-{:06}", dump.meta.step.unwrap_or(0));
        self.write_dump_as(&name, dump, formats)
    }

    fn write_dump_as(
        &self,
        name: &str,
        dump: &AttentionDump,
        formats: &[DumpFormat],
    ) -> Result<(), Failure> {
        self.create_subfolder(&self.attention_path())?;
        for &format in formats {
            let name = format!("{ATTENTION}/{name}.{}", format.name());
            self.write(&name, |file| write_dump(dump, format, file))?;
        }
        Ok(())
    }

    /// Writes the manifest of the files so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_manifest(&self) -> Result<(), Failure> {
        let text = self.written.borrow().to_string();
        self.put(MANIFEST, |file| file.write_all(text.as_bytes()))
    }

    /// Adds to the manifest a file that this process has written record by record.
    pub fn record(&self, log: &Log) {
        let name = self.name_of(log.path());
        self.written.borrow_mut().record(&name, log.mark().sha256);
    }

    /// Writes the report, the last file of a run: all others are on the disk before it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_report(&self, text: &str) -> Result<(), Failure> {
        self.remove(&self.checkpoints().superseded()?)?;
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
