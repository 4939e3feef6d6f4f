//! What a run depends on besides its config.

use headlight_experiment::Experiment;
use sha2::{Digest, Sha256};

use crate::storage::hash::add_splits;

/// A hash of all that a run depends on besides its config: samples and initial weights.
pub(crate) fn inputs_sha256(experiment: &Experiment) -> String {
    let mut hash = Sha256::new();
    add_splits(&mut hash, &experiment.splits);
    for parameter in &experiment.start {
        for value in &parameter.values {
            hash.update(value.to_le_bytes());
        }
    }
    format!("{:x}", hash.finalize())
}
