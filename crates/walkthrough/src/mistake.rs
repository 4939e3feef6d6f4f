//! What is wrong with a walkthrough file, and where.

use std::fmt;
use std::ops::Range;

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

    /// With line and column instead of bytes.
    pub(crate) fn place(self, text: &str) -> Mistake {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[line_start..].chars().count() + 1;
        Mistake {
            place: Some((line, column)),
            message: self.message,
        }
    }
}

/// What the TOML reader says, in words for someone who does not read Rust.
pub(crate) fn unreadable(error: &toml::de::Error, text: &str) -> Mistake {
    let message = error.message().trim_end().replace('\n', ", ");
    let message = suggestion(&message).unwrap_or_else(|| {
        message
            .replace("expected usize", "expected a whole number, 0 or more")
            .replace("expected f64", "expected a number")
            .replace("expected a sequence", "expected a list")
    });
    match error.span() {
        Some(span) => At::new(span, message).place(text),
        None => Mistake {
            place: None,
            message,
        },
    }
}

/// An unknown name, with the nearest of those that are known.
fn suggestion(message: &str) -> Option<String> {
    let (what, rest) = message
        .strip_prefix("unknown field ")
        .map(|rest| ("key", rest))
        .or_else(|| {
            let rest = message.strip_prefix("unknown variant ")?;
            Some(("stage", rest))
        })?;
    // Every second piece between backticks is a name.
    let mut names = rest.split('`').skip(1).step_by(2);
    let name = names.next()?;
    let known: Vec<&str> = names.collect();
    Some(match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`; it can be {}", known.join(", ")),
    })
}

/// The name most like `name`, if any is like it.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (strsim::jaro_winkler(candidate, name), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// `1 row`, `2 rows`.
pub(crate) fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
