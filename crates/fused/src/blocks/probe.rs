//! The places of a forward pass where values can be read and replaced.

use crate::arrays::Array;
use crate::lanes::{LANES, Lanes};

/// A place of a forward pass of all rows, with the block, and of pairs the head too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// 1 where a query of a block may look, else 0. `[query, key]`
    Mask(usize),
    /// Vectors, all heads side by side; embeddings are those of block 0. `[position, width]`
    Vectors(Array, usize),
    /// An array of pairs. `[query, key]`
    Pairs(Array, usize, usize),
}

/// Reads and replaces the values of a pass. Rows are padded to the width of the matrices.
pub(crate) trait Probe<const L: usize = LANES> {
    fn reach(&mut self, site: Site, values: &mut [Lanes<L>]);
}

/// Calls the probe, if there is one.
#[inline]
pub(super) fn reach<const L: usize>(
    probe: &mut Option<&mut dyn Probe<L>>,
    site: Site,
    values: &mut [Lanes<L>],
) {
    if let Some(probe) = probe {
        probe.reach(site, values);
    }
}
