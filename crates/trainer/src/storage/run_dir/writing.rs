//! Writes the files of a run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use headlight_architecture::Parameter;
use headlight_dump::AttentionDump;
use headlight_experiment::config::{DumpFormat, ExperimentConfig};
use serde::Serialize;
use serde_json::Value;

use super::table::{LOSSES, STEP_WEIGHTS, TOKENIZER};
use super::{
    ATTENTION, BEST, BEST_DUMP, CHECKPOINT, CONFIG, ENVIRONMENT, PAGE, REPORT, RunDir, STATE,
    WEIGHTS,
};
use crate::Failure;
use crate::storage::checkpoint::Checkpoint;
use crate::storage::config;
use crate::storage::environment::Environment;
use crate::storage::files::{Log, write_atomically};
use crate::storage::tokenizer;
use crate::storage::weights;

impl RunDir {
    /// Writes the page.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_page(&self, html: &str) -> Result<(), Failure> {
        self.write(PAGE, html.as_bytes())
    }

    /// Writes the resolved config: enough to repeat the run. It comes before any other file of the run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write_config(&self, config: &ExperimentConfig) -> Result<(), Failure> {
        self.write(CONFIG, config::to_toml(config)?.as_bytes())?;
        // Values of columns are no words of a text.
        if let Some(words) = &config.data.words
            && config.data.columns.features.is_empty()
        {
            self.write_json(TOKENIZER, &tokenizer::json(&config.data, words))?;
        }
        Ok(())
    }

    /// Writes `environment.json`. If this process resumes the run from `step`, adds to what was there `before`.
    pub(crate) fn write_environment(
        &self,
        environment: &Environment,
        before: Value,
        step: Option<usize>,
    ) -> Result<(), Failure> {
        match step {
            Some(step) if before.is_object() => {
                self.write_json(ENVIRONMENT, &environment.resumed(before, step))
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
        self.write(name, (text + "\n").as_bytes())
    }

    /// Writes a file, whole or not at all.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        write_atomically(&self.path.join(name), |file| file.write_all(bytes))
    }

    /// Creates a folder of this run's directory, if there is none.
    fn create_subfolder(&self, folder: &str) -> Result<(), Failure> {
        let path = self.path.join(folder);
        fs::create_dir_all(&path).map_err(|error| Failure::writing(&path, &error))
    }

    /// Writes the model's weights.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_weights(&self, parameters: Vec<Parameter>) -> Result<(), Failure> {
        self.write(WEIGHTS, &weights::encode(parameters)?)
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
        self.create_subfolder(STEP_WEIGHTS)?;
        let name = format!("{STEP_WEIGHTS}/step-{step:06}.safetensors");
        self.write(&name, &weights::encode(parameters)?)
    }

    /// Writes the best model: its weights, then its dump in the given formats. Those of an earlier step are gone by now
    /// (`rewind`), so that whatever stops this process, no dump is beside the weights of another step.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_best(
        &self,
        parameters: Vec<Parameter>,
        dump: &AttentionDump,
        formats: &[DumpFormat],
    ) -> Result<(), Failure> {
        self.write(BEST, &weights::encode(parameters)?)?;
        self.write_dump_as(BEST_DUMP, dump, formats)
    }

    /// Writes the loss of each step as an array. `[step]`
    pub(crate) fn write_losses(&self) -> Result<(), Failure> {
        let losses = self.losses()?;
        let npy = headlight_npz::npy(&[losses.len()], &losses);
        let path = self.path.join(LOSSES);
        self.write(
            LOSSES,
            &npy.map_err(|error| Failure::writing(&path, &error))?,
        )
    }

    /// Writes a checkpoint in place of the one before.
    ///
    /// # Errors
    /// When it cannot be written; then the one before stays.
    pub(crate) fn save(&self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        self.write(&format!("{CHECKPOINT}/{STATE}"), &checkpoint.encode()?)
    }

    /// Opens `metrics.jsonl` to append after its first `bytes`; drops the bytes after them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn metrics_log(&self, bytes: u64) -> Result<Log, Failure> {
        open_log(&self.metrics_path(), bytes)
    }

    /// Opens the file with the loss of each step to append after its first `bytes`; drops the bytes after them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn loss_log(&self, bytes: u64) -> Result<Log, Failure> {
        self.create_subfolder(CHECKPOINT)?;
        open_log(&self.loss_log_path(), bytes)
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
        self.create_subfolder(ATTENTION)?;
        for &format in formats {
            let name = format!("{name}.{}", format.name());
            let path = self.attention_path().join(name);
            write_atomically(&path, |file| write_dump(dump, format, file))?;
        }
        Ok(())
    }

    /// Writes the manifest and the report, the last file of a run.
    ///
    /// # Errors
    /// When one cannot be written.
    pub(crate) fn write_report(&self, text: &str) -> Result<(), Failure> {
        self.write_manifest(Some(text))?;
        self.write(REPORT, text.as_bytes())
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

/// Opens a log to append after its first `bytes`.
fn open_log(path: &Path, bytes: u64) -> Result<Log, Failure> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let file = options
        .open(path)
        .map_err(|error| Failure::writing(path, &error))?;
    Log::at(file, path, bytes)
}
