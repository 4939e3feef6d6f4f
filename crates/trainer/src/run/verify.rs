//! The manifest of a run that has ended or diverged, the SHA-256 of each of its files in the format of `sha256sum --check`; and what is
//! missing or changed since.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use headlight_report::counted;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{RunDir, RunState, paths_in};
use crate::files::access::read_text;
use crate::files::hash::file_sha256;
use crate::files::run_files::{
    CONFIG, ENVIRONMENT, FILES, MANIFEST, REPORT, WhenWritten, is_in_folder_of_run,
};
use crate::{Failure, shown};

/// The largest manifest that is read, in bytes: 350,000 dumps.
const MANIFEST_LIMIT: u64 = 32 << 20;

/// A file of a run that is missing, or not as Headlight wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Its path within the run directory.
    pub file: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// What was found in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How far the run has come. One in training has no manifest.
    pub state: RunState,
    /// The number of files that the manifest lists; 0 without one.
    pub files: usize,
    /// The files that are missing or changed.
    pub damage: Vec<Damage>,
}

impl RunDir {
    /// Compares the files of a run with its manifest. A run that is being trained, or was killed, has none.
    ///
    /// # Errors
    /// When the machine cannot read a file.
    pub fn verify(&self) -> Result<Verification, Failure> {
        let mut found = Verification {
            state: self.state(),
            files: 0,
            damage: Vec::new(),
        };
        if found.state == RunState::Training {
            return Ok(found);
        }
        let mut add = |file: &str, problem| {
            let file = file.to_owned();
            found.damage.push(Damage { file, problem });
        };
        let text = read_text(&self.file(MANIFEST), MANIFEST_LIMIT).ok();
        let Some(files) = text.and_then(|text| parse(&text)) else {
            add(MANIFEST, "missing or damaged");
            return Ok(found);
        };
        for (name, sha256) in &files {
            let path = self.file(name);
            if !path.is_file() {
                add(name, "missing");
            } else if file_sha256(&path)? != *sha256 {
                add(name, "not as Headlight wrote it");
            }
        }
        found.files = files.len();
        Ok(found)
    }

    /// Refuses to call a run whole that is still to be resumed.
    ///
    /// # Errors
    /// When it is; names the remedy.
    pub fn check_ended(&self, found: &Verification) -> Result<(), Failure> {
        if !found.state.is_unfinished() || !found.damage.is_empty() {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "the run in {} has not finished training, so its files are not final; {}",
            shown(&self.path),
            self.how_to_resume()
        )))
    }

    /// Refuses to train a run on whose files are missing or changed since it ended: what stays of them would be listed as
    /// written by Headlight. Files of the end and `environment.json` are written again, and the settings are those of the checkpoint.
    pub(crate) fn check_whole(&self) -> Result<(), Failure> {
        let mut damage = self.verify()?.damage;
        let is_replaced = |name: &str| {
            let mut files = FILES.iter().filter(|file| file.name != MANIFEST);
            [CONFIG, ENVIRONMENT].contains(&name)
                || files.any(|file| file.name == name && file.written == WhenWritten::AtEnd)
        };
        damage.retain(|damaged| !is_replaced(&damaged.file));
        if damage.is_empty() {
            return Ok(());
        }
        Err(self.damage_failure(&damage))
    }

    /// The failure for files that are missing or changed, with the remedy.
    pub fn damage_failure(&self, damage: &[Damage]) -> Failure {
        // Another config trains another model.
        let has_config = self.has_begun() && damage.iter().all(|damaged| damaged.file != CONFIG);
        let remedy = if has_config {
            self.how_to_repeat()
        } else {
            format!("to train the run again, you need a copy of its {CONFIG}, which has changed")
        };
        let first = damage.first().map_or("", |damaged| &damaged.file);
        Failure::Input(format!(
            "{} of the run in {} {} missing or changed, first {first}; {remedy}",
            counted(damage.len(), "file"),
            shown(&self.path),
            if damage.len() == 1 { "is" } else { "are" },
        ))
    }

    /// Writes the manifest of the files so far, and of the report, which comes after it.
    pub(crate) fn write_manifest(&self, report: Option<&str>) -> Result<(), Failure> {
        let mut files = BTreeMap::new();
        for file in FILES.iter().filter(|file| file.is_listed) {
            let path = self.file(file.name);
            let mut paths = vec![path.clone()];
            if path.is_dir() {
                paths = paths_in(&path)?;
                paths.retain(|path| is_in_folder_of_run(path));
            }
            for path in paths.into_iter().filter(|path| path.is_file()) {
                let name = path.strip_prefix(&self.path).unwrap_or(&path);
                files.insert(name.to_string_lossy().into_owned(), file_sha256(&path)?);
            }
        }
        if let Some(report) = report {
            files.insert(REPORT.to_owned(), format!("{:x}", Sha256::digest(report)));
        }
        self.write(MANIFEST, manifest(&files).as_bytes())
    }
}

/// The manifest of files with their hashes. By the count, one that was cut short between two lines is noticed.
fn manifest(files: &BTreeMap<String, String>) -> String {
    let count = format!("# {} files, for sha256sum --check\n", files.len());
    let lines = files.iter();
    let lines = lines.map(|(name, sha256)| format!("{sha256}  {name}\n"));
    [count].into_iter().chain(lines).collect()
}

/// The files of a manifest with their hashes; `None` if it is not as Headlight wrote it.
fn parse(text: &str) -> Option<BTreeMap<String, String>> {
    let files = text.lines().skip(1).map(|line| {
        let (sha256, name) = line.split_once("  ")?;
        // No file outside the run directory.
        let mut parts = Path::new(name).components();
        let is_inside = parts.all(|part| matches!(part, Component::Normal(_)));
        is_inside.then(|| (name.to_owned(), sha256.to_owned()))
    });
    let files: BTreeMap<String, String> = files.collect::<Option<_>>()?;
    // Every run has files.
    (!files.is_empty() && manifest(&files) == text).then_some(files)
}
