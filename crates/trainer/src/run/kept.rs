//! Which of a run's models its readers use.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use headlight_experiment::best::best_evaluation;
use headlight_experiment::config::ExperimentConfig;

use super::{RunDir, RunState};
use crate::files::run_files::{ATTENTION, BEST, BEST_DUMP, WEIGHTS};
use crate::{Failure, note, shown};

/// A model of a run, with its weights in a file of the run directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptModel {
    /// The file of its weights.
    pub weights: PathBuf,
    /// Whether it is the model of the best evaluation, and not that after the last step.
    pub is_best: bool,
    /// The steps that it was trained for; `None` if that is unknown.
    pub step: Option<usize>,
    /// The last step of the run that was evaluated.
    steps: Option<usize>,
}

impl fmt::Display for KeptModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = if self.is_best { "best" } else { "last" };
        write!(f, "the {which} one")?;
        match (self.step, self.steps) {
            (Some(step), Some(steps)) if self.is_best => write!(f, ", step {step} of {steps}"),
            (Some(step), _) => write!(f, ", step {step}"),
            (None, _) => Ok(()),
        }
    }
}

impl RunDir {
    /// The model that readers of the run use: the best one if the run has kept it, or else the last one.
    pub fn kept_model(&self, config: &ExperimentConfig) -> KeptModel {
        let is_best = config.training.keep_best.is_some() && self.file(BEST).is_file();
        self.model(config, is_best)
    }

    /// The weights that a reader uses: those of a file that the user names, or else of the model that readers use by
    /// default. Also which model of the run that is; `None` if the file is not one of the run's.
    ///
    /// # Errors
    /// When the run has no weights yet.
    pub fn chosen_model(
        &self,
        config: &ExperimentConfig,
        weights: Option<&Path>,
    ) -> Result<(PathBuf, Option<KeptModel>), Failure> {
        let Some(named) = weights else {
            let kept = self.kept_model(config);
            if !kept.weights.is_file() {
                return Err(Failure::Input(format!(
                    "{} is not there: training was stopped before its end, or the file was deleted; {}",
                    shown(&kept.weights),
                    self.how_to_resume()
                )));
            }
            if config.training.keep_best.is_some()
                && !kept.is_best
                && self.state() != RunState::Training
            {
                note(&format!(
                    "{} is not there; the model after the last step takes its place",
                    shown(&self.file(BEST))
                ));
            }
            return Ok((kept.weights.clone(), Some(kept)));
        };
        let path = self.path_of(named);
        let given = fs::canonicalize(&path).ok();
        let is = |path: &Path| given.is_some() && fs::canonicalize(path).ok() == given;
        let is_best = is(&self.file(BEST));
        let is_kept = is_best || is(&self.file(WEIGHTS));
        let kept = is_kept.then(|| self.model(config, is_best));
        Ok((path, kept))
    }

    fn model(&self, config: &ExperimentConfig, is_best: bool) -> KeptModel {
        // A model is read without its metrics, too.
        let rows = self.step_metrics().unwrap_or_default();
        let best = best_evaluation(&config.training, &rows);
        let steps = rows.last().map(|row| row.step);
        let (weights, step) = if is_best {
            (self.file(BEST), best.map(|best| rows[best].step))
        } else {
            (self.file(WEIGHTS), steps)
        };
        KeptModel {
            weights,
            is_best,
            step,
            steps,
        }
    }

    /// The evaluation of the model that readers of the run use; `None` before the first evaluation.
    ///
    /// # Errors
    /// When `metrics.jsonl` is missing or damaged.
    pub fn kept_metrics(
        &self,
        config: &ExperimentConfig,
    ) -> Result<Option<serde_json::Value>, Failure> {
        let best = self.kept_model(config);
        let step = best.step.map(|step| step as u64);
        let is_kept = |row: &serde_json::Value| !best.is_best || row["step"].as_u64() == step;
        Ok(self.metrics(Some)?.into_iter().rfind(is_kept))
    }

    /// The npz dump of the best model, which the run may lack.
    pub(super) fn best_npz(&self) -> PathBuf {
        self.file(ATTENTION).join(format!("{BEST_DUMP}.npz"))
    }

    /// The npz dump of the best model, with its step; `None` if the run has none.
    ///
    /// # Errors
    /// When the config is damaged.
    pub fn best_dump(&self) -> Result<Option<(usize, PathBuf)>, Failure> {
        let path = self.best_npz();
        if !path.is_file() {
            return Ok(None);
        }
        let kept = self.kept_model(&self.config()?);
        Ok(kept.step.filter(|_| kept.is_best).map(|step| (step, path)))
    }
}
