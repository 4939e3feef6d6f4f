//! The JSON Schema of a config, for editors.

use headlight_experiment::config::ExperimentConfig;
use headlight_schema::{ConfigSection, Key, Kind, Range};
use serde_json::{Map, Value, from_str, json};

/// The schema, in the draft that editors of TOML know.
pub(crate) fn schema() -> Value {
    let mut schema = object(&ExperimentConfig::keys());
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("The config of a Headlight experiment");
    // Rules stand in the schema once.
    let rule = json!({ "$ref": "#/properties/data/properties/rule" });
    schema["properties"]["tests"]["items"]["properties"]["rule"] = rule;
    // One of the two says how long to train.
    schema["properties"]["training"]["anyOf"] =
        json!([{ "required": ["epochs"] }, { "required": ["steps"] }]);
    schema
}

fn object(keys: &[Key]) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| (key.name.to_owned(), of_key(key)))
        .collect();
    let required = keys.iter().filter(|key| key.is_required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn of_key(key: &Key) -> Value {
    let mut schema = of_kind(&key.kind);
    schema["description"] = json!(key.sentence);
    if let Some(default) = &key.default {
        schema["default"] = from_str(default).unwrap();
    }
    if let Some(range) = key.range {
        let Range { from, to, .. } = range;
        let number = |value: f64| match key.kind {
            Kind::Whole => json!(value as u64),
            _ => json!(value),
        };
        let (least, most) = match (range.with_from, range.with_to) {
            (true, true) => ("minimum", "maximum"),
            (true, false) => ("minimum", "exclusiveMaximum"),
            (false, true) => ("exclusiveMinimum", "maximum"),
            (false, false) => ("exclusiveMinimum", "exclusiveMaximum"),
        };
        schema[least] = number(from);
        if to.is_finite() {
            schema[most] = number(to);
        }
    }
    schema
}

fn of_kind(kind: &Kind) -> Value {
    match kind {
        Kind::Whole => json!({ "type": "integer", "minimum": 0 }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Text | Kind::Path => json!({ "type": "string" }),
        Kind::Choice(choices) => {
            let names = choices.iter().map(|choice| &choice.name);
            let sentences = choices.iter().map(|choice| &choice.sentence);
            let (names, sentences) = (names.collect::<Vec<_>>(), sentences.collect::<Vec<_>>());
            // Editors that use Taplo show a sentence beside each name.
            json!({ "enum": names, "x-taplo": { "docs": { "enumValues": sentences } } })
        }
        Kind::List(of) => json!({ "type": "array", "items": of_kind(of) }),
        Kind::Table(of) => json!({ "type": "object", "additionalProperties": of_kind(of) }),
        Kind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(of_kind).collect::<Vec<_>>() })
        }
        Kind::Section(keys) => object(keys),
        Kind::Variants(variants) => {
            let variants = variants.iter().map(|variant| {
                let mut schema = object(&variant.keys);
                schema["description"] = json!(variant.sentence);
                schema["properties"]["kind"] = json!({ "const": variant.name });
                let required = schema["required"].as_array_mut();
                required.unwrap().insert(0, json!("kind"));
                schema
            });
            json!({ "oneOf": variants.collect::<Vec<_>>() })
        }
    }
}
