//! The sentence for a config that cannot be used.

use headlight_schema::InvalidValue;

/// The sentence for an invalid value.
pub(crate) fn told(invalid: &InvalidValue) -> String {
    format!("`{}`: {}", invalid.key, invalid.message)
}
