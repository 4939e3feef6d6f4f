//! Where a layer leaves values out, and a projection with dropout before its residual.

use headlight_architecture::DropoutPlace;

use super::elements::add;
use crate::dropout::{DroppedRows, StepDropout};
use crate::kernel::Kernel;
use crate::lanes::Lanes;
use crate::parameters::{Linear, padded};
use crate::pass::Pass;

impl StepDropout {
    /// `output = residual + m ⊙ (input W + b)`, for as many rows as `residual` has.
    pub(crate) fn project_onto<const L: usize>(
        &self,
        k: Kernel<'_>,
        rows: DroppedRows,
        linear: Linear,
        [residual, input]: [&[Lanes<L>]; 2],
        output: &mut [Lanes<L>],
    ) {
        if !self.is_at(rows.place) {
            k.project_onto(linear, residual, input, output);
            return;
        }
        let count = residual.len() / linear.weight.stride * linear.weight.padded_rows;
        let output = &mut output[..residual.len()];
        k.project(linear, &input[..count], output);
        self.apply(k.isa, rows, output);
        add(k.isa, output, residual);
    }
}

impl<const L: usize> Pass<'_, L> {
    /// The rows of a place; of attention weights, those of the row that the classifier reads.
    pub(crate) fn rows_at(&self, place: DropoutPlace) -> DroppedRows {
        let (s, inputs) = (self.kernel.sizes, self.architecture.inputs);
        let (d_ff, all) = (self.architecture.model.d_ff, inputs.positions);
        let first = |layer| self.rows_of(layer, false).start;
        let ([first, row_step], [whole, stride]) = match place {
            DropoutPlace::Embedding => ([0, 1], [s.d_model, s.width]),
            DropoutPlace::Attention(_) => ([inputs.read_position, all], [all, self.positions]),
            DropoutPlace::Hidden(layer) => ([first(layer), 1], [d_ff, padded(d_ff)]),
            DropoutPlace::AttentionOutput(layer) | DropoutPlace::FeedForwardOutput(layer) => {
                ([first(layer), 1], [s.d_model, s.width])
            }
        };
        DroppedRows {
            place,
            first,
            row_step,
            whole,
            stride,
        }
    }
}
