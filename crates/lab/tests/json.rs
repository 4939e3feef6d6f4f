//! JSON is read and written as `serde_json` does.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_experiment::config::ExperimentConfig;
use headlight_lab::json::{Json, Object, read};
use proptest::prelude::*;
use serde_json::{Value, json};

fn written(value: &dyn Json) -> String {
    let mut text = String::new();
    value.write(&mut text);
    text
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Both read the same, or both refuse it.
fn same(text: &str) -> bool {
    read::<Value>(text).ok() == serde_json::from_str(text).ok()
}

proptest! {
    #[test]
    fn values_are_read_as_they_were_written(value in value()) {
        prop_assert_eq!(&read::<Value>(&value.to_string()).unwrap(), &value);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(read::<Value>(&pretty).unwrap(), value);
        read::<serde::de::IgnoredAny>(&pretty).unwrap();
    }

    #[test]
    fn damaged_texts_are_refused_as_well(value in value(), at in any::<prop::sample::Index>(), by in any::<char>()) {
        let mut characters: Vec<char> = value.to_string().chars().collect();
        let index = at.index(characters.len());
        characters[index] = by;
        prop_assert!(same(&characters.iter().collect::<String>()));
        characters.remove(index);
        prop_assert!(same(&characters.iter().collect::<String>()));
    }

    #[test]
    fn texts_of_its_characters_are_read_alike(text in r#"[\[\]{}:,"\\ntrufalse0-9eE+. -]{0,12}"#) {
        prop_assert!(same(&text), "{}", text);
    }

    #[test]
    fn what_is_written_is_json(text in ".{3}", numbers in prop::collection::vec(any::<f64>(), 0..4), count in any::<u64>()) {
        let object = Object::default()
            .with("numbers", &numbers)
            .with("nested", &Object::default())
            .with("pair", &(Some(count), None::<usize>))
            .with(&text, &text);
        let mut found: Value = serde_json::from_str(&written(&object)).unwrap();
        let read: Vec<f64> = serde_json::from_value(found["numbers"].take()).unwrap();
        prop_assert_eq!(read, numbers);
        prop_assert_eq!(&found["pair"], &json!([count, null]));
        prop_assert_eq!(&found["nested"], &json!({}));
        prop_assert_eq!(&found[&text], &json!(text));
    }
}

#[test]
fn escapes_are_characters() {
    for text in [
        r#""\"\\\/\b\f\n\r\t""#,
        r#""\u0041\u00e9\ud83d\ude00""#,
        r#""\ud83d""#,
        r#""\ud83d\u0041""#,
        r#""\ude00""#,
        r#""\u12""#,
        r#""\u+123""#,
        r#""\x""#,
        "\"\u{1}\"",
        r#"{"\u006b": 1}"#,
        "1.",
        "01",
        "-",
        "-0",
        "1e400",
        "1 2",
        "[1,]",
        "{\"a\":1,}",
        "",
        " null ",
    ] {
        assert!(same(text), "{text}");
    }
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(read::<Value>(&deep(100)).is_ok());
    assert!(read::<Value>(&deep(101)).is_err());
    assert!(read::<Value>(&"[".repeat(1 << 20)).is_err());
}

#[test]
fn configs_are_read_alike() {
    let config = json!({
        "seed": u64::MAX,
        "data": {
            "generator": "chacha", "samples": 9, "positive_rate": 0.5, "vocab_size": 9, "seq_len": 3, "cls": "last",
            "rule": { "kind": "token-before-token", "first": 3, "second": 4 },
        },
        "model": {
            "d_model": 4, "layer_norm_eps": 1e-6,
            "attention": { "mask": [[true, false], [0, 1]], "scale": false, "temperature": 2, "padding_token": null },
        },
        "training": { "epochs": 2, "learning_rate": 0.001, "keep_best": null },
        "dump": { "formats": ["npz", "csv"] },
    });
    let found: ExperimentConfig = read(&config.to_string()).unwrap();
    assert_eq!(found, serde_json::from_value(config.clone()).unwrap());
    for (path, wrong) in [
        ("/data/cls", json!("middle")),
        ("/data/seq_len", json!(-3)),
        ("/data/samples", json!(1.5)),
        ("/data/rule/kind", json!("none")),
        ("/model", json!([4])),
        ("/model/attention/mask", json!("all")),
        ("/training/epochs", json!("2")),
        ("/dump/formats", json!(["npz", { "csv": 1 }])),
    ] {
        let mut config = config.clone();
        *config.pointer_mut(path).unwrap() = wrong;
        assert!(
            read::<ExperimentConfig>(&config.to_string()).is_err(),
            "{path}"
        );
    }
    let mut config = config;
    config["data"]["speed"] = json!(1);
    let error = read::<ExperimentConfig>(&config.to_string()).unwrap_err();
    assert!(
        error.to_string().contains("unknown field `speed`"),
        "{error}"
    );
}
