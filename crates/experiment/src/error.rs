//! The errors of an experiment.

use std::{fmt, io};

/// Why an experiment cannot start or continue, as one sentence for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The config, or samples or weights from outside, are invalid.
    Input(String),
    /// The loss, the weights or values computed from them became NaN or infinite.
    Diverged(String),
}

impl Error {
    /// The error of a model whose output is NaN or infinite; `place` is empty, or a space and the output's input.
    pub fn not_finite(place: &str) -> Self {
        Self::Diverged(format!(
            "the model's output{place} is not finite: its parameters are damaged, or training diverged"
        ))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(message) | Self::Diverged(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for Error {}

/// The error is found again inside: see [`io::Error::downcast`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}
