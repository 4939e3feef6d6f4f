//! A value of a config that cannot be used.

/// A value that cannot be used, and the config key that holds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct InvalidValue {
    /// The key, such as `rule.position`, relative to the section that was checked.
    pub key: String,
    /// What is wrong with the value and how to fix it.
    pub message: String,
}

impl InvalidValue {
    /// The value of `key` is invalid for the reason that `message` gives.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        let (key, message) = (key.into(), message.into());
        Self { key, message }
    }

    /// The same value as seen from outside `section`: its key becomes `section.key`.
    #[must_use]
    pub fn within(self, section: &str) -> Self {
        let key = format!("{section}.{}", self.key);
        Self { key, ..self }
    }
}

/// Refuses the value of `key` unless a condition holds, for the reason that `message` gives.
///
/// # Errors
/// When the condition does not hold.
pub fn require<M: Into<String>>(
    holds: bool,
    key: &str,
    message: impl FnOnce() -> M,
) -> Result<(), InvalidValue> {
    if holds {
        return Ok(());
    }
    Err(InvalidValue::new(key, message()))
}
