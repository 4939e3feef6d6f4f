//! The places of a forward pass where values can be read and replaced.

use crate::lanes::Lanes;

/// A place of a forward pass of all rows; most are in a block, and some of those in a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// The first block's input. `[position, d_model]`
    Embeddings,
    /// 1 where a query of a block may look, else 0. `[query, key]`
    Mask(usize),
    /// `[position, d_model]`
    Query(usize),
    /// `[position, d_model]`
    Key(usize),
    /// `[position, d_model]`
    Value(usize),
    /// Before the softmax. `[query, key]`
    Scores(usize, usize),
    /// After the softmax. `[query, key]`
    Weights(usize, usize),
    /// `[position, d_model]`
    Context(usize),
    /// Before the norm. `[position, d_model]`
    Residual(usize),
    /// After the rectifier. `[position, d_ff]`
    Hidden(usize),
    /// Before the norm. `[position, d_model]`
    FeedForwardResidual(usize),
    /// `[position, d_model]`
    Output(usize),
}

/// Reads and replaces the values of a pass. Rows are padded to the width of the matrices.
pub(crate) trait Probe {
    fn reach(&mut self, site: Site, values: &mut [Lanes]);
}

/// Calls the probe, if there is one.
#[inline]
pub(super) fn reach(probe: &mut Option<&mut dyn Probe>, site: Site, values: &mut [Lanes]) {
    if let Some(probe) = probe {
        probe.reach(site, values);
    }
}
