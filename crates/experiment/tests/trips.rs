//! A config of any keys is written as TOML, as a run directory has it, and as JSON, as dumps have it, and read back as it was.
//!
//! `PROPTEST_CASES` sets the number of cases.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::{CONFIG, parse};
use headlight_experiment::config::{ExperimentConfig, toml as configs};
use headlight_schema::{ConfigSection, Key, Kind, paths};
use proptest::prelude::*;

/// Fewer cases than proptest has by default.
fn cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if is_set { config.cases } else { 60 },
        ..config
    }
}

/// What a value is made of.
type Drawn = (u32, f64, String);

/// A value of a kind, as JSON; `None` for sections, whose keys have values.
fn value(kind: &Kind, (whole, number, text): &Drawn) -> Option<serde_json::Value> {
    let drawn = (*whole, *number, text.clone());
    let chosen = |count: usize| *whole as usize % count;
    Some(match kind {
        Kind::Whole if whole.is_multiple_of(5) => (u64::from(*whole) << 31).into(),
        Kind::Whole => (whole % 12).into(),
        Kind::Number => (*number).into(),
        Kind::Switch => whole.is_multiple_of(2).into(),
        Kind::Text | Kind::Path => text.as_str().into(),
        Kind::Choice(choices) => choices[chosen(choices.len())].name.as_str().into(),
        Kind::List(of) => {
            let other = (whole.wrapping_add(1), number / 3.0, format!("{text}2"));
            vec![value(of, &drawn)?, value(of, &other)?].into()
        }
        Kind::Table(of) => [(text.clone(), value(of, &drawn)?)].into_iter().collect(),
        Kind::Either(kinds) => value(&kinds[chosen(kinds.len())], &drawn)?,
        Kind::Section(_) | Kind::Variants(_) => return None,
    })
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..1.0_f64,
        1e-12..1e-3_f64,
        0.0..1e9_f64,
        Just(5e-324),
        Just(1.0)
    ]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_config_is_read_back(draws in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), number(), ".{0,6}"), 1..12)) {
        let keys: Vec<(String, Key)> = paths(ExperimentConfig::keys());
        let mut changes: Vec<String> = Vec::new();
        for (index, whole, number, text) in draws {
            let (path, key) = index.get(&keys);
            let Some(value) = value(&key.kind, &(whole, number, text)) else { continue };
            // What JSON and TOML write alike.
            changes.push(format!("{path}={value}"));
            let all: Vec<&str> = changes.iter().map(String::as_str).collect();
            if parse(&all).is_err() {
                changes.pop();
            }
        }
        let all: Vec<&str> = changes.iter().map(String::as_str).collect();
        let config = parse(&all).unwrap();
        let text = toml::to_string(&config).unwrap();
        let again = configs::parse("config.toml", &text, std::iter::empty(), |_| Ok(()), |_| Ok(()));
        prop_assert_eq!(again.as_ref(), Ok(&config), "{}", text);
        prop_assert_eq!(toml::to_string(&again.unwrap()).unwrap(), text);
        let json = serde_json::to_string(&config).unwrap();
        prop_assert_eq!(serde_json::from_str::<ExperimentConfig>(&json).unwrap(), config);
    }

    /// The words of a vocabulary, and names of classes and columns.
    #[test]
    fn names_are_read_back(
        vocabulary in prop::collection::hash_set(r"[^\s\p{C}]{1,5}", 1..12),
        classes in prop::collection::hash_set("[^\\p{C}]{1,6}", 2),
        features in prop::collection::vec("\\PC{1,6}", 0..3),
        lowercase in any::<bool>(),
    ) {
        let vocab_size = vocabulary.len() + 3;
        let words = serde_json::json!({"vocabulary": vocabulary, "lowercase": lowercase});
        let data = serde_json::json!({
            "file": "x.csv", "words": words, "classes": classes, "features": features, "vocab_size": vocab_size, "seq_len": 3
        });
        let mut config = parse(&["model.attention.padding_token=1"]).unwrap();
        config.data = serde_json::from_value(data).unwrap();
        let valid = config.validate();
        prop_assume!(valid.is_ok(), "{:?}", valid);
        let text = toml::to_string(&config).unwrap();
        let again = configs::parse("config.toml", &text, std::iter::empty(), |_| Ok(()), |_| Ok(()));
        prop_assert_eq!(again, Ok(config), "{}", text);
    }
}

/// The changes of the test reach every section.
#[test]
fn values_are_drawn_for_every_key() {
    assert!(CONFIG.contains("seed"));
    let keys = paths(ExperimentConfig::keys());
    let drawn = |key: &Key| value(&key.kind, &(7, 0.5, "x".to_owned()));
    let without: Vec<&String> = keys
        .iter()
        .filter(|(_, key)| drawn(key).is_none())
        .map(|(path, _)| path)
        .collect();
    assert_eq!(without, ["data.rule", "tests"]);
}

#[test]
fn test_sets_are_read_back() {
    let tests = "tests=[{ name = \"a\", at_end = true, samples = 4, seq_len = 2, label_noise = 0.5, \
                 rule = { kind = \"majority\", token = 3 } }, { name = \"b\", file = \"b.npz\" }]";
    let config = parse(&[tests]).unwrap();
    assert_eq!(config.tests.len(), 2);
    let text = toml::to_string(&config).unwrap();
    let read = configs::parse("c.toml", &text, std::iter::empty(), |_| Ok(()), |_| Ok(()));
    assert_eq!(read, Ok(config.clone()));
    let json = serde_json::to_value(&config).unwrap();
    assert_eq!(
        serde_json::from_value::<ExperimentConfig>(json).unwrap(),
        config
    );
}
