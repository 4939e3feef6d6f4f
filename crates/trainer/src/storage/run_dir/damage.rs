//! Which files of a run are damaged. A failure of the machine to read a file is no damage.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{
    ATTENTION, BEST, BEST_DUMP, CERTIFICATE, CONFIG, ENVIRONMENT, LOSSES, MANIFEST, METRICS,
    REPORT, RunDir, TOKENIZER, WEIGHTS, step_of,
};
use crate::Failure;
use crate::storage::checkpoint::Checkpoint;
use crate::storage::files::read_text;
use crate::storage::hash::file_sha256;
use crate::storage::manifest::Manifest;
use crate::storage::paths::{is_file, paths_in};

/// The largest manifest that is read, in bytes: 350,000 dumps.
pub(crate) const MANIFEST_LIMIT: u64 = 32 << 20;

/// The largest `environment.json` that is read, in bytes: thousands of times the arguments of a process.
pub(super) const ENVIRONMENT_LIMIT: u64 = 64 << 20;

/// A file of a run that is missing, or not as Headlight wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Its path within the run directory.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
    /// Whether the manifest lists it.
    #[serde(skip)]
    pub is_listed: bool,
}

impl Damage {
    fn unlisted(file: String, problem: impl Into<String>) -> Self {
        Self {
            file,
            problem: problem.into(),
            is_listed: false,
        }
    }
}

impl RunDir {
    /// The manifest; `None` if it is missing, or not as Headlight wrote it.
    ///
    /// # Errors
    /// When the machine cannot read it.
    pub(super) fn manifest(&self) -> Result<Option<Manifest>, Failure> {
        let text = Failure::separate(read_text(&self.path.join(MANIFEST), MANIFEST_LIMIT))?;
        Ok(text.ok().and_then(|text| Manifest::parse(&text)))
    }

    /// The number of files that the manifest lists.
    ///
    /// # Errors
    /// When the machine cannot read it.
    pub fn listed(&self) -> Result<usize, Failure> {
        let manifest = self.manifest()?;
        Ok(manifest.map_or(0, |manifest| manifest.files().count()))
    }

    /// The files that are missing, or not as Headlight wrote them.
    ///
    /// # Errors
    /// When the machine cannot read a file.
    pub fn damage(&self) -> Result<Vec<Damage>, Failure> {
        let checkpoints = self.checkpoints();
        let newest = checkpoints.newest_whole()?;
        let has_ended = self.has_ended()?;
        let mut found = match self.manifest()? {
            Some(manifest) => {
                let mut found = self.damage_of(&manifest)?;
                if has_ended {
                    found.extend(self.not_listed(&manifest)?);
                }
                found
            }
            None if has_ended || newest.is_some() => {
                vec![Damage::unlisted(MANIFEST.to_owned(), "missing or damaged")]
            }
            None => Vec::new(),
        };
        // What an unfinished run's manifest does not list yet.
        let mut more = checkpoints.damaged()?;
        if !self.is_begun()? {
            more.push((self.config_path(), "missing".to_owned()));
        }
        if let Some(Checkpoint {
            metrics, losses, ..
        }) = newest
        {
            for (path, mark) in [
                (self.metrics_path(), metrics),
                (self.loss_log_path(), losses),
            ] {
                if let Err(reason) = Failure::separate(mark.check(&path))? {
                    more.push((path, reason.to_string()));
                }
            }
        }
        for (path, problem) in more {
            let file = self.name_of(&path);
            if found.iter().all(|known| known.file != file) {
                found.push(Damage::unlisted(file, problem));
            }
        }
        Ok(found)
    }

    /// The listed files that are damaged.
    pub(super) fn damage_of(&self, manifest: &Manifest) -> Result<Vec<Damage>, Failure> {
        let mut damage = Vec::new();
        for (name, sha256) in manifest.files() {
            let problem = match Failure::separate(file_sha256(&self.path.join(name)))? {
                Ok(found) if found == sha256 => continue,
                Ok(_) => "not as Headlight wrote it".to_owned(),
                Err(_) if self.path.join(name).symlink_metadata().is_err() => "missing".to_owned(),
                Err(failure) => format!("damaged: {failure}"),
            };
            damage.push(Damage {
                file: name.to_owned(),
                problem,
                is_listed: true,
            });
        }
        Ok(damage)
    }

    /// The files of an ended run that its manifest lacks: those that every run has, and others that are there.
    fn not_listed(&self, manifest: &Manifest) -> Result<Vec<Damage>, Failure> {
        let each = [CONFIG, ENVIRONMENT, METRICS, LOSSES, WEIGHTS, REPORT];
        let mut paths: Vec<PathBuf> = each.map(|name| self.path.join(name)).into();
        paths.push(self.loss_log_path());
        for name in [TOKENIZER, BEST, CERTIFICATE] {
            let path = self.path.join(name);
            if is_file(&path)? {
                paths.push(path);
            }
        }
        paths.extend(self.checkpoints().newest_first()?);
        paths.extend(self.recorded()?);
        let names = paths.iter().map(|path| self.name_of(path));
        let names = names.filter(|name| !manifest.lists(name));
        let problem = format!("{MANIFEST} does not list it");
        Ok(names
            .map(|name| Damage::unlisted(name, &*problem))
            .collect())
    }

    /// The dumps, in all formats.
    pub(super) fn recorded(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut paths = paths_in(&self.attention_path())?;
        paths.retain(|path| step_of(path).is_some() || is_best_dump(path));
        paths.sort();
        Ok(paths)
    }
}

/// Whether a file of a run is a dump of a step, by its path within the run directory.
pub fn is_dump(name: &str) -> bool {
    name.starts_with(ATTENTION) && step_of(Path::new(name)).is_some()
}

/// Whether a file is a dump of the best model.
pub(super) fn is_best_dump(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == BEST_DUMP)
}
