//! What is wrong with a walkthrough file, and where.

use std::fmt;
use std::ops::Range;

use headlight_input::toml_message::{Unknown, line_and_column, plain};

/// What is wrong with a walkthrough file: one sentence, with its place where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    /// The sentence.
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

/// A sentence about some bytes of the file.
#[derive(Debug)]
pub(crate) struct At {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
}

impl At {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }

    /// The same with line and column instead of bytes.
    pub(crate) fn place(self, text: &str) -> Mistake {
        Mistake {
            place: Some(line_and_column(text, self.span.start)),
            message: self.message,
        }
    }
}

/// A message of the TOML reader, with its place.
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
        Some(span) => At::new(span, message).place(text),
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
