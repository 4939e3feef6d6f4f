//! Reads rows of a results file.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use headlight_experiment::config::ExperimentConfig;

use crate::fields::{Kind, fields};
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

    /// Checks that a row holds all that a sweep writes: these values of the grid, and all results that the config asks for, or
    /// why the run failed.
    ///
    /// # Errors
    /// What it lacks.
    pub(crate) fn check(
        &self,
        values: &[(String, Value)],
        config: &ExperimentConfig,
    ) -> Result<(), String> {
        let grid = self.fields.iter().filter(|(key, _)| key.contains('.'));
        // As they are read, since a decimal number can be another one then.
        let written = |(key, value): &(String, Value)| {
            let value = serde_json::from_str(&value.to_string()).unwrap_or_default();
            (key.clone(), value)
        };
        let expected = values.iter().map(written).collect::<Map<_, _>>();
        if !grid.eq(&expected) {
            return Err("its values of the grid's keys are not those of this sweep".to_owned());
        }
        let is_number = |value: &Value| value.is_number() || value.is_null();
        let is_list = |value: &Value| {
            let list = value.as_array();
            list.is_some_and(|list| list.iter().all(is_number))
        };
        let is_of = |kind, value: &Value| match kind {
            Kind::Number => is_number(value),
            Kind::List { .. } => value.is_null() || is_list(value),
            Kind::PerHead => {
                let lists = value.as_array();
                value.is_null() || lists.is_some_and(|lists| lists.iter().all(is_list))
            }
            Kind::ByName => {
                let mut names = config.tests.iter().map(|test| &test.name);
                let is_test = |value: &Value| {
                    value
                        .as_object()
                        .is_some_and(|own| own.values().all(is_number))
                };
                names.all(|name| value.get(name).is_some_and(is_test))
            }
            Kind::Text => value.is_string(),
        };
        let expected = fields().iter().filter(|field| field.is_in_rows_of(config));
        let results = expected.map(|field| (&*field.name, field.kind()));
        let all: Vec<(&str, Kind)> = if self.fields.contains_key("error") {
            vec![("error", Kind::Text)]
        } else {
            results.collect()
        };
        let is_right = |name: &str, kind| {
            self.fields
                .get(name)
                .is_some_and(|value| is_of(kind, value))
        };
        match all.into_iter().find(|&(name, kind)| !is_right(name, kind)) {
            Some((name, _)) => Err(format!("its `{name}` is missing, or of another type")),
            None => Ok(()),
        }
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
