//! What the forward and the backward pass for eight samples share.

use headlight_architecture::ProjectionKind;

use super::additions::{Additions, Gradients};
use super::kernel::Kernel;
use super::probe::Probe;
use super::values::Values;
use crate::architecture::Architecture;
use crate::instructions::Instructions;
use crate::places::Places;
use crate::sums::Sums;
use crate::training::CrossEntropy;

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

/// The passes with one set of parameters.
pub(super) struct Pass<'a, const L: usize> {
    pub(super) architecture: &'a Architecture,
    pub(super) places: &'a Places,
    pub(super) kernel: Kernel<'a>,
    pub(super) values: &'a mut Values<L>,
    pub(super) gradients: Gradients<'a>,
    pub(super) cross_entropy: CrossEntropy,
    /// Reads and replaces values of a forward pass of all rows.
    pub(super) probe: Option<&'a mut dyn Probe<L>>,
    /// Whether the backward pass takes the attention weights as given, so that nothing flows back through the scores.
    pub(super) holds_weights: bool,
}

impl<'a, const L: usize> Pass<'a, L> {
    pub(super) fn new(
        plan: &'a Plan,
        set: Instructions,
        parameters: &'a [f32],
        values: &'a mut Values<L>,
        additions: &'a mut Additions,
        sums: Sums<'a>,
    ) -> Self {
        Self {
            architecture: &plan.architecture,
            places: &plan.places,
            kernel: Kernel::new(&plan.architecture, set, parameters),
            values,
            gradients: Gradients {
                set,
                additions,
                sums,
            },
            cross_entropy: plan.cross_entropy,
            probe: None,
            holds_weights: false,
        }
    }
}
