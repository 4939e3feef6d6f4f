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
    /// The key of its standard deviation in `[model.init.std]`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::TokenEmbedding => "token_embedding",
            Self::PositionEmbedding => "position_embedding",
            Self::Query => "query",
            Self::Key => "key",
            Self::Value => "value",
            Self::AttentionOutput => "attention_output",
            Self::FeedForwardHidden => "feed_forward_hidden",
            Self::FeedForwardOutput => "feed_forward_output",
            Self::ClassifierHidden => "classifier_hidden",
            Self::Classifier => "classifier",
        }
    }

    pub(crate) fn is_embedding(self) -> bool {
        matches!(self, Self::TokenEmbedding | Self::PositionEmbedding)
    }

    pub(crate) fn is_of_query_key_or_value(self) -> bool {
        matches!(self, Self::Query | Self::Key | Self::Value)
    }
}
