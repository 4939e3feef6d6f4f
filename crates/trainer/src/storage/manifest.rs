//! The manifest of a run: the SHA-256 of each of its files, in the format of `sha256sum --check`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

/// The files of a run as Headlight wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Hexadecimal digits, by the path within the run directory.
    files: BTreeMap<String, String>,
}

impl Manifest {
    /// Reads a manifest; `None` if it is not as Headlight wrote it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let files = text.lines().skip(1).map(|line| {
            let (sha256, name) = line.split_once("  ")?;
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            let is_hash = sha256.len() == 2 * Sha256::output_size() && sha256.bytes().all(is_digit);
            // No file outside the run directory.
            let mut parts = Path::new(name).components();
            let is_inside = parts.all(|part| matches!(part, Component::Normal(_)));
            (is_hash && is_inside).then(|| (name.to_owned(), sha256.to_owned()))
        });
        let manifest = Self {
            files: files.collect::<Option<_>>()?,
        };
        // Every run has files.
        (!manifest.files.is_empty() && manifest.to_string() == text).then_some(manifest)
    }

    /// Adds a file, or replaces what is known of it.
    pub(crate) fn record(&mut self, name: &str, sha256: String) {
        self.files.insert(name.to_owned(), sha256);
    }

    /// The files with their hashes, by name.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|(name, sha256)| (name.as_str(), sha256.as_str()))
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By the count, a manifest that was cut short between two lines is noticed.
        writeln!(f, "# {} files, for sha256sum --check", self.files.len())?;
        for (name, sha256) in &self.files {
            writeln!(f, "{sha256}  {name}")?;
        }
        Ok(())
    }
}
