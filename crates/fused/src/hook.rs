//! The points of a forward pass where values can be read and replaced.

use crate::arrays::Array;
use crate::lanes::{LANES, Lanes};

/// A point of a forward pass of all rows, with the layer, and of pairs the head too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookPoint {
    /// 1 where a query of a layer may look, else 0. `[query, key]`
    Mask(usize),
    /// Vectors, all heads side by side; embeddings are those of layer 0. `[position, width]`
    Vectors(Array, usize),
    /// An array of pairs. `[query, key]`
    Pairs(Array, usize, usize),
}

/// Reads and replaces the values of a pass. Rows are padded to the width of the matrices.
pub(crate) trait Hook<const L: usize = LANES> {
    fn visit(&mut self, point: HookPoint, values: &mut [Lanes<L>]);
}

impl<const L: usize> Hook<L> for Option<&mut dyn Hook<L>> {
    #[inline]
    fn visit(&mut self, point: HookPoint, values: &mut [Lanes<L>]) {
        if let Some(hook) = self {
            hook.visit(point, values);
        }
    }
}
