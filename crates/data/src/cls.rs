//! The `[CLS]` token and its place in a sample.

use serde::{Deserialize, Serialize};

/// The token that comes before or after the others of every sample. The label is read from it.
pub const CLS: u32 = 0;

/// The place of `[CLS]` in each sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClsPlace {
    /// At position 0, before all tokens, as in BERT and in the notebook.
    #[default]
    First,
    /// After all tokens, where a causal mask lets it see them.
    Last,
}

impl ClsPlace {
    /// The position of `[CLS]` in a sample of `seq_len` tokens.
    pub fn position(self, seq_len: usize) -> usize {
        match self {
            Self::First => 0,
            Self::Last => seq_len,
        }
    }

    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
        }
    }
}
