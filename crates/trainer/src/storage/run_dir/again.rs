//! What a resumed run keeps of the files so far.
//!
//! If a run is trained further, its last files no longer show what it is: they go, once everything is read that can fail to
//! be. If nothing is left to train, the run is repaired: nothing goes, the manifest stays until a complete one replaces it,
//! and what is damaged is written again.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::damage::is_best_dump;
use super::{CERTIFICATE, MANIFEST, RunDir, is_dump, step_of};
use crate::Failure;
use crate::notes::note;
use crate::storage::files::sync_names;
use crate::storage::hash::file_sha256;
use crate::storage::paths::{damaged_name, is_file};
use crate::storage::standard::shown;

/// What a resumed run found.
#[derive(Debug, Default)]
pub struct Rewound {
    /// The dumps that are damaged or missing, by name.
    pub lost: Vec<String>,
    /// Whether the run had ended.
    had_ended: bool,
    /// The other files that go because the run is trained further.
    outdated: Vec<PathBuf>,
}

impl RunDir {
    /// Finds what a resumed run keeps: the dumps whose step `keep` accepts; in a repair, all that is whole. Puts damaged
    /// dumps and checkpoints aside.
    ///
    /// # Errors
    /// When a file cannot be read, put aside or removed.
    pub fn rewind(
        &self,
        keep: impl Fn(usize) -> bool,
        is_repair: bool,
    ) -> Result<Rewound, Failure> {
        self.remove_unfinished()?;
        if !self.is_begun()? {
            return Ok(Rewound::default());
        }
        let known = self.manifest()?;
        let has_manifest = known.is_some();
        let mut manifest = known.unwrap_or_default();
        let is_kept = |path: &Path| step_of(path).is_some_and(&keep);
        if !is_repair {
            manifest.retain(|name| is_dump(name) && is_kept(Path::new(name)));
        }
        let damage = self.damage_of(&manifest)?;
        let mut aside = self.checkpoints().damaged()?;
        let (mut unknown, mut unwanted) = (Vec::new(), Vec::new());
        for path in self.recorded()? {
            let name = self.name_of(&path);
            if manifest.lists(&name) {
                continue;
            }
            if !is_kept(&path) {
                unwanted.push(path);
                continue;
            }
            match Failure::separate(file_sha256(&path))? {
                Ok(sha256) => unknown.push((name, sha256)),
                Err(reason) => aside.push((path, reason.to_string())),
            }
        }
        // Before the first checkpoint there is no manifest yet.
        if !unknown.is_empty() && (has_manifest || self.checkpoints().newest_whole()?.is_some()) {
            note(&format!(
                "{MANIFEST} is missing or damaged, so that Headlight cannot tell whether the dumps of this run were changed; it keeps them"
            ));
        }
        let mut rewound = Rewound::default();
        if is_repair {
            // The best model's dumps are written again.
            unwanted.retain(|path| !is_best_dump(path));
            let foreign = |path| (path, "it is not a dump of this run".to_owned());
            aside.extend(unwanted.into_iter().map(foreign));
        } else {
            rewound.had_ended = self.has_ended()?;
            // The best model's dumps go before its weights.
            unwanted.sort_by_key(|path| !is_best_dump(path));
            let best = is_file(&self.best_path())?.then(|| self.best_path());
            let after = unwanted.partition_point(|path| is_best_dump(path));
            unwanted.splice(after..after, best);
            rewound.outdated = unwanted;
            let certificate = self.path.join(CERTIFICATE);
            rewound
                .outdated
                .extend(is_file(&certificate)?.then_some(certificate));
        }

        let damaged: BTreeSet<&str> = damage.iter().map(|damage| &*damage.file).collect();
        for damage in damage.iter().filter(|damage| is_dump(&damage.file)) {
            aside.push((self.path.join(&damage.file), damage.problem.clone()));
            rewound.lost.push(damage.file.clone());
        }
        for (path, problem) in aside {
            self.put_aside(&path, &problem)?;
        }
        manifest.retain(|name| is_dump(name) || !damaged.contains(name));
        for (name, sha256) in unknown {
            manifest.record(&name, sha256);
        }
        if is_repair {
            let whole = manifest.files().map(|(name, _)| name);
            let whole = whole.filter(|name| !damaged.contains(name));
            self.whole.replace(whole.map(str::to_owned).collect());
        }
        self.written.replace(manifest);
        Ok(rewound)
    }

    /// Removes what is outdated in a run that is trained further.
    ///
    /// # Errors
    /// When a file cannot be removed, or the manifest cannot be written.
    pub fn remove_outdated(&self, rewound: &Rewound) -> Result<(), Failure> {
        // The manifest comes first: it may lack a file, but lists none that is not there.
        self.write_manifest()?;
        // At once: without its report, the run has not ended, and its manifest may lack files.
        if rewound.had_ended && is_file(&self.report_path())? {
            self.remove(&[self.report_path()])?;
        }
        sync_names(&self.path)?;
        self.remove(&rewound.outdated)
    }

    /// Renames what is damaged, if it is there, so that nothing reads it and nothing replaces it.
    pub(super) fn put_aside(&self, path: &Path, problem: &str) -> Result<(), Failure> {
        let aside = damaged_name(path)?;
        self.check_in_place()?;
        match fs::rename(path, &aside) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            renamed => renamed.map_err(|error| Failure::writing(path, &error))?,
        }
        let (path, aside) = (shown(path), shown(&aside));
        note(&format!("{path}: {problem}; it is now {aside}"));
        Ok(())
    }
}
