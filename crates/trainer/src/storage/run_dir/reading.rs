//! Reads what a run has written so far.

use std::fs;
use std::path::{Path, PathBuf};

use headlight_experiment::certificate::Certificate;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::StepMetrics;
use headlight_input::TEXT_LIMIT;
use serde_json::Value;

use super::damage::ENVIRONMENT_LIMIT;
use super::{CERTIFICATE, CHECKPOINTS, ENVIRONMENT, REPORT, RunDir, step_of};
use crate::Failure;
use crate::storage::checkpoint::Checkpoints;
use crate::storage::config;
use crate::storage::files::{read_bounded, read_json_lines};
use crate::storage::paths::{is_file, paths_in};
use crate::storage::weights;

impl RunDir {
    /// Reads the config back.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn config(&self) -> Result<ExperimentConfig, Failure> {
        config::load(&self.config_path(), &[])
    }

    /// The paths of the config, as the dumps of the run name them; null if that is unknown.
    ///
    /// # Errors
    /// When the machine cannot read `environment.json`.
    pub(crate) fn recorded_paths(&self) -> Result<Value, Failure> {
        let text = Failure::separate(read_bounded(
            &self.path.join(ENVIRONMENT),
            ENVIRONMENT_LIMIT,
        ))?;
        let environment: Value = text
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        Ok(environment["paths"].clone())
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

    /// The evaluations in `metrics.jsonl`.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn step_metrics(&self) -> Result<Vec<StepMetrics>, Failure> {
        let rows = self.metrics(|row| Some(StepMetrics::read(&row)))?;
        let rows: Option<Vec<StepMetrics>> = rows.into_iter().collect();
        rows.ok_or_else(|| {
            Failure::reading(&self.metrics_path(), "it has rows that are not metrics")
        })
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

    /// How the model answers all possible inputs, if that was counted after training.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn certificate(&self) -> Result<Option<Certificate>, Failure> {
        let path = self.path.join(CERTIFICATE);
        if !is_file(&path)? {
            return Ok(None);
        }
        let certificate = serde_json::from_slice(&read_bounded(&path, TEXT_LIMIT)?);
        certificate
            .map(Some)
            .map_err(|error| Failure::reading(&path, error))
    }

    /// Whether the run has the weights of a trained model.
    ///
    /// # Errors
    /// When the machine cannot tell.
    pub(crate) fn has_weights(&self) -> Result<bool, Failure> {
        is_file(&self.weights_path())
    }

    /// Whether the run has ended: its report is written, or was, by the manifest.
    ///
    /// # Errors
    /// When the machine cannot tell.
    pub fn has_ended(&self) -> Result<bool, Failure> {
        Ok(is_file(&self.report_path())?
            || self.manifest()?.is_some_and(|files| files.lists(REPORT)))
    }

    /// The npz dumps, by step; that of the best model is not among them.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn dumps(&self) -> Result<Vec<PathBuf>, Failure> {
        let folder = self.attention_path();
        fs::read_dir(&folder).map_err(|error| Failure::unreadable(&folder, &error))?;
        let mut paths = paths_in(&folder)?;
        let is_npz = |path: &Path| path.extension().is_some_and(|extension| extension == "npz");
        paths.retain(|path| is_npz(path) && *path != self.best_dump_path("npz"));
        paths.sort_by_key(|path| step_of(path));
        Ok(paths)
    }

    /// The checkpoints, from which the run can be resumed.
    pub(crate) fn checkpoints(&self) -> Checkpoints {
        Checkpoints::at(self.path.join(CHECKPOINTS))
    }
}
