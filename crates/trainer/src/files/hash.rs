//! SHA-256 of files, and of the inputs of a run.

use std::io;
use std::path::Path;

use headlight_architecture::Parameter;
use headlight_data::Splits;
use headlight_experiment::Experiment;
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::files::access::open;

/// The SHA-256 of a file, in hexadecimal digits.
pub(crate) fn file_sha256(path: &Path) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    io::copy(&mut open(path, u64::MAX)?, &mut hash)
        .map_err(|error| Failure::unreadable(path, &error))?;
    Ok(format!("{:x}", hash.finalize()))
}

/// A hash of all that a run depends on besides its config: samples and initial weights.
pub(crate) fn inputs_sha256(experiment: &Experiment) -> String {
    let mut hash = Sha256::new();
    add_splits(&mut hash, &experiment.splits);
    add_parameters(&mut hash, &experiment.start);
    format!("{:x}", hash.finalize())
}

/// Adds the values of parameters to a hash.
pub fn add_parameters(hash: &mut Sha256, parameters: &[Parameter]) {
    for value in parameters.iter().flat_map(|parameter| &parameter.values) {
        hash.update(value.to_le_bytes());
    }
}

/// Adds all samples of a dataset to a hash.
pub fn add_splits(hash: &mut Sha256, splits: &Splits) {
    let both = [&splits.train, &splits.held_out].into_iter();
    for split in both.chain(&splits.tests) {
        hash.update((split.len() as u64).to_le_bytes());
        for token in split.all_tokens() {
            hash.update(token.to_le_bytes());
        }
        // A byte of each label, and the others only where a label needs them: files of up to 256 classes keep their hashes.
        let labels = split.labels();
        let most = labels.iter().copied().max().unwrap_or(0);
        for byte in (0..4).filter(|&byte| byte == 0 || most >> (8 * byte) > 0) {
            let bytes = labels.iter().map(|label| label.to_le_bytes()[byte]);
            hash.update(bytes.collect::<Vec<u8>>());
        }
        for weight in split.weights().unwrap_or_default() {
            hash.update(weight.to_le_bytes());
        }
    }
}
