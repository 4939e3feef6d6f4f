//! A run's checkpoints: the newest two, so that one is left if the other is damaged.

use std::fs;
use std::path::{Path, PathBuf};

use super::snapshot::Checkpoint;
use crate::Failure;
use crate::notes::note;
use crate::storage::files::read_bounded;
use crate::storage::paths::{DAMAGED, paths_in};

/// The number of checkpoints that are kept.
const KEPT: usize = 2;

/// The largest checkpoint that is read, in bytes: weights, two moments and the best model of the largest model that a config may
/// ask for take 4 GiB.
pub(crate) const CHECKPOINT_LIMIT: u64 = 5 << 30;

const EXTENSION: &str = "checkpoint";

/// The folder `checkpoint` of a run.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoints {
    folder: PathBuf,
}

impl Checkpoints {
    /// The checkpoints in a folder, which need not exist yet.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file name of a checkpoint.
    pub(crate) fn name(checkpoint: &Checkpoint) -> String {
        format!("step-{:09}.{EXTENSION}", checkpoint.progress.step)
    }

    /// All but the newest two.
    pub(crate) fn superseded(&self) -> Result<Vec<PathBuf>, Failure> {
        Ok(self.newest_first()?.into_iter().skip(KEPT).collect())
    }

    /// The newest valid checkpoint; `None` if the folder holds no checkpoint. Reports newer, invalid ones on
    /// standard error and renames them.
    ///
    /// A checkpoint is invalid if it is larger than `limit` bytes or damaged, or if `check` refuses it.
    ///
    /// # Errors
    /// When the folder holds checkpoints but none can be used, or the machine cannot read them.
    pub(crate) fn newest(
        &self,
        limit: u64,
        check: impl Fn(&Checkpoint) -> Result<(), Failure>,
    ) -> Result<Option<Checkpoint>, Failure> {
        let paths = self.newest_first()?;
        let mut invalid = Vec::new();
        for path in &paths {
            let found =
                read(path, limit).and_then(|checkpoint| check(&checkpoint).map(|()| checkpoint));
            match Failure::separate(found)? {
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

    /// The newest checkpoint that is not damaged.
    ///
    /// # Errors
    /// When the machine cannot read the checkpoints.
    pub(crate) fn newest_whole(&self) -> Result<Option<Checkpoint>, Failure> {
        for path in self.newest_first()? {
            if let Ok(checkpoint) = Failure::separate(read(&path, CHECKPOINT_LIMIT))? {
                return Ok(Some(checkpoint));
            }
        }
        Ok(None)
    }

    /// The damaged checkpoints, each with what is wrong with it.
    ///
    /// # Errors
    /// When the machine cannot read the checkpoints.
    pub(crate) fn damaged(&self) -> Result<Vec<(PathBuf, String)>, Failure> {
        let mut damaged = Vec::new();
        for path in self.newest_first()? {
            if let Err(reason) = Failure::separate(read(&path, CHECKPOINT_LIMIT))? {
                damaged.push((path, reason.to_string()));
            }
        }
        Ok(damaged)
    }

    /// The checkpoints, newest first: their names begin with the step.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn newest_first(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut paths = paths_in(&self.folder)?;
        paths.retain(|path| path.extension().is_some_and(|name| name == EXTENSION));
        paths.sort();
        paths.reverse();
        Ok(paths)
    }
}

fn read(path: &Path, limit: u64) -> Result<Checkpoint, Failure> {
    Checkpoint::decode(&read_bounded(path, limit)?).map_err(Failure::Input)
}
