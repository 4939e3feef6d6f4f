//! SHA-256 of what a run depends on.

use std::fmt::Write;
use std::io;
use std::path::Path;

use headlight_data::Splits;
use headlight_input::FILE_LIMIT;
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::files::open;

/// Bytes in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The hash of a file.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn of_file(path: &Path) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    io::copy(&mut open(path, FILE_LIMIT)?, &mut hash)
        .map_err(|error| Failure::reading(path, error))?;
    Ok(hex(&hash.finalize()))
}

/// Adds all samples of a dataset.
pub(crate) fn add_splits(hash: &mut Sha256, splits: &Splits) {
    for split in [&splits.train, &splits.held_out] {
        hash.update((split.len() as u64).to_le_bytes());
        for token in split.all_tokens() {
            hash.update(token.to_le_bytes());
        }
        for &label in split.labels() {
            hash.update([u8::from(label)]);
        }
    }
}
