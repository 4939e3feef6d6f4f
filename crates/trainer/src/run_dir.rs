//! The folder that holds all of a run.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use headlight_dump::AttentionDump;
use headlight_model::TransformerClassifier;
use serde::Serialize;

use crate::config::{DumpFormat, ExperimentConfig};
use crate::files::{LineFile, json_lines, write_whole};
use crate::{Failure, config, weights};

/// Where runs go that are given no folder of their own.
const RUNS: &str = "runs";

/// A run's folder.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Makes the folder `path`, which must not exist yet.
    ///
    /// # Errors
    /// When it exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Failure::writing(parent, &error))?;
        }
        fs::create_dir(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Failure::Input(format!(
                "the run directory {} exists already; a run never writes over another: name a new one with --run",
                path.display()
            )),
            _ => Failure::writing(path, &error),
        })?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Makes the first free folder of `runs/NAME-1`, `runs/NAME-2`, ...
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create_numbered(name: &str) -> Result<Self, Failure> {
        fs::create_dir_all(RUNS).map_err(|error| Failure::writing(Path::new(RUNS), &error))?;
        let mut number = 1;
        loop {
            let path = Path::new(RUNS).join(format!("{name}-{number}"));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(Failure::writing(&path, &error)),
            }
        }
    }

    /// A folder that a run was written to.
    ///
    /// # Errors
    /// When it is none.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let run = Self {
            path: path.to_owned(),
        };
        if run.config_path().is_file() {
            return Ok(run);
        }
        Err(Failure::reading(
            path,
            "it is no run directory (it holds no config.toml)",
        ))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn config_path(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    fn weights_path(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    fn metrics_path(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// Writes the config, as resolved: enough to repeat the run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_config(&self, config: &ExperimentConfig) -> Result<(), Failure> {
        let text = toml::to_string(config)
            .map_err(|error| Failure::System(format!("the config cannot be written: {error}")))?;
        self.write_text("config.toml", &text)
    }

    /// Reads the config back.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn config(&self) -> Result<ExperimentConfig, Failure> {
        config::load(&self.config_path(), &[])
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
        write_whole(&self.path.join(name), |file| {
            file.write_all(text.as_bytes())
        })
    }

    /// Writes the model's weights.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_weights(&self, model: &TransformerClassifier) -> Result<(), Failure> {
        weights::save(model, &self.weights_path())
    }

    /// Puts the run's weights into a model.
    ///
    /// # Errors
    /// When they are missing or damaged.
    pub fn load_weights(
        &self,
        model: TransformerClassifier,
    ) -> Result<TransformerClassifier, Failure> {
        weights::load(model, &self.weights_path())
    }

    /// Starts `metrics.jsonl`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn metrics_log(&self) -> Result<LineFile, Failure> {
        let path = self.metrics_path();
        let file = File::create_new(&path).map_err(|error| Failure::writing(&path, &error))?;
        LineFile::at(file, &path, 0)
    }

    /// What `take` makes of each line of `metrics.jsonl`.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn metrics<T>(
        &self,
        take: impl FnMut(serde_json::Value) -> Option<T>,
    ) -> Result<Vec<T>, Failure> {
        json_lines(&self.metrics_path(), take)
    }

    /// Writes a dump in the given formats, named after its step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_dump(&self, dump: &AttentionDump, formats: &[DumpFormat]) -> Result<(), Failure> {
        let folder = self.attention_path();
        fs::create_dir_all(&folder).map_err(|error| Failure::writing(&folder, &error))?;
        for &format in formats {
            let name = format!(
                "step-{:06}.{}",
                dump.meta.step.unwrap_or(0),
                format.ending()
            );
            write_dump(dump, format, &folder.join(name))?;
        }
        Ok(())
    }

    /// Whether the run has ended, with its report written.
    pub fn has_ended(&self) -> bool {
        self.path.join(REPORT).exists()
    }

    /// Writes the report, the last file of a run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_report(&self, text: &str) -> Result<(), Failure> {
        self.write_text(REPORT, text)
    }

    /// The npz dumps, by step.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn dumps(&self) -> Result<Vec<PathBuf>, Failure> {
        let folder = self.attention_path();
        let entries = fs::read_dir(&folder).map_err(|error| Failure::reading(&folder, error))?;
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "npz"))
            .collect();
        paths.sort_by_key(|path| step_of(path));
        Ok(paths)
    }

    fn attention_path(&self) -> PathBuf {
        self.path.join("attention")
    }
}

/// What says that a run has ended.
const REPORT: &str = "report.md";

/// The step that a dump's file name says.
pub fn step_of(path: &Path) -> Option<usize> {
    path.file_stem()?
        .to_str()?
        .strip_prefix("step-")?
        .parse()
        .ok()
}

/// Writes a dump to a file.
///
/// # Errors
/// When it cannot be written.
pub fn write_dump(dump: &AttentionDump, format: DumpFormat, path: &Path) -> Result<(), Failure> {
    write_whole(path, |file| match format {
        DumpFormat::Npz => dump.write_npz(file),
        DumpFormat::Json => dump.write_json(file),
        DumpFormat::Csv => dump.write_csv(file),
    })
}
