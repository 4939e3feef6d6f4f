//! Where a report measures attention, and what it finds there.

/// The positions at which a report measures attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttentionTarget {
    /// The sum over these positions, from the attention by position that rows hold.
    Positions(Vec<usize>),
    /// Those that decide the label of each sample, as rows hold it.
    Deciding,
}

/// The attention of each run to a target; NaN if its row does not tell.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetAttention {
    /// Of positives and of negatives. `[run]`
    pub(super) paid: [Vec<f64>; 2],
    /// What uniform attention would be, of positives. `[run]`
    pub(super) uniform: Vec<f64>,
}
