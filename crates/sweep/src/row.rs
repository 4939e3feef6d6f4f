//! What a results file holds of a run: one line.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::grid::POINT_LIMIT;
use crate::metrics::EvalMetrics;

/// A line of a results file.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Of the initial weights and the batch order.
    pub seed: u64,
    /// Which point of the grid; `None` without a grid.
    pub point: Option<usize>,
    /// The grid's keys and their values.
    pub values: Vec<(String, Value)>,
    /// What came of the run, or why nothing did.
    pub outcome: Result<Outcome, String>,
    /// Of all that the sweep's runs share.
    pub config_sha256: String,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Mean loss over the batches of each epoch.
    pub epoch_loss: Vec<f64>,
    /// Over the training samples, with the final weights.
    pub train: EvalMetrics,
    /// Over the held-out samples, where there are any.
    pub held_out: Option<EvalMetrics>,
    /// Attention of `[CLS]` in the last block on each position, mean over heads and over positive
    /// training samples; `None` where there are none. `[position]`
    pub attention_positive: Option<Vec<f64>>,
    /// The same over negative training samples.
    pub attention_negative: Option<Vec<f64>>,
    /// The first step after which held-out F1 was 0.99 or more.
    pub learned_at_step: Option<usize>,
    /// Of `model.safetensors`, as `headlight train` writes it.
    pub weights_sha256: String,
}

/// Fields of single numbers, in their order, from an evaluation.
fn ratios(metrics: Option<&EvalMetrics>) -> [(&'static str, Option<f64>); 5] {
    [
        ("final_loss", metrics.map(|metrics| metrics.loss)),
        ("accuracy", metrics.map(|metrics| metrics.accuracy)),
        ("precision", metrics.and_then(|metrics| metrics.precision)),
        ("recall", metrics.and_then(|metrics| metrics.recall)),
        ("f1", metrics.and_then(|metrics| metrics.f1)),
    ]
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seed", &self.seed)?;
        if let Some(point) = self.point {
            map.serialize_entry("point", &point)?;
        }
        for (key, value) in &self.values {
            map.serialize_entry(key, value)?;
        }
        match &self.outcome {
            Err(message) => map.serialize_entry("error", message)?,
            Ok(outcome) => {
                map.serialize_entry("epoch_loss", &outcome.epoch_loss)?;
                for (name, value) in ratios(Some(&outcome.train)) {
                    map.serialize_entry(name, &value)?;
                }
                for (name, value) in ratios(outcome.held_out.as_ref()) {
                    map.serialize_entry(&format!("held_out_{name}"), &value)?;
                }
                map.serialize_entry("min_positive", &outcome.train.min_positive)?;
                map.serialize_entry("max_negative", &outcome.train.max_negative)?;
                map.serialize_entry("attention_positive", &outcome.attention_positive)?;
                map.serialize_entry("attention_negative", &outcome.attention_negative)?;
                map.serialize_entry("learned_at_step", &outcome.learned_at_step)?;
                map.serialize_entry("weights_sha256", &outcome.weights_sha256)?;
            }
        }
        map.serialize_entry("config_sha256", &self.config_sha256)?;
        map.end()
    }
}

/// A line as it was read back: its place, and those of its fields that were asked for.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) seed: u64,
    pub(crate) point: Option<usize>,
    pub(crate) config_sha256: String,
    pub(crate) fields: Map<String, Value>,
}

impl Line {
    /// Reads a line with all of its fields.
    ///
    /// # Errors
    /// When it is none of a results file: says what is missing.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_only(text, |_| true)
    }

    /// Reads a line with its place and the fields that `keep` names; passing over the others is
    /// several times as fast as reading them.
    ///
    /// # Errors
    /// As [`Line::parse`].
    pub(crate) fn parse_only(text: &str, keep: impl Fn(&str) -> bool) -> Result<Self, String> {
        let mut parser = serde_json::Deserializer::from_str(text);
        let fields = Fields(keep)
            .deserialize(&mut parser)
            .and_then(|fields| parser.end().map(|()| fields))
            .map_err(|error| format!("it is no JSON object ({error})"))?;
        let point = match fields.get("point") {
            None => None,
            Some(point) => {
                let point = point.as_u64().ok_or("its `point` is no whole number")? as usize;
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

/// Fields of a place, which every line has.
const PLACE: [&str; 3] = ["seed", "point", "config_sha256"];

/// Some fields of a JSON object.
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
