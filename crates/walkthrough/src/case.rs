//! A case of a walkthrough, after all checks.

use std::ops::Range;

use headlight_architecture::Scale;
use toml::Spanned;

use crate::keys::{Keys, Label, PublishedKeys};
use crate::matrix::{MOST_TOKENS, Matrix};
use crate::mistake::MistakeAt;
use crate::starting_point::{NamedMatrix, StartingPoint, token_count};

/// A case that has passed all checks and can be computed.
pub(crate) struct Case {
    /// Its place in the file.
    pub(crate) span: Range<usize>,
    /// The tokens whose queries look at the keys.
    pub(crate) queries: Vec<String>,
    /// The tokens that the queries look at.
    pub(crate) keys: Vec<String>,
    pub(crate) start: StartingPoint,
    /// Values, if the file gives them.
    pub(crate) value: Option<Matrix>,
    /// The factor of the scores, without the temperature.
    pub(crate) scale: f64,
    pub(crate) temperature: f64,
    /// True where a query may look. `[query, key]`
    pub(crate) mask: Option<Vec<bool>>,
    /// The queries that are shown.
    pub(crate) shown: Vec<usize>,
    pub(crate) published: Vec<Spanned<PublishedKeys>>,
}

impl Case {
    /// Checks the keys of a case, which include those inherited from the top.
    pub(crate) fn check(given: &Keys, span: Range<usize>) -> Result<Self, MistakeAt> {
        let Some(tokens) = &given.tokens else {
            return Err(MistakeAt::new(span, "`tokens` is missing"));
        };
        let queries = names("tokens", tokens)?;
        let keys = match &given.key_tokens {
            Some(tokens) => names("key_tokens", tokens)?,
            None => queries.clone(),
        };
        let start = StartingPoint::check(given, &span, [queries.len(), keys.len()])?;
        let value = NamedMatrix::read("value", given.value.as_ref())?;
        if let Some(value) = &value {
            value.expect_rows(keys.len(), token_count(keys.len(), " on the key side"))?;
        }
        let mask = match &given.mask {
            None => None,
            Some(mask) => mask
                .get_ref()
                .matrix(queries.len(), keys.len())
                .map_err(|message| MistakeAt::new(mask.span(), message))?,
        };
        let shown = match &given.query_rows {
            None => (0..queries.len()).collect(),
            Some(rows) => {
                if rows.get_ref().is_empty() {
                    return Err(MistakeAt::new(rows.span(), "`query_rows` is empty"));
                }
                let shown: Result<Vec<usize>, String> = rows
                    .get_ref()
                    .iter()
                    .map(|label| label.find(&queries))
                    .collect();
                shown.map_err(|message| MistakeAt::new(rows.span(), message))?
            }
        };
        Ok(Self {
            scale: scale(given, &start, &span)?,
            temperature: temperature(given)?,
            value: value.map(|value| value.matrix),
            published: given.published.clone(),
            span,
            queries,
            keys,
            start,
            mask,
            shown,
        })
    }
}

/// Checks that a list of tokens can be shown.
fn names(key: &str, tokens: &Spanned<Vec<String>>) -> Result<Vec<String>, MistakeAt> {
    let wrong = |message| Err(MistakeAt::new(tokens.span(), message));
    let names = tokens.get_ref();
    if names.is_empty() {
        return wrong(format!("`{key}` is empty"));
    }
    if names.len() > MOST_TOKENS {
        return wrong(format!(
            "`{key}` has {} tokens; at most {MOST_TOKENS} can be shown",
            names.len()
        ));
    }
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return wrong(format!("token {index} of `{key}` is empty"));
        }
        if name.chars().any(char::is_control) {
            return wrong(format!(
                "token {index} of `{key}` holds a control character: {name:?}"
            ));
        }
    }
    Ok(names.clone())
}

/// The factor of the scores.
fn scale(given: &Keys, start: &StartingPoint, span: &Range<usize>) -> Result<f64, MistakeAt> {
    if matches!(start, StartingPoint::Weights(_)) {
        return Ok(1.0);
    }
    let scale = given.scale.as_ref().map(|scale| *scale.get_ref());
    let place = || given.scale.as_ref().map_or(span.clone(), Spanned::span);
    let factor = match (scale.unwrap_or_default(), start.width()) {
        (Scale::Root, None) => {
            return Err(MistakeAt::new(
                place(),
                "the scale of `scores` is unknown: give `d_k`, or `scale = false`",
            ));
        }
        (scale, width) => scale.factor(width.unwrap_or(1)),
    };
    if (factor as f32).is_finite() {
        Ok(factor)
    } else {
        let place = given.d_k.as_ref().map_or_else(place, Spanned::span);
        Err(MistakeAt::new(place, "the scale must be a finite number"))
    }
}

fn temperature(given: &Keys) -> Result<f64, MistakeAt> {
    match &given.temperature {
        None => Ok(1.0),
        Some(temperature) => {
            let value = *temperature.get_ref();
            if value > 0.0 && value.is_finite() {
                Ok(value)
            } else {
                Err(MistakeAt::new(
                    temperature.span(),
                    format!("`temperature` is {value}; it must be a positive number"),
                ))
            }
        }
    }
}

impl Label {
    /// The index of a row or column with this label.
    pub(crate) fn find(&self, names: &[String]) -> Result<usize, String> {
        match self {
            Self::Index(index) if *index < names.len() => Ok(*index),
            Self::Index(index) => Err(format!(
                "index {index} is out of range; there are {}, counted from 0",
                names.len()
            )),
            Self::Token(token) => {
                let places: Vec<usize> = (0..names.len())
                    .filter(|&place| names[place] == *token)
                    .collect();
                match places.as_slice() {
                    [place] => Ok(*place),
                    [] => Err(format!(
                        "unknown label {token:?}; use one of {}",
                        quoted(names)
                    )),
                    [one, other, ..] => Err(format!(
                        "{token:?} is at {one} and at {other}; give the index instead"
                    )),
                }
            }
        }
    }
}

/// The first few names, for a message.
fn quoted(names: &[String]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > shown.len() {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
