//! What the forward and the backward pass for eight samples share.

use super::additions::Additions;
use super::plan::Plan;
use super::probe::Probe;
use super::products::{Weights, project};
use super::values::Values;
use crate::architecture::Architecture;
use crate::instructions::Instructions;
use crate::lanes::Lanes;
use crate::places::{Block, Linear, Places, padded};
use crate::training::CrossEntropy;

/// The passes with one set of parameters.
pub(super) struct Pass<'a, const L: usize> {
    pub(super) architecture: &'a Architecture,
    pub(super) places: &'a Places,
    pub(super) parameters: &'a [f32],
    pub(super) values: &'a mut Values<L>,
    pub(super) additions: &'a mut Additions,
    /// The positions that are computed: all, or those up to the last one that is not padding.
    pub(super) positions: usize,
    pub(super) instructions: Instructions,
    pub(super) cross_entropy: CrossEntropy,
    /// Reads and replaces values of a forward pass of all rows.
    pub(super) probe: Option<&'a mut dyn Probe<L>>,
    /// Whether the backward pass takes the attention weights as given, so that nothing flows back through the scores.
    pub(super) holds_weights: bool,
}

/// Sizes that most parts of a pass use.
pub(super) struct Sizes {
    /// Positions that are computed.
    pub(super) p: usize,
    /// Padded `d_model`.
    pub(super) width: usize,
    pub(super) d: usize,
    pub(super) d_head: usize,
    pub(super) heads: usize,
    /// Padded width of all heads together.
    pub(super) inner: usize,
}

impl<'a, const L: usize> Pass<'a, L> {
    pub(super) fn new(
        plan: &'a Plan,
        instructions: Instructions,
        parameters: &'a [f32],
        values: &'a mut Values<L>,
        additions: &'a mut Additions,
    ) -> Self {
        Self {
            architecture: &plan.architecture,
            places: &plan.places,
            parameters,
            values,
            additions,
            positions: plan.architecture.inputs.positions,
            instructions,
            cross_entropy: plan.cross_entropy,
            probe: None,
            holds_weights: false,
        }
    }

    pub(super) fn width(&self) -> usize {
        padded(self.architecture.model.d_model)
    }

    pub(super) fn sizes(&self) -> Sizes {
        Sizes {
            p: self.positions,
            width: self.width(),
            d: self.architecture.model.d_model,
            d_head: self.architecture.model.d_head(),
            heads: self.architecture.model.n_heads,
            inner: padded(self.architecture.heads_width()),
        }
    }

    /// The place of a block's parameters, all parameters, and the instructions.
    pub(super) fn of_block(&self, layer: usize) -> (Block, &'a [f32], Instructions) {
        (
            self.places.blocks[layer],
            self.parameters,
            self.instructions,
        )
    }
}

pub(super) fn weights_of(parameters: &[f32], linear: Linear) -> Weights<'_> {
    Weights {
        values: &parameters[linear.weight.range()],
        inputs: linear.weight.rows,
        stride: linear.weight.stride,
    }
}

/// 1 where a query may look at a key, else 0.
pub(super) fn sees<const L: usize>(may: &[Lanes<L>]) -> Lanes<L> {
    let mut sees = if may.is_empty() { [1.0; L] } else { [0.0; L] };
    for may in may {
        for l in 0..L {
            sees[l] = if may[l] > sees[l] { may[l] } else { sees[l] };
        }
    }
    sees
}

/// `output = input W + b`.
pub(super) fn apply<const L: usize>(
    set: Instructions,
    parameters: &[f32],
    linear: Linear,
    rows: usize,
    input: &[Lanes<L>],
    width: usize,
    output: &mut [Lanes<L>],
) {
    let bias = &parameters[linear.bias.range()];
    let weights = weights_of(parameters, linear);
    for row in output.chunks_exact_mut(weights.stride).take(rows) {
        for (output, bias) in row.iter_mut().zip(bias) {
            *output = [*bias; L];
        }
    }
    project(set, rows, weights, 0..weights.stride, input, width, output);
}
