//! Checkpoints: all that is needed to resume a run.

mod bytes;
mod folder;
mod snapshot;

pub use bytes::seal;
pub(crate) use folder::{CHECKPOINT_LIMIT, Checkpoints};
pub use snapshot::Checkpoint;
