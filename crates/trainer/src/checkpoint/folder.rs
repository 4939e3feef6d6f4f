//! A run's checkpoints: the newest two, so that one is left if the other is damaged.

use std::fs;
use std::path::{Path, PathBuf};

use super::snapshot::Checkpoint;
use crate::Failure;
use crate::files::{create_subfolder, read_bounded, sync_names, write_atomically};
use crate::printing::note;

/// The number of checkpoints that are kept.
const KEPT: usize = 2;

const EXTENSION: &str = "checkpoint";

/// The file extension of checkpoints that cannot be used.
const DAMAGED: &str = "damaged";

/// The folder `checkpoint` of a run.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// The checkpoints in a folder, which need not exist yet.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a checkpoint; once it is on the disk, removes all but the newest two.
    ///
    /// # Errors
    /// When it cannot be written; then the earlier ones stay.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), Failure> {
        let bytes = checkpoint.encode()?;
        create_subfolder(&self.folder)?;
        let name = format!("step-{:09}.{EXTENSION}", checkpoint.progress.step);
        write_atomically(&self.folder.join(name), |file| {
            std::io::Write::write_all(file, &bytes)
        })?;
        sync_names(&self.folder)?;
        for old in self.newest_first()?.into_iter().skip(KEPT) {
            // An extra checkpoint does no harm.
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    /// The newest valid checkpoint; `None` if the folder holds no checkpoint. Reports newer, invalid ones on
    /// standard error and renames them.
    ///
    /// A checkpoint is invalid if it is larger than `limit` bytes or damaged, or if `check` returns a reason.
    ///
    /// # Errors
    /// When the folder holds checkpoints but none can be used.
    pub fn newest(
        &self,
        limit: u64,
        check: impl Fn(&Checkpoint) -> Result<(), String>,
    ) -> Result<Option<Checkpoint>, Failure> {
        let paths = self.newest_first()?;
        let mut invalid = Vec::new();
        for path in &paths {
            let read = read_bounded(path, limit).map_err(|failure| failure.to_string());
            let read = read.and_then(|bytes| Checkpoint::decode(&bytes));
            match read.and_then(|checkpoint| check(&checkpoint).map(|()| checkpoint)) {
                Ok(checkpoint) => {
                    if !invalid.is_empty() {
                        note(&format!("using {} instead", path.display()));
                    }
                    // Renamed, so that later checkpoints do not replace them.
                    for path in invalid {
                        let aside = Path::with_extension(path, DAMAGED);
                        fs::rename(path, &aside)
                            .map_err(|error| Failure::writing(&aside, &error))?;
                    }
                    return Ok(Some(checkpoint));
                }
                Err(reason) => {
                    note(&format!("{} cannot be used: {reason}", path.display()));
                    invalid.push(path);
                }
            }
        }
        if paths.is_empty() {
            return Ok(None);
        }
        Err(Failure::Input(format!(
            "no checkpoint in {} can be used; start a new run with another --run",
            self.folder.display()
        )))
    }

    /// The checkpoints, newest first: their names begin with the step.
    fn newest_first(&self) -> Result<Vec<PathBuf>, Failure> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Failure::reading(&self.folder, error)),
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|name| name == EXTENSION))
            .collect();
        paths.sort();
        paths.reverse();
        Ok(paths)
    }
}
