//! Checkpoints: all that is needed to resume a run.

mod bytes;
mod folder;
mod snapshot;

pub use bytes::seal;
pub use folder::{Checkpoints, DAMAGED};
pub use snapshot::{Checkpoint, inputs_sha256};
