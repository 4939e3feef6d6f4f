//! How far a run has come.

use super::RunDir;
use crate::files::run_files::{MANIFEST, REPORT};

/// How far a run has come, as its files tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It is being trained, or its process was killed: its last files are not written.
    Training,
    /// A signal stopped it before its last step, and its last files show the model of then.
    Interrupted,
    /// A number became NaN or infinite. It has a manifest, but no report.
    Diverged,
    /// Nothing is left to train.
    Complete,
}

impl RunState {
    /// Whether the run must be resumed before its files are final.
    pub fn is_unfinished(self) -> bool {
        matches!(self, Self::Training | Self::Interrupted)
    }
}

impl RunDir {
    /// How far the run has come. A checkpoint that is missing or damaged says nothing against a report.
    pub fn state(&self) -> RunState {
        if !self.file(REPORT).is_file() {
            return match self.file(MANIFEST).symlink_metadata() {
                Ok(_) => RunState::Diverged,
                Err(_) => RunState::Training,
            };
        }
        let checkpoint = self.checkpoint().ok().flatten();
        let is_before_end = checkpoint.is_some_and(|checkpoint| {
            let training = checkpoint.counters.config["training"].clone();
            serde_json::from_value(training).is_ok_and(|training| !checkpoint.is_at_end(&training))
        });
        if is_before_end {
            RunState::Interrupted
        } else {
            RunState::Complete
        }
    }
}
