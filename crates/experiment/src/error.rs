//! Why an experiment cannot begin or go on.

use std::fmt;

/// Why an experiment cannot begin or go on, as one sentence for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The config, or samples and weights from elsewhere, cannot be used.
    Input(String),
    /// The loss, the weights or what follows from them became NaN or infinite.
    Diverged(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(message) | Self::Diverged(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for Error {}
