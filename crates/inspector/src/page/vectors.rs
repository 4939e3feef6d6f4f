//! The arrays that a page has of some steps only: vectors, with all their digits.

use headlight_dump::AttentionDump;

/// An array of vectors.
pub(super) struct VectorArray {
    /// Its name in the page's script and in its notes.
    pub(super) name: &'static str,
    pub(super) read: fn(&AttentionDump) -> &[f32],
}

/// All arrays of vectors, in the order in which the page has them.
pub(super) const VECTORS: [VectorArray; 6] = [
    array("query", |dump| &dump.query),
    array("key", |dump| &dump.key),
    array("value", |dump| &dump.value),
    array("context", |dump| &dump.context),
    array("embeddings", |dump| &dump.embeddings),
    array("residual", |dump| &dump.residual),
];

const fn array(name: &'static str, read: fn(&AttentionDump) -> &[f32]) -> VectorArray {
    VectorArray { name, read }
}

/// The count of all numbers of the vectors of a dump.
pub(super) fn count(dump: &AttentionDump) -> usize {
    VECTORS.iter().map(|array| (array.read)(dump).len()).sum()
}
