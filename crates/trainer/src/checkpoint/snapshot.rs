//! The content of a checkpoint.

use headlight_experiment::best::BestModel;
use headlight_experiment::train::Progress;
use headlight_experiment::{Experiment, TrainingState};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::files::Mark;
use crate::hash::add_splits;
use crate::reference::Reference;

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

/// A hash of all that a run depends on besides its config: samples, reference run and initial weights.
pub(crate) fn inputs_sha256(experiment: &Experiment, reference: Option<&Reference>) -> String {
    let mut hash = Sha256::new();
    add_splits(&mut hash, &experiment.splits);
    if let Some(reference) = reference {
        reference.add_to_hash(&mut hash);
    }
    for parameter in &experiment.start {
        for value in &parameter.values {
            hash.update(value.to_le_bytes());
        }
    }
    format!("{:x}", hash.finalize())
}
