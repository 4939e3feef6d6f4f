//! The manifest of a run that has ended, and what is missing or changed since.

use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::table::{FILES, MANIFEST, REPORT, is_in_folder_of_run};
use super::{RunDir, paths_in};
use crate::Failure;
use crate::storage::files::read_text;
use crate::storage::hash::file_sha256;
use crate::storage::manifest::Manifest;

/// The largest manifest that is read, in bytes: 350,000 dumps.
const MANIFEST_LIMIT: u64 = 32 << 20;

/// A file of a run that is missing, or not as Headlight wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Its path within the run directory.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What was found in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The number of files that the manifest lists; 0 if the run has not ended.
    pub files: usize,
    /// The files that are missing or changed.
    pub damage: Vec<Damage>,
}

impl RunDir {
    /// Compares the files of a run with its manifest. A run that has not ended has none.
    ///
    /// # Errors
    /// When the machine cannot read a file.
    pub fn verify(&self) -> Result<Verified, Failure> {
        let path = self.path.join(MANIFEST);
        if path.symlink_metadata().is_err() && !self.has_ended() {
            return Ok(Verified {
                files: 0,
                damage: Vec::new(),
            });
        }
        let text = read_text(&path, MANIFEST_LIMIT).ok();
        let Some(manifest) = text.and_then(|text| Manifest::parse(&text)) else {
            return Ok(Verified {
                files: 0,
                damage: vec![damage(MANIFEST, "missing or damaged")],
            });
        };
        let mut found = Vec::new();
        for (name, sha256) in manifest.files() {
            let path = self.path.join(name);
            if !path.is_file() {
                found.push(damage(name, "missing"));
            } else if file_sha256(&path)? != sha256 {
                found.push(damage(name, "not as Headlight wrote it"));
            }
        }
        Ok(Verified {
            files: manifest.files().count(),
            damage: found,
        })
    }

    /// Writes the manifest of the files so far, and of the report, which comes after it.
    ///
    /// # Errors
    /// When a file cannot be read, or the manifest cannot be written.
    pub(crate) fn write_manifest(&self, report: Option<&str>) -> Result<(), Failure> {
        let mut manifest = Manifest::default();
        for file in FILES.iter().filter(|file| file.is_listed) {
            let path = self.path.join(file.name);
            let mut paths = vec![path.clone()];
            if path.is_dir() {
                paths = paths_in(&path)?;
                paths.retain(|path| is_in_folder_of_run(path));
            }
            for path in paths.into_iter().filter(|path| path.is_file()) {
                manifest.record(&self.name_of(&path), file_sha256(&path)?);
            }
        }
        if let Some(report) = report {
            manifest.record(REPORT, format!("{:x}", Sha256::digest(report)));
        }
        self.write(MANIFEST, manifest.to_string().as_bytes())
    }

    /// A file's path within the run directory.
    fn name_of(&self, path: &Path) -> String {
        let name = path.strip_prefix(&self.path).unwrap_or(path);
        name.to_string_lossy().into_owned()
    }
}

fn damage(file: &str, problem: &str) -> Damage {
    Damage {
        file: file.to_owned(),
        problem: problem.to_owned(),
    }
}
