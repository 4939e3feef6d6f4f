//! A mistake in a walkthrough file, and its place.

use std::fmt;
use std::ops::Range;

use headlight_input::toml_message::{Unknown, line_and_column, plain};

/// A mistake in a walkthrough file: one sentence, and its place if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

/// A mistake, with its place as a range of bytes in the file.
#[derive(Debug)]
pub(crate) struct MistakeAt {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
}

impl MistakeAt {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }

    /// Converts the place to line and column.
    pub(crate) fn locate(self, text: &str) -> Mistake {
        Mistake {
            place: Some(line_and_column(text, self.span.start)),
            message: self.message,
        }
    }
}

/// The mistake that the TOML reader reports.
pub(crate) fn unreadable(error: &toml::de::Error, text: &str) -> Mistake {
    let plain = plain(error.message());
    let message = Unknown::parse(&plain).map(|unknown| {
        let what = if unknown.what == "field" {
            "key"
        } else {
            "stage"
        };
        let suggestion = unknown.suggestion("it can be");
        format!("unknown {what} `{}`{suggestion}", unknown.name)
    });
    let message = message.unwrap_or(plain.clone());
    match error.span() {
        Some(span) => MistakeAt::new(span, message).locate(text),
        None => Mistake {
            place: None,
            message,
        },
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
