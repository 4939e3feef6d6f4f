//! What samples have labels for.

use headlight_schema::choices;

/// The label of a position that does not count.
pub const IGNORED: u32 = u32::MAX;

choices! {
    /// What a model answers.
    pub enum Task {
        /// One class per sample.
        Classification = "classification",
        /// One class per position that counts.
        TokenClassification = "token-classification",
        /// At each position, the token that follows.
        NextToken = "next-token",
    }
}

#[allow(clippy::derivable_impls)] // `choices!` writes the enum.
impl Default for Task {
    fn default() -> Self {
        Self::Classification
    }
}

impl Task {
    /// Whether samples have a label per position.
    pub fn is_per_position(self) -> bool {
        self != Self::Classification
    }
}
