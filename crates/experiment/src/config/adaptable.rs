//! Numbers that a run may adapt.

use headlight_keys::{Kind, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A whole number that a run may adapt unless its config gives it. Configs write the number alone.
#[derive(Clone, Copy, Debug)]
pub struct Adaptable {
    /// The number.
    pub value: usize,
    /// Whether a config gives it.
    pub is_given: bool,
}

impl Adaptable {
    /// The number of a config that leaves it out.
    pub const fn by_default(value: usize) -> Self {
        Self {
            value,
            is_given: false,
        }
    }

    /// Replaces the number unless a config gives it.
    pub fn adapt(&mut self, value: usize) {
        if !self.is_given {
            self.value = value;
        }
    }
}

/// Configs are equal if their numbers are.
impl PartialEq for Adaptable {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Serialize for Adaptable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Adaptable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self {
            value: usize::deserialize(deserializer)?,
            is_given: true,
        })
    }
}

impl Value for Adaptable {
    fn kind() -> Kind {
        usize::kind()
    }

    fn written(&self) -> Option<String> {
        self.value.written()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_number_stays() {
        let mut left_out = Adaptable::by_default(4);
        left_out.adapt(2);
        let mut given: Adaptable = serde_json::from_str("4").unwrap_or(left_out);
        given.adapt(2);
        assert_eq!((left_out.value, given.value), (2, 4));
    }
}
