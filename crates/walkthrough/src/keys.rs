//! The keys of a walkthrough file.

use std::fmt;
use std::ops::Range;

use headlight_architecture::{Mask, Scale};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::Stage;

/// Rows of numbers, with their place in the file.
pub(crate) type Rows = Spanned<Vec<Vec<f64>>>;

/// All keys of a walkthrough. A `[[case]]` has the same keys, and inherits those that it lacks from the top.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    pub(crate) title: Option<Spanned<String>>,
    pub(crate) source: Option<Spanned<String>>,
    pub(crate) about: Option<Spanned<String>>,
    pub(crate) tokens: Option<Spanned<Vec<String>>>,
    pub(crate) key_tokens: Option<Spanned<Vec<String>>>,
    pub(crate) x: Option<Rows>,
    pub(crate) memory: Option<Rows>,
    pub(crate) w_query: Option<Rows>,
    pub(crate) w_key: Option<Rows>,
    pub(crate) w_value: Option<Rows>,
    pub(crate) query: Option<Rows>,
    pub(crate) key: Option<Rows>,
    pub(crate) scores: Option<Rows>,
    pub(crate) d_k: Option<Spanned<usize>>,
    pub(crate) weights: Option<Rows>,
    pub(crate) value: Option<Rows>,
    pub(crate) scale: Option<Spanned<Scale>>,
    pub(crate) temperature: Option<Spanned<f64>>,
    pub(crate) mask: Option<Spanned<Mask>>,
    pub(crate) query_rows: Option<Spanned<Vec<Label>>>,
    #[serde(default)]
    pub(crate) published: Vec<Spanned<PublishedKeys>>,
    #[serde(default, rename = "case")]
    pub(crate) cases: Vec<Spanned<Keys>>,
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

/// A row or column: by its token, or by its index from 0.
#[derive(Clone, Debug)]
pub(crate) enum Label {
    Token(String),
    Index(usize),
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Label;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a token or an index from 0")
            }

            fn visit_str<E: de::Error>(self, token: &str) -> Result<Label, E> {
                Ok(Label::Token(token.to_owned()))
            }

            fn visit_u64<E: de::Error>(self, index: u64) -> Result<Label, E> {
                usize::try_from(index)
                    .map(Label::Index)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(index), &self))
            }

            fn visit_i64<E: de::Error>(self, index: i64) -> Result<Label, E> {
                usize::try_from(index)
                    .map(Label::Index)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(index), &self))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl Keys {
    /// Adds the keys of the top that a case lacks. If the case starts from another stage than the top does, it
    /// inherits nothing of the top's starting point.
    pub(crate) fn inherit(mut self, top: &Self) -> Self {
        let mut top = top.clone();
        if self
            .starting_key()
            .is_some_and(|key| Some(key) != top.starting_key())
        {
            if self.x.is_some() || top.x.is_some() {
                top.value = None;
            }
            top.clear_starting_point();
        }
        if self.weights.is_some() {
            (top.scale, top.temperature, top.mask) = (None, None, None);
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

    /// The key that the computation starts from, if there is one.
    fn starting_key(&self) -> Option<&'static str> {
        self.starting_keys().next()
    }

    /// All keys in the file that a computation can start from.
    pub(crate) fn starting_keys(&self) -> impl Iterator<Item = &'static str> {
        [
            ("x", self.x.is_some()),
            ("query", self.query.is_some() || self.key.is_some()),
            ("scores", self.scores.is_some()),
            ("weights", self.weights.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
    }

    /// A key that has no use in a computation that starts from `start`, and its place.
    pub(crate) fn unused_key(&self, start: &str) -> Option<(&'static str, Range<usize>)> {
        let (at_x, at_weights) = (start == "x", start == "weights");
        let span = |rows: &Option<Rows>| rows.as_ref().map(Spanned::span);
        let keys = [
            ("memory", at_x, span(&self.memory)),
            ("w_query", at_x, span(&self.w_query)),
            ("w_key", at_x, span(&self.w_key)),
            ("w_value", at_x, span(&self.w_value)),
            ("value", !at_x, span(&self.value)),
            (
                "d_k",
                start == "scores",
                self.d_k.as_ref().map(Spanned::span),
            ),
            ("scale", !at_weights, self.scale.as_ref().map(Spanned::span)),
            (
                "temperature",
                !at_weights,
                self.temperature.as_ref().map(Spanned::span),
            ),
            ("mask", !at_weights, self.mask.as_ref().map(Spanned::span)),
        ];
        keys.into_iter()
            .find_map(|(name, useful, span)| Some((name, span.filter(|_| !useful)?)))
    }

    fn clear_starting_point(&mut self) {
        *self = Self {
            x: None,
            memory: None,
            w_query: None,
            w_key: None,
            w_value: None,
            query: None,
            key: None,
            scores: None,
            d_k: None,
            weights: None,
            ..std::mem::take(self)
        };
    }
}
