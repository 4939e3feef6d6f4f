//! What a checkpoint holds.

use headlight_experiment::TrainingState;
use headlight_experiment::best::BestModel;
use headlight_experiment::train::Progress;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::files::LinesMark;
use crate::hash::add_splits;
use crate::session::Session;

/// A run after some step: every later step follows from it and from the run's config.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where training stands.
    pub progress: Progress,
    /// Weights and Adam's moments.
    pub state: TrainingState,
    /// How far `metrics.jsonl` had come.
    pub metrics: LinesMark,
    /// The best model until then, if one is kept.
    pub best: Option<BestModel>,
    /// The loss of each step, if they are compared with those of a reference run.
    pub losses: Vec<f64>,
    /// The config of these steps.
    pub config: Value,
    /// Of what the config alone does not determine: samples and initial weights.
    pub inputs_sha256: String,
}

/// A hash of all that a run depends on besides its config: samples, a reference run, and the weights that
/// it starts from.
pub fn inputs_sha256(session: &Session) -> String {
    let experiment = &session.experiment;
    let mut hash = Sha256::new();
    add_splits(&mut hash, &experiment.splits);
    if let Some(reference) = &session.reference {
        reference.add_to(&mut hash);
    }
    for parameter in &experiment.start {
        for value in &parameter.values {
            hash.update(value.to_le_bytes());
        }
    }
    format!("{:x}", hash.finalize())
}
