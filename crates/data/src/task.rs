//! What samples have labels for.

use headlight_schema::choices;

/// The label of a position that does not count. `headlight-fused` has the same number: neither crate depends on the other.
pub const IGNORED: u32 = u32::MAX;

choices! {
    /// What a model answers.
    #[derive(Default)]
    pub enum Task {
        /// One class per sample.
        #[default]
        Classification = "classification",
        /// One class per position that counts.
        TokenClassification = "token-classification",
        /// At each position, the token that follows.
        NextToken = "next-token",
    }
}

impl Task {
    /// Whether samples have a label per position.
    pub fn is_per_position(self) -> bool {
        self != Self::Classification
    }
}
