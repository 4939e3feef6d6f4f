//! The arrays that a page has of some steps only: vectors, with all their digits.

use headlight_dump::{Array, AttentionDump};

/// The arrays of vectors that a page keeps of a dump, in their order. A live page computes all arrays soon after it
/// opens. Until then it shows the vectors up to a block's first norm: so it stays small.
pub(super) fn vectors(dump: &AttentionDump, is_live: bool) -> impl Iterator<Item = Array> {
    let wanted = Array::ALL.into_iter().filter(move |&array| {
        let is_early = array <= Array::Residual;
        !array.is_of_pairs() && (is_early || !is_live)
    });
    wanted.filter(|&array| !dump.arrays[array].is_empty())
}
