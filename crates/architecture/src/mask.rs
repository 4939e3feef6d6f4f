//! Which keys each query may look at.

use std::fmt;

use headlight_keys::{Choice, Kind, Value};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which keys each query may look at, by position.
///
/// In TOML `"none"`, `"causal"`, or a matrix with one row per query and one column per key:
/// `[[1, 0], [1, 1]]` or `[[true, false], [true, true]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mask {
    /// All keys.
    #[default]
    None,
    /// The keys at the query's own position and before it.
    Causal,
    /// The keys that are true in the query's row. `[query][key]`
    Matrix(Vec<Vec<bool>>),
}

impl Mask {
    /// Whether a query may look at a key. A matrix allows nothing outside it.
    pub fn allows(&self, query: usize, key: usize) -> bool {
        match self {
            Self::None => true,
            Self::Causal => key <= query,
            Self::Matrix(rows) => rows.get(query).and_then(|row| row.get(key)) == Some(&true),
        }
    }

    /// The mask for these numbers of queries and keys, row-major, true where a query may look;
    /// `None` if every query may look everywhere. `[query, key]`
    ///
    /// If the numbers differ, a causal mask still lets query `i` look at keys 0 to `i`.
    ///
    /// # Errors
    /// When the matrix has a different shape. Names the row or the number of rows.
    pub fn matrix(&self, queries: usize, keys: usize) -> Result<Option<Vec<bool>>, String> {
        match self {
            Self::None => Ok(None),
            Self::Causal => {
                let cells = (0..queries).flat_map(|query| (0..keys).map(move |key| (query, key)));
                Ok(Some(
                    cells.map(|(query, key)| self.allows(query, key)).collect(),
                ))
            }
            Self::Matrix(rows) => {
                if rows.len() != queries {
                    return Err(format!(
                        "the mask has {} rows; there are {queries} queries",
                        rows.len()
                    ));
                }
                if let Some((index, row)) =
                    rows.iter().enumerate().find(|(_, row)| row.len() != keys)
                {
                    return Err(format!(
                        "row {index} of the mask has {} columns; there are {keys} keys",
                        row.len()
                    ));
                }
                Ok(Some(rows.concat()))
            }
        }
    }
}

impl Value for Mask {
    fn kind() -> Kind {
        let choice = |(name, sentence): (&str, &str)| Choice {
            name: name.to_owned(),
            sentence: sentence.to_owned(),
        };
        let names = [
            ("none", "All keys."),
            (
                "causal",
                "The keys at the query's own position and before it.",
            ),
        ];
        let row = Kind::List(Box::new(Kind::Either(vec![Kind::Whole, Kind::Switch])));
        let matrix = Kind::List(Box::new(row));
        Kind::Either(vec![
            Kind::Choice(names.into_iter().map(choice).collect()),
            matrix,
        ])
    }

    fn written(&self) -> Option<String> {
        let name = match self {
            Self::None => "none",
            Self::Causal => "causal",
            Self::Matrix(_) => return None,
        };
        Some(format!("{name:?}"))
    }
}

impl Serialize for Mask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Causal => serializer.serialize_str("causal"),
            Self::Matrix(rows) => {
                let digits = rows.iter().map(|row| row.iter().map(|&may| u8::from(may)));
                serializer.collect_seq(digits.map(Iterator::collect::<Vec<u8>>))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Mask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Mask;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"none\", \"causal\" or a matrix of 0 and 1")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Mask, E> {
                match text {
                    "none" => Ok(Mask::None),
                    "causal" => Ok(Mask::Causal),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Mask, A::Error> {
                let mut matrix = Vec::new();
                while let Some(row) = rows.next_element::<Vec<Switch>>()? {
                    matrix.push(row.into_iter().map(|Switch(may)| may).collect());
                }
                Ok(Mask::Matrix(matrix))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// A boolean, written as `true` and `false` or as 1 and 0.
struct Switch(bool);

impl<'de> Deserialize<'de> for Switch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digit;

        impl Visitor<'_> for Digit {
            type Value = Switch;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0 or 1, true or false")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Switch, E> {
                Ok(Switch(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Switch, E> {
                match value {
                    0 => Ok(Switch(false)),
                    1 => Ok(Switch(true)),
                    _ => Err(E::invalid_value(de::Unexpected::Signed(value), &self)),
                }
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Switch, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }
        }

        deserializer.deserialize_any(Digit)
    }
}
