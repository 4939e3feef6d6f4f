//! Writes the files of a run.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};

use headlight_architecture::Parameter;
use headlight_dump::AttentionDump;
use headlight_experiment::config::{DumpFormat, ExperimentConfig};
use serde::Serialize;

use super::RunDir;
use crate::Failure;
use crate::files::access::write_atomically;
use crate::files::config;
use crate::files::run_files::{ATTENTION, CHECKPOINT, CONFIG, STEP_WEIGHTS};
use crate::files::run_files::{LOSSES, TOKENIZER};
use crate::files::weights;
use crate::run::tokenizer;

impl RunDir {
    /// Writes the resolved config, which is enough to repeat the run, and then creates the folders of the run. Only the
    /// lock is written earlier.
    pub(crate) fn begin(&self, config: &ExperimentConfig) -> Result<(), Failure> {
        self.write(CONFIG, config::to_toml(config)?.as_bytes())?;
        // Values of columns are no words of a text.
        if let Some(words) = &config.data.words
            && config.data.columns.features.is_empty()
        {
            self.write_json(TOKENIZER, &tokenizer::json(&config.data, words))?;
        }
        let weights = config.training.save_weights.then_some(STEP_WEIGHTS);
        for folder in [ATTENTION, CHECKPOINT].into_iter().chain(weights) {
            let path = self.file(folder);
            fs::create_dir_all(&path).map_err(|error| Failure::writing(&path, &error))?;
        }
        Ok(())
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
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        write_atomically(&self.file(name), |file| file.write_all(bytes))
    }

    /// Writes parameters as a weights file.
    pub(crate) fn write_weights(
        &self,
        name: &str,
        parameters: Vec<Parameter>,
    ) -> Result<(), Failure> {
        self.write(name, &weights::encode(parameters)?)
    }

    /// Writes the loss of each step as an array. `[step]`
    pub(crate) fn write_losses(&self) -> Result<(), Failure> {
        let losses = self.losses()?;
        let npy = headlight_npz::npy(&[losses.len()], &losses);
        let npy = npy.map_err(|error| Failure::writing(&self.file(LOSSES), &error))?;
        self.write(LOSSES, &npy)
    }

    /// Writes a dump in the given formats, under a name without its format.
    pub(crate) fn write_dump(
        &self,
        name: &str,
        dump: &AttentionDump,
        formats: &[DumpFormat],
    ) -> Result<(), Failure> {
        for &format in formats {
            let name = format!("{name}.{}", format.name());
            let path = self.file(ATTENTION).join(name);
            write_atomically(&path, |file| write_dump(dump, format, file))?;
        }
        Ok(())
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
