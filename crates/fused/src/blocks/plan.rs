//! What all passes of a model share.

use crate::architecture::Architecture;
use crate::places::Places;
use crate::training::CrossEntropy;
use headlight_architecture::ProjectionKind;

/// What all passes of a model share.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) architecture: Architecture,
    pub(super) places: Places,
    pub(super) cross_entropy: CrossEntropy,
}

impl Plan {
    /// Whether a pass adds to some parameters more than once: to projections that queries, keys and values share, where keys and
    /// values are not computed. Then the additions of eight samples must be done before those of the next, so that sums keep
    /// their order.
    pub(super) fn adds_repeatedly(&self) -> bool {
        let is_shared = self.architecture.model.attention.projections == ProjectionKind::Shared;
        is_shared && self.architecture.folds_keys()
    }
}
