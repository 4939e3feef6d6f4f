//! Why a dataset file cannot be used.

use std::fmt;

use headlight_schema::InvalidValue;

/// A dataset file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct FileError {
    /// The name that the caller gave the file, such as its path.
    pub name: String,
    /// What is wrong with it, with its place in the file.
    pub message: String,
}

impl FileError {
    pub(super) fn new(name: impl fmt::Display, message: impl Into<String>) -> Self {
        Self {
            name: name.to_string(),
            message: message.into(),
        }
    }
}

/// Why the samples of a file cannot be used with a config.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// A value of the config is invalid, or does not fit the file.
    #[error(transparent)]
    Config(#[from] InvalidValue),
    /// The samples of the file do not fit the config.
    #[error(transparent)]
    File(#[from] FileError),
}
