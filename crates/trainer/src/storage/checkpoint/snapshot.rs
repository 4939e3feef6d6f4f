//! The content of a checkpoint.

use headlight_experiment::TrainingState;
use headlight_experiment::best::BestModel;
use headlight_experiment::train::Progress;
use serde_json::Value;

use crate::storage::files::Mark;

/// The state of a run after a step. With the run's config, it determines every later step.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The progress of training.
    pub progress: Progress,
    /// Weights and Adam's moments.
    pub state: TrainingState,
    /// The length and the hash of `metrics.jsonl` then.
    pub metrics: Mark,
    /// Those of the file with the loss of each step.
    pub losses: Mark,
    /// The best model so far, if the config keeps one.
    pub best: Option<BestModel>,
    /// The config of these steps.
    pub config: Value,
    /// The hash from `inputs_sha256`.
    pub inputs_sha256: String,
}
