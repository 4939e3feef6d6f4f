//! The keys of a walkthrough file.

use headlight_architecture::{Mask, Scale};
use serde::Deserialize;

use crate::{Matrix, Stage};

/// All keys of a walkthrough. A `[[case]]` has the same keys, and inherits those that it lacks from the top.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    pub(crate) title: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) key_tokens: Option<Tokens>,
    pub(crate) x: Option<Matrix>,
    pub(crate) memory: Option<Matrix>,
    pub(crate) w_query: Option<Matrix>,
    pub(crate) w_key: Option<Matrix>,
    pub(crate) w_value: Option<Matrix>,
    pub(crate) query: Option<Matrix>,
    pub(crate) key: Option<Matrix>,
    pub(crate) scores: Option<Matrix>,
    pub(crate) d_k: Option<usize>,
    pub(crate) weights: Option<Matrix>,
    pub(crate) value: Option<Matrix>,
    pub(crate) scale: Option<Scale>,
    pub(crate) temperature: Option<f64>,
    pub(crate) mask: Option<Mask>,
    pub(crate) query_rows: Option<Vec<Label>>,
    #[serde(default)]
    pub(crate) published: Vec<PublishedKeys>,
    #[serde(default, rename = "case")]
    pub(crate) cases: Vec<Keys>,
}

/// A `[[published]]` entry: numbers of one row of a stage, as the document prints them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedKeys {
    pub(crate) stage: Stage,
    pub(crate) row: Label,
    pub(crate) columns: Option<Vec<Label>>,
    pub(crate) values: Vec<f64>,
    pub(crate) decimals: usize,
    pub(crate) note: Option<String>,
}

/// A row or column: by its token (the first, if there are several), or by its index from 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a token or an index from 0")]
pub(crate) enum Label {
    Index(usize),
    Token(String),
}

impl Label {
    /// The index of a row or column with this label.
    pub(crate) fn find(&self, names: &[String]) -> Result<usize, String> {
        let found = match self {
            Self::Index(index) => (*index < names.len()).then_some(*index),
            Self::Token(token) => names.iter().position(|name| name == token),
        };
        found.ok_or_else(|| match self {
            Self::Index(index) => format!(
                "there is no index {index}; indices go from 0 to {}",
                names.len().saturating_sub(1)
            ),
            Self::Token(token) => format!("there is no {token:?}"),
        })
    }
}

/// Tokens that can be shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub(crate) struct Tokens(pub(crate) Vec<String>);

impl TryFrom<Vec<String>> for Tokens {
    type Error = String;

    fn try_from(tokens: Vec<String>) -> Result<Self, String> {
        const MAX_TOKENS: usize = 256;
        if tokens.is_empty() || tokens.len() > MAX_TOKENS {
            return Err(format!(
                "there are {} tokens; there must be 1 to {MAX_TOKENS}",
                tokens.len()
            ));
        }
        let cannot_be_shown =
            |token: &String| token.is_empty() || token.chars().any(char::is_control);
        match tokens.iter().position(cannot_be_shown) {
            Some(index) => Err(format!(
                "token {index} is empty or holds a control character: {:?}",
                tokens[index]
            )),
            None => Ok(Self(tokens)),
        }
    }
}

/// What a computation starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Start {
    Embeddings,
    Vectors,
    Scores,
    Weights,
}

impl Keys {
    /// What is computed from.
    pub(crate) fn start(&self) -> Result<Start, String> {
        let vectors = self.query.is_some() && self.key.is_some();
        let start = match [&self.x, &self.query, &self.scores, &self.weights].map(Option::is_some) {
            [true, false, false, false] if self.key.is_none() => Start::Embeddings,
            [false, true, false, false] if vectors => Start::Vectors,
            [false, false, true, false] if self.key.is_none() => Start::Scores,
            [false, false, false, true] if self.key.is_none() => Start::Weights,
            _ => {
                return Err(
                    "give one thing to compute from: `x`, `query` with `key`, `scores`, or `weights`"
                        .to_owned(),
                );
            }
        };
        let (no_x, weights) = (start != Start::Embeddings, start == Start::Weights);
        let useless = [
            ("memory", self.memory.is_some() && no_x),
            ("w_query", self.w_query.is_some() && no_x),
            ("w_key", self.w_key.is_some() && no_x),
            ("w_value", self.w_value.is_some() && no_x),
            ("value", self.value.is_some() && !no_x),
            ("d_k", self.d_k.is_some() && start != Start::Scores),
            ("scale", self.scale.is_some() && weights),
            ("temperature", self.temperature.is_some() && weights),
            ("mask", self.mask.is_some() && weights),
        ];
        match useless.into_iter().find(|&(_, given)| given) {
            Some((name, _)) => Err(format!(
                "`{name}` has no effect on this walkthrough; remove it"
            )),
            None => Ok(start),
        }
    }

    /// Adds the keys of the top that a case lacks. If the case starts from another stage than the top does, it
    /// inherits nothing of the top's starting point.
    pub(crate) fn inherit(mut self, top: &Self) -> Self {
        let mut top = top.clone();
        let starts =
            |keys: &Self| [&keys.x, &keys.query, &keys.scores, &keys.weights].map(Option::is_some);
        if starts(&self).contains(&true) && starts(&self) != starts(&top) {
            if self.x.is_some() || top.x.is_some() {
                top.value = None;
            }
            (top.x, top.memory, top.w_query, top.w_key, top.w_value) = Default::default();
            (top.query, top.key, top.scores, top.d_k, top.weights) = Default::default();
        }
        if self.weights.is_some() {
            (top.scale, top.temperature, top.mask) = Default::default();
        }
        macro_rules! inherit {
            ($($key:ident)*) => { $( self.$key = self.$key.take().or(top.$key); )* };
        }
        inherit!(
            tokens key_tokens x memory w_query w_key w_value query key scores d_k weights value
            scale temperature mask query_rows
        );
        self
    }
}
