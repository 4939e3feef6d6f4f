//! Takes a run back to its checkpoint: the files of its end go, and so does what is later than the checkpoint.

use std::fs;
use std::path::Path;

use super::{RunDir, is_temporary, paths_in};
use crate::Failure;
use crate::files::run_files::step_of;
use crate::files::run_files::{
    ATTENTION, BEST, CHECKPOINT, FILES, LOSS_LOG, STATE, STEP_WEIGHTS, WhenWritten,
    is_in_folder_of_run,
};

impl RunDir {
    /// Removes what a run that is trained further no longer is, and what killed processes left unfinished. Keeps the
    /// dumps of the steps that `keeps_dump` accepts. The row of a best model is cut off later: readers look its step up there.
    pub(crate) fn rewind(&self, keeps_dump: impl Fn(usize) -> bool) -> Result<(), Failure> {
        let ends = FILES
            .iter()
            .filter(|file| file.written == WhenWritten::AtEnd);
        for file in ends {
            if file.name == BEST {
                // The dump of the best model never stands without its weights.
                self.clean(ATTENTION, |path| step_of(path).is_some_and(&keeps_dump))?;
            }
            let path = self.file(file.name);
            if path.symlink_metadata().is_ok() {
                remove(&path)?;
            }
        }
        self.clean("", |_| true)?;
        self.clean(CHECKPOINT, |path| {
            path.ends_with(LOSS_LOG) || path.ends_with(STATE)
        })
    }

    /// Removes the weights of evaluations that the run no longer has.
    pub(crate) fn keep_weights(&self, keeps: impl Fn(usize) -> bool) -> Result<(), Failure> {
        self.clean(STEP_WEIGHTS, |path| step_of(path).is_some_and(&keeps))
    }

    /// Removes temporary files from a folder, and those of the run that `keeps` rejects. Others are not the run's.
    fn clean(&self, folder: &str, keeps: impl Fn(&Path) -> bool) -> Result<(), Failure> {
        for path in paths_in(&self.file(folder))? {
            if is_temporary(&path) || is_in_folder_of_run(&path) && !keeps(&path) {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| Failure::writing(path, &error))
}
