//! Reads rows of a results file.

use headlight_experiment::config::ExperimentConfig;
use serde_json::{Map, Value};

use crate::fields::{Kind, fields};
use crate::grid::{POINT_LIMIT, is_grid_key};

/// A row that was read: its place in the plan, and all its fields.
#[derive(Clone, Debug)]
pub(crate) struct StoredRow {
    pub(crate) seed: u64,
    pub(crate) point: Option<usize>,
    pub(crate) config_sha256: String,
    pub(crate) fields: Map<String, Value>,
}

impl StoredRow {
    /// Reads a row.
    ///
    /// # Errors
    /// When the text is not a row. Names the missing field.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let fields: Map<String, Value> = serde_json::from_str(text)
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
        // As they are read, since a decimal number can be another one then.
        let written = |(key, value): &(String, Value)| {
            let value = serde_json::from_str(&value.to_string()).unwrap_or_default();
            (key.clone(), value)
        };
        let expected = values.iter().map(written).collect::<Map<_, _>>();
        if !self.grid().eq(&expected) {
            return Err("its values of the grid's keys are not those of this sweep".to_owned());
        }
        let expected = fields().iter().filter(|field| field.is_in_rows_of(config));
        let results = expected.map(|field| (&*field.name, field.kind()));
        let all: Vec<(&str, Kind)> = if self.fields.contains_key("error") {
            vec![("error", Kind::Text)]
        } else {
            results.collect()
        };
        let is_right = |name: &str, kind: Kind| {
            let value = self.fields.get(name).filter(|value| kind.holds(value));
            let mut tests = config.tests.iter();
            value.is_some_and(|value| {
                kind != Kind::ByName || tests.all(|test| value.get(&test.name).is_some())
            })
        };
        match all.into_iter().find(|&(name, kind)| !is_right(name, kind)) {
            Some((name, _)) => Err(format!("its `{name}` is missing, or of another type")),
            None => Ok(()),
        }
    }

    /// The grid's keys and their values.
    pub(crate) fn grid(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.fields.iter().filter(|(key, _)| is_grid_key(key))
    }
}
