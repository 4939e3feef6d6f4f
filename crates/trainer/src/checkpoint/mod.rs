//! All that a run needs to go on where it stood.

mod bytes;
mod folder;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::best::Best;
use crate::engine::TrainingState;
use crate::experiment::Experiment;
use crate::files::LinesMark;
use crate::hash::{add_splits, hex};
use crate::train::Progress;

pub use bytes::seal;
pub use folder::Checkpoints;

/// A moment of a run: every later one follows from it and from the run's config.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where training stands.
    pub progress: Progress,
    /// Weights and Adam's moments.
    pub state: TrainingState,
    /// How far `metrics.jsonl` had come.
    pub metrics: LinesMark,
    /// The best model until then, where one is kept.
    pub best: Option<Best>,
    /// The loss of each step, where they are compared with a recorded run's.
    pub losses: Vec<f64>,
    /// The config that it was made with.
    pub config: Value,
    /// What the config alone does not say: samples and initial weights.
    pub inputs_sha256: String,
}

/// A hash of what an experiment takes from elsewhere than its config: samples, a recorded run, and the
/// weights that it starts from.
pub(crate) fn inputs_sha256(experiment: &Experiment) -> String {
    let mut hash = Sha256::new();
    add_splits(&mut hash, &experiment.splits);
    if let Some(reference) = &experiment.reference {
        reference.add_to(&mut hash);
    }
    for parameter in &experiment.start {
        for value in &parameter.values {
            hash.update(value.to_le_bytes());
        }
    }
    hex(&hash.finalize())
}
