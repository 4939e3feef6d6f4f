//! The parts of a model that have a matrix.

/// A part of a model that has a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    TokenEmbedding,
    PositionEmbedding,
    /// Also the projection that queries, keys and values share.
    Query,
    Key,
    Value,
    AttentionOutput,
    FeedForwardHidden,
    FeedForwardOutput,
    ClassifierHidden,
    Classifier,
}

impl Part {
    pub(crate) fn is_embedding(self) -> bool {
        matches!(self, Self::TokenEmbedding | Self::PositionEmbedding)
    }

    pub(crate) fn is_of_query_key_or_value(self) -> bool {
        matches!(self, Self::Query | Self::Key | Self::Value)
    }
}
