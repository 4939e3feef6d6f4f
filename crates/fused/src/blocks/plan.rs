//! What all passes of a model share.

use super::places::Places;
use crate::architecture::Architecture;
use crate::training::CrossEntropy;

/// What all passes of a model share.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) architecture: Architecture,
    pub(super) places: Places,
    pub(super) cross_entropy: CrossEntropy,
}
