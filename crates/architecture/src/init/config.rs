//! The config of initial weights: schemes, and standard deviations by part of a model.

use std::fmt;

use headlight_schema::{InvalidValue, Kind, Value, choices, section};
use serde::{Deserialize, Serialize};

section! {
    /// The `[model.init]` section: how weights are drawn.
    #[derive(Copy)]
    pub struct InitConfig {
        /// The distributions of initial parameters.
        pub scheme: Scheme = Scheme::Keras,
        /// With `scheme = "normal"`, the standard deviation of each matrix: a number, or one divided by the root of a size,
        /// such as `"1/sqrt(d_model)"`.
        #[omit(default)]
        pub std: StdConfig = StdConfig::default(),
        /// Whether all layers start as copies of the first, as in PyTorch's `nn.TransformerEncoder`.
        #[omit(default)]
        pub copy_blocks: bool = false,
    }
}

choices! {
    /// The distributions of initial parameters.
    pub enum Scheme {
        /// Keras's: embeddings uniform to 0.05, matrices Glorot uniform, biases 0.
        Keras = "keras",
        /// PyTorch's, of `nn.Embedding`, `nn.TransformerEncoderLayer` and `nn.Linear`.
        Pytorch = "pytorch",
        /// TransformerLens's: every matrix normal with standard deviation 0.8 / sqrt(d_model), biases 0.
        TransformerLens = "transformer-lens",
        /// Every matrix normal with a standard deviation of `std`, biases 0.
        Normal = "normal",
    }
}

section! {
    /// The `[model.init.std]` section: the standard deviation of each matrix.
    #[derive(Copy)]
    pub struct StdConfig {
        /// The standard deviation of each matrix that has none of its own, as a number or such as `"1/sqrt(d_model)"`.
        #[omit(default)]
        pub all: Option<Std> = None,
        /// Of the token embedding.
        #[omit(default)]
        pub token_embedding: Option<Std> = None,
        /// Of the position embedding.
        #[omit(default)]
        pub position_embedding: Option<Std> = None,
        /// Of the projection to queries, or of the one that queries, keys and values share.
        #[omit(default)]
        pub query: Option<Std> = None,
        /// Of the projection to keys.
        #[omit(default)]
        pub key: Option<Std> = None,
        /// Of the projection to values.
        #[omit(default)]
        pub value: Option<Std> = None,
        /// Of the attention's output projection.
        #[omit(default)]
        pub attention_output: Option<Std> = None,
        /// Of the feed-forward layer's first matrix.
        #[omit(default)]
        pub feed_forward_hidden: Option<Std> = None,
        /// Of the feed-forward layer's second matrix.
        #[omit(default)]
        pub feed_forward_output: Option<Std> = None,
        /// Of the classifier's hidden layer.
        #[omit(default)]
        pub classifier_hidden: Option<Std> = None,
        /// Of the classifier's matrix to the logits.
        #[omit(default)]
        pub classifier: Option<Std> = None,
    }
}

impl StdConfig {
    /// The standard deviation of a part's matrix, and its key.
    pub(crate) fn key_and_std(&self, part: MatrixKind) -> (&'static str, Option<Std>) {
        let (key, std) = match part {
            MatrixKind::TokenEmbedding => ("token_embedding", self.token_embedding),
            MatrixKind::PositionEmbedding => ("position_embedding", self.position_embedding),
            MatrixKind::Query => ("query", self.query),
            MatrixKind::Key => ("key", self.key),
            MatrixKind::Value => ("value", self.value),
            MatrixKind::AttentionOutput => ("attention_output", self.attention_output),
            MatrixKind::FeedForwardHidden => ("feed_forward_hidden", self.feed_forward_hidden),
            MatrixKind::FeedForwardOutput => ("feed_forward_output", self.feed_forward_output),
            MatrixKind::ClassifierHidden => ("classifier_hidden", self.classifier_hidden),
            MatrixKind::Classifier => ("classifier", self.classifier),
        };
        (key, std.or(self.all))
    }
}

impl InitConfig {
    /// Checks which keys go together. `missing` is the key of a matrix without a standard deviation that it needs.
    pub(crate) fn validate(&self, missing: Option<&str>) -> Result<(), InvalidValue> {
        if self.scheme != Scheme::Normal && self.std != StdConfig::default() {
            let message =
                "standard deviations belong to scheme = \"normal\"; set it, or remove them";
            return Err(InvalidValue::new("std", message));
        }
        if let Some(key) = missing {
            let message =
                format!("the model's `{key}` has no standard deviation; set std.{key} or std.all");
            return Err(InvalidValue::new(format!("std.{key}"), message));
        }
        Ok(())
    }
}

/// A standard deviation: a number, or a number divided by the root of a size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenStd", into = "WrittenStd")]
pub struct Std {
    pub(crate) factor: f64,
    pub(crate) root_of: Option<Size>,
}

choices! {
    /// A size that a standard deviation may depend on.
    pub(crate) enum Size {
        Width = "d_model",
        FeedForward = "d_ff",
        Head = "d_head",
        Vocabulary = "vocab_size",
    }
}

impl Std {
    /// `NUMBER/sqrt(SIZE)`.
    fn parse(text: &str) -> Option<Self> {
        let (factor, rest) = text.split_once('/')?;
        let size = rest.trim().strip_prefix("sqrt(")?.strip_suffix(')')?.trim();
        let is_named = |known: &Size| known.name() == size;
        let size = Size::ALL.into_iter().find(is_named)?;
        Self::checked(factor.trim().parse().ok()?, Some(size))
    }

    fn checked(factor: f64, root_of: Option<Size>) -> Option<Self> {
        let is_valid = (0.0..1e6).contains(&factor);
        is_valid.then_some(Self { factor, root_of })
    }
}

impl fmt::Display for Std {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.root_of {
            Some(size) => write!(f, "{}/sqrt({})", self.factor, size.name()),
            None => write!(f, "{:?}", self.factor),
        }
    }
}

impl Value for Std {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Number, Kind::Text])
    }
}

/// As it stands in a config.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or a text")]
enum WrittenStd {
    Number(f64),
    Text(String),
}

impl TryFrom<WrittenStd> for Std {
    type Error = &'static str;

    fn try_from(written: WrittenStd) -> Result<Self, &'static str> {
        let std = match written {
            WrittenStd::Number(factor) => Self::checked(factor, None),
            WrittenStd::Text(text) => Self::parse(&text),
        };
        std.ok_or(
            "expected a number from 0 to below 1000000, or one divided by the root of d_model, d_ff, d_head or vocab_size, such as \"1/sqrt(d_model)\"",
        )
    }
}

impl From<Std> for WrittenStd {
    fn from(std: Std) -> Self {
        match std.root_of {
            None => Self::Number(std.factor),
            Some(_) => Self::Text(std.to_string()),
        }
    }
}

/// A part of a model that has a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatrixKind {
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

impl MatrixKind {
    pub(crate) fn is_embedding(self) -> bool {
        matches!(self, Self::TokenEmbedding | Self::PositionEmbedding)
    }

    pub(crate) fn is_of_query_key_or_value(self) -> bool {
        matches!(self, Self::Query | Self::Key | Self::Value)
    }
}
