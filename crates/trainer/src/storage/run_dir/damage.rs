//! Which files of a run are damaged, and which of them a resumed run writes again.

use std::fs;
use std::io::Write;
use std::path::Path;

use headlight_experiment::config::DumpFormat;
use serde::Serialize;

use super::{ATTENTION, MANIFEST, RunDir, files_in, step_of};
use crate::Failure;
use crate::notes::note;
use crate::storage::checkpoint::{Checkpoint, DAMAGED};
use crate::storage::files::{Log, read_text, sync_names};
use crate::storage::hash::file_sha256;
use crate::storage::manifest::Manifest;

/// The largest manifest that is read, in bytes: 350,000 dumps.
pub(crate) const MANIFEST_LIMIT: u64 = 32 << 20;

/// A file of a run that is missing, or not as Headlight wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Its path within the run directory.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

impl RunDir {
    /// Removes the files that a resumed run writes again: the report, the best model, and every dump whose step `keep`
    /// rejects. Puts damaged dumps and checkpoints aside. Returns the dumps that are damaged or missing, by name.
    ///
    /// # Errors
    /// When a file cannot be removed, or the manifest cannot be written.
    pub fn rewind(&self, keep: impl Fn(usize) -> bool) -> Result<Vec<String>, Failure> {
        self.remove_unfinished()?;
        let attention = self.attention_path();
        let unwanted_dump = |path: &Path| step_of(path).is_some_and(|step| !keep(step));
        // The report comes first: without it, the run has not ended. The best model's dump goes before its weights.
        let best_dumps = DumpFormat::ALL.map(|format| self.best_dump_path(format.name()));
        let mut unwanted = files_in(&self.path, |path| path == self.report_path());
        unwanted.extend(files_in(&attention, |path| {
            best_dumps.iter().any(|dump| dump == path)
        }));
        unwanted.extend(files_in(&self.path, |path| path == self.best_path()));
        unwanted.extend(files_in(&attention, unwanted_dump));
        let mut lost = Vec::new();
        if self.is_begun() {
            self.create_subfolder(&attention)?;
            // The manifest comes first: it may lack a file, but lists none that is not there.
            let mut manifest = self.manifest().map_or_else(|| self.found_dumps(), Ok)?;
            manifest.retain(|name| is_dump(name) && !unwanted_dump(Path::new(name)));
            for Damage { file, problem } in self.damage_of(&manifest) {
                let path = self.path.join(&file);
                if path.is_file() {
                    self.put_aside(&path, &problem)?;
                }
                lost.push(file);
            }
            for (path, problem) in self.checkpoints().damaged() {
                self.put_aside(&path, &problem)?;
            }
            self.written.replace(manifest);
            self.write_manifest()?;
            sync_names(&self.path)?;
        }
        self.remove(&unwanted)?;
        Ok(lost)
    }

    /// Renames a damaged file, so that nothing reads it and nothing replaces it.
    fn put_aside(&self, path: &Path, problem: &str) -> Result<(), Failure> {
        note(&format!("{}: {problem}", path.display()));
        let mut aside = path.as_os_str().to_owned();
        aside.push(".");
        aside.push(DAMAGED);
        self.check_in_place()?;
        fs::rename(path, aside).map_err(|error| Failure::writing(path, &error))
    }

    /// Writes the manifest of the files so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_manifest(&self) -> Result<(), Failure> {
        let text = self.written.borrow().to_string();
        self.put(MANIFEST, |file| file.write_all(text.as_bytes()))
    }

    /// Adds to the manifest a file that this process has written record by record.
    pub fn record(&self, log: &Log) {
        let name = self.name_of(log.path());
        self.written.borrow_mut().record(&name, log.mark().sha256);
    }

    /// The manifest; `None` if it is missing, or not as Headlight wrote it.
    fn manifest(&self) -> Option<Manifest> {
        let text = read_text(&self.path.join(MANIFEST), MANIFEST_LIMIT).ok()?;
        Manifest::parse(&text)
    }

    /// The number of files that the manifest lists.
    pub fn listed(&self) -> usize {
        self.manifest()
            .map_or(0, |manifest| manifest.files().count())
    }

    /// A manifest of the dumps as they are, for a run without one.
    fn found_dumps(&self) -> Result<Manifest, Failure> {
        let mut manifest = Manifest::default();
        let dumps = files_in(&self.attention_path(), |path| step_of(path).is_some());
        // Before the first checkpoint there is no manifest yet.
        if !dumps.is_empty() && self.checkpoints().newest_whole().is_some() {
            note(&format!(
                "{MANIFEST} is missing or damaged, so that Headlight cannot tell whether the dumps of this run were changed; it keeps them"
            ));
        }
        for path in dumps {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            manifest.record(&format!("{ATTENTION}/{name}"), file_sha256(&path)?);
        }
        Ok(manifest)
    }

    /// The files that are missing, or not as Headlight wrote them.
    pub fn damage(&self) -> Vec<Damage> {
        let checkpoints = self.checkpoints();
        let newest = checkpoints.newest_whole();
        let mut found = match self.manifest() {
            Some(manifest) => self.damage_of(&manifest),
            None if self.has_ended() || newest.is_some() => vec![Damage {
                file: MANIFEST.to_owned(),
                problem: "missing or damaged".to_owned(),
            }],
            None => Vec::new(),
        };
        // What an unfinished run's manifest does not list yet.
        let mut more = checkpoints.damaged();
        if let Some(Checkpoint {
            metrics, losses, ..
        }) = newest
        {
            for (path, mark) in [
                (self.metrics_path(), metrics),
                (self.loss_log_path(), losses),
            ] {
                more.extend(mark.check(&path).err().map(|reason| (path, reason)));
            }
        }
        for (path, problem) in more {
            let file = self.name_of(&path);
            if found.iter().all(|known| known.file != file) {
                found.push(Damage { file, problem });
            }
        }
        found
    }

    fn damage_of(&self, manifest: &Manifest) -> Vec<Damage> {
        let problem = |name: &str, sha256: &str| {
            let path = self.path.join(name);
            if path.symlink_metadata().is_err() {
                return Some("missing".to_owned());
            }
            match file_sha256(&path) {
                Ok(found) if found == sha256 => None,
                Ok(_) => Some("not as Headlight wrote it".to_owned()),
                Err(failure) => Some(format!("damaged: {failure}")),
            }
        };
        let files = manifest.files();
        let damaged = files.filter_map(|(name, sha256)| {
            let file = name.to_owned();
            problem(name, sha256).map(|problem| Damage { file, problem })
        });
        damaged.collect()
    }
}

/// Whether a file of a run is a dump, by its path within the run directory.
pub fn is_dump(name: &str) -> bool {
    name.starts_with(ATTENTION) && step_of(Path::new(name)).is_some()
}
