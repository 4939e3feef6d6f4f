//! Reads rows of a results file.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::grid::POINT_LIMIT;

/// A row that was read: its place in the plan, and the requested fields.
#[derive(Clone, Debug)]
pub(crate) struct StoredRow {
    pub(crate) seed: u64,
    pub(crate) point: Option<usize>,
    pub(crate) config_sha256: String,
    pub(crate) fields: Map<String, Value>,
}

impl StoredRow {
    /// Reads a row's place and the fields that `keep` accepts. Skipping a field is several times as fast as
    /// reading it.
    ///
    /// # Errors
    /// When the text is not a row. Names the missing field.
    pub(crate) fn parse_only(text: &str, keep: impl Fn(&str) -> bool) -> Result<Self, String> {
        let mut parser = serde_json::Deserializer::from_str(text);
        let fields = Fields(keep)
            .deserialize(&mut parser)
            .and_then(|fields| parser.end().map(|()| fields))
            .map_err(|error| format!("it is not a JSON object ({error})"))?;
        let point = match fields.get("point") {
            None => None,
            Some(point) => {
                let point = point.as_u64().ok_or("its `point` is not a whole number")? as usize;
                if point >= POINT_LIMIT {
                    return Err(format!(
                        "its `point` is {point}; a grid has at most {POINT_LIMIT}"
                    ));
                }
                Some(point)
            }
        };
        let hash = fields.get("config_sha256").and_then(Value::as_str);
        Ok(Self {
            seed: fields
                .get("seed")
                .and_then(Value::as_u64)
                .ok_or("it has no `seed`")?,
            point,
            config_sha256: hash.ok_or("it has no `config_sha256`")?.to_owned(),
            fields,
        })
    }
}

/// The fields that give a row's place in the plan; they are always read.
const PLACE: [&str; 3] = ["seed", "point", "config_sha256"];

/// Reads some fields of a JSON object.
struct Fields<K>(K);

impl<'de, K: Fn(&str) -> bool> DeserializeSeed<'de> for Fields<K> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de, K: Fn(&str) -> bool> Visitor<'de> for Fields<K> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if PLACE.contains(&key.as_str()) || (self.0)(&key) {
                fields.insert(key, access.next_value()?);
            } else {
                access.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}
