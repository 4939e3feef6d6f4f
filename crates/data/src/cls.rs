//! The `[CLS]` token and its place in a sample.

use headlight_schema::choices;

/// The token that comes before or after the others of every sample. With `pooling = "cls"`, it is the readout position.
pub const CLS: u32 = 0;

choices! {
    /// The place of `[CLS]` in each sample.
    #[derive(Default)]
    pub enum ClsPlace {
        /// At position 0, before all tokens, as in BERT and in the notebook.
        #[default]
        First = "first",
        /// After all tokens, where a causal mask lets it see them.
        Last = "last",
        /// Nowhere: samples have no `[CLS]`. Tokens are 0 to `vocab_size - 1`, and positions count from 0.
        None = "none",
    }
}

impl ClsPlace {
    /// The position of `[CLS]` in a sample of `seq_len` tokens, if it has one.
    pub fn position(self, seq_len: usize) -> Option<usize> {
        match self {
            Self::First => Some(0),
            Self::Last => Some(seq_len),
            Self::None => None,
        }
    }

    /// The positions of the first and of the last of `seq_len` tokens.
    pub fn first_and_last(self, seq_len: usize) -> [usize; 2] {
        let first = usize::from(self == Self::First);
        [first, first + seq_len.saturating_sub(1)]
    }

    /// Positions of a sample of `seq_len` tokens.
    pub fn positions(self, seq_len: usize) -> usize {
        seq_len.saturating_add(usize::from(self.is_present()))
    }

    /// The smallest token that is not `[CLS]`.
    pub fn first_token(self) -> u32 {
        u32::from(self.is_present())
    }

    /// Whether samples have `[CLS]`.
    pub fn is_present(self) -> bool {
        self != Self::None
    }

    /// The other place, if samples have `[CLS]`.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::First => Self::Last,
            Self::Last => Self::First,
            Self::None => Self::None,
        }
    }

    /// Whether a sample has `[CLS]` in this place.
    pub(crate) fn is_in(self, tokens: &[u32]) -> bool {
        let token = match self {
            Self::First => tokens.first(),
            Self::Last => tokens.last(),
            Self::None => None,
        };
        token == Some(&CLS)
    }

    /// A sample without the token in this place; without such a place, the whole sample.
    pub fn without(self, tokens: &[u32]) -> &[u32] {
        match self {
            Self::First => tokens.get(1..),
            Self::Last => tokens.split_last().map(|(_, others)| others),
            Self::None => Some(tokens),
        }
        .unwrap_or_default()
    }
}
