//! Reads what a run has written so far.

use std::path::{Path, PathBuf};

use headlight_analysis::certificate::Certificate;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::StepMetrics;
use serde::de::DeserializeOwned;

use super::{RunDir, paths_in};
use crate::Failure;
use crate::files::access::{read_bounded, read_json_lines};
use crate::files::config;
use crate::files::run_files::{
    ATTENTION, CERTIFICATE, CONFIG, LOSS_LOG, METRICS, STATE, WEIGHTS, step_of,
};
use crate::files::weights;
use crate::run::checkpoint::Checkpoint;

/// The largest checkpoint that is read, in bytes: weights, two moments and the best model of the largest model that a config
/// may ask for take 4 GiB.
const CHECKPOINT_LIMIT: u64 = 5 << 30;

/// The largest JSON file that is read, in bytes: a certificate has up to 1,500 for each of 65,536 classes.
const JSON_LIMIT: u64 = 128 << 20;

impl RunDir {
    /// Reads the config back.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn config(&self) -> Result<ExperimentConfig, Failure> {
        config::load(&self.file(CONFIG), &[])
    }

    /// A file of the run as JSON, if it is there.
    pub(crate) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Failure> {
        let path = self.path.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        let value = serde_json::from_slice(&read_bounded(&path, JSON_LIMIT)?);
        value
            .map(Some)
            .map_err(|error| Failure::reading(&path, error))
    }

    /// Reads the loss of each step that is written so far. `[step]`
    pub(crate) fn losses(&self) -> Result<Vec<f32>, Failure> {
        let bytes = read_bounded(&self.file(LOSS_LOG), u64::MAX)?;
        Ok(weights::float32(&bytes))
    }

    /// Reads `metrics.jsonl`, and keeps what `take` returns for each row.
    pub(crate) fn metrics<T>(
        &self,
        take: impl FnMut(serde_json::Value) -> Option<T>,
    ) -> Result<Vec<T>, Failure> {
        read_json_lines(&self.file(METRICS), u64::MAX, take)
    }

    /// The evaluations in `metrics.jsonl`.
    pub(crate) fn step_metrics(&self) -> Result<Vec<StepMetrics>, Failure> {
        self.step_metrics_of(u64::MAX)
    }

    /// The evaluations in the first `bytes` of `metrics.jsonl`.
    pub(crate) fn step_metrics_of(&self, bytes: u64) -> Result<Vec<StepMetrics>, Failure> {
        let path = self.file(METRICS);
        let rows = read_json_lines(&path, bytes, |row| Some(StepMetrics::read(&row)))?;
        let rows: Option<Vec<StepMetrics>> = rows.into_iter().collect();
        rows.ok_or_else(|| Failure::reading(&path, "it has rows that are not metrics"))
    }

    /// The last row of `metrics.jsonl`; `None` before the first evaluation.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn last_metrics(&self) -> Result<Option<serde_json::Value>, Failure> {
        Ok(self.metrics(Some)?.pop())
    }

    /// How the model answers all possible inputs, if that was counted after training.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn certificate(&self) -> Result<Option<Certificate>, Failure> {
        self.json(CERTIFICATE)
    }

    /// Whether the run has the weights of a trained model.
    pub(crate) fn has_weights(&self) -> bool {
        self.file(WEIGHTS).is_file()
    }

    /// The npz dumps, by step; that of the best model is not among them.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn dumps(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut paths = paths_in(&self.file(ATTENTION))?;
        let is_npz = |path: &Path| path.extension().is_some_and(|extension| extension == "npz");
        paths.retain(|path| is_npz(path) && *path != self.best_npz());
        paths.sort_by_key(|path| step_of(path));
        Ok(paths)
    }

    /// The checkpoint, from which the run can be resumed; `None` if there is none.
    pub(crate) fn checkpoint(&self) -> Result<Option<Checkpoint>, Failure> {
        let path = self.file(STATE);
        if !path.is_file() {
            return Ok(None);
        }
        let checkpoint = Checkpoint::decode(&read_bounded(&path, CHECKPOINT_LIMIT)?);
        checkpoint
            .map(Some)
            .map_err(|reason| Failure::reading(&path, reason))
    }
}
