//! Values that a run, or another key, may adapt.

use headlight_schema::{Kind, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that a run, or another key, may adapt unless the config gives it. Configs write the value alone.
#[derive(Clone, Copy, Debug)]
pub struct Adaptable<T = usize> {
    /// The value.
    pub value: T,
    /// Whether a config gives it.
    pub is_given: bool,
}

impl<T> Adaptable<T> {
    /// The value of a config that leaves it out.
    pub const fn by_default(value: T) -> Self {
        Self {
            value,
            is_given: false,
        }
    }

    /// Replaces the value unless a config gives it.
    pub fn adapt(&mut self, value: T) {
        if !self.is_given {
            self.value = value;
        }
    }
}

/// Configs are equal if their values are.
impl<T: PartialEq> PartialEq for Adaptable<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Serialize> Serialize for Adaptable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Adaptable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self {
            value: T::deserialize(deserializer)?,
            is_given: true,
        })
    }
}

impl<T: Value> Value for Adaptable<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn written(&self) -> Option<String> {
        self.value.written()
    }

    fn number(&self) -> Option<f64> {
        self.value.number()
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
