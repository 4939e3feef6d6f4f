//! Which vector of the last layer the classifier reads.

use headlight_schema::choices;

choices! {
    /// Which vector of the last layer the classifier reads.
    pub enum Pooling {
        /// The vector of `[CLS]`.
        Cls = "cls",
        /// The vector of the last position.
        Last = "last",
        /// The mean over all positions that are not padding.
        Mean = "mean",
    }
    or
    /// The vector of this position.
    Position(usize), "expected \"cls\", \"last\", \"mean\" or a position"
}
