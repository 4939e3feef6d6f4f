//! The factor of the products of queries and keys.

use std::fmt;

use headlight_keys::{Kind, Value};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The factor of the products of queries and keys.
///
/// In TOML `true`, `false`, or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scale {
    /// `1 / sqrt(d_head)`, which gives scores the variance of queries and keys
    /// (Vaswani et al. 2017, section 3.2.1).
    #[default]
    Root,
    /// 1: the products are the scores.
    Off,
    /// This number.
    Factor(f64),
}

impl Scale {
    /// The factor for queries and keys of this width.
    pub fn factor(self, d_head: usize) -> f64 {
        match self {
            Self::Root => 1.0 / (d_head as f64).sqrt(),
            Self::Off => 1.0,
            Self::Factor(factor) => factor,
        }
    }
}

impl Value for Scale {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Switch, Kind::Number])
    }

    fn written(&self) -> Option<String> {
        match self {
            Self::Root => true.written(),
            Self::Off => false.written(),
            Self::Factor(factor) => factor.written(),
        }
    }
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Root => serializer.serialize_bool(true),
            Self::Off => serializer.serialize_bool(false),
            Self::Factor(factor) => serializer.serialize_f64(factor),
        }
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Scale;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a number")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<Scale, E> {
                Ok(if on { Scale::Root } else { Scale::Off })
            }

            fn visit_f64<E: de::Error>(self, factor: f64) -> Result<Scale, E> {
                Ok(Scale::Factor(factor))
            }

            fn visit_i64<E: de::Error>(self, factor: i64) -> Result<Scale, E> {
                Ok(Scale::Factor(factor as f64))
            }

            fn visit_u64<E: de::Error>(self, factor: u64) -> Result<Scale, E> {
                Ok(Scale::Factor(factor as f64))
            }
        }

        deserializer.deserialize_any(Any)
    }
}
