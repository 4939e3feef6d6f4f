//! Which vector of the last block the classifier reads.

use std::fmt;

use headlight_keys::{Choice, Kind, Value};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which vector of the last block the classifier reads.
///
/// In TOML `"cls"`, `"last"`, `"mean"`, or a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// That of `[CLS]`.
    Cls,
    /// That of the last position.
    Last,
    /// The mean over all positions that are not padding.
    Mean,
    /// That of this position.
    Position(usize),
}

/// Each name with its sentence.
const NAMES: [(Pooling, &str, &str); 3] = [
    (Pooling::Cls, "cls", "That of `[CLS]`."),
    (Pooling::Last, "last", "That of the last position."),
    (
        Pooling::Mean,
        "mean",
        "The mean over all positions that are not padding.",
    ),
];

impl Pooling {
    fn name(self) -> Option<&'static str> {
        let own = NAMES.iter().find(|(pooling, ..)| *pooling == self);
        own.map(|(_, name, _)| *name)
    }
}

impl Value for Pooling {
    fn kind() -> Kind {
        let choices = NAMES.map(|(_, name, sentence)| Choice {
            name: name.to_owned(),
            sentence: sentence.to_owned(),
        });
        Kind::Either(vec![Kind::Choice(choices.into()), Kind::Whole])
    }

    fn written(&self) -> Option<String> {
        match self {
            Self::Position(position) => position.written(),
            _ => self.name().map(|name| format!("{name:?}")),
        }
    }
}

impl Serialize for Pooling {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Position(position) => position.serialize(serializer),
            _ => serializer.serialize_str(self.name().unwrap_or_default()),
        }
    }
}

impl<'de> Deserialize<'de> for Pooling {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Pooling;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"cls\", \"last\", \"mean\" or a position")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Pooling, E> {
                let found = NAMES.iter().find(|(_, name, _)| *name == text);
                found
                    .map(|(pooling, ..)| *pooling)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            fn visit_u64<E: de::Error>(self, position: u64) -> Result<Pooling, E> {
                Ok(Pooling::Position(
                    usize::try_from(position).unwrap_or(usize::MAX),
                ))
            }

            fn visit_i64<E: de::Error>(self, position: i64) -> Result<Pooling, E> {
                match u64::try_from(position) {
                    Ok(position) => self.visit_u64(position),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(position), &self)),
                }
            }
        }

        deserializer.deserialize_any(Any)
    }
}
