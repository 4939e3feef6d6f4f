//! The keys of a config, and the values that are refused.

use crate::common::{at, check};
use headlight_data::{ClsPlace, DatasetConfig, DrawConfig, Generator, Source};
use serde_json::json;

/// What a config parses to, or the message.
fn parsed(keys: serde_json::Value) -> Result<DatasetConfig, String> {
    crate::common::parsed(keys, &json!({}))
}

fn generated(generator: Generator, positive_rate: Option<f64>) -> DatasetConfig {
    crate::common::config(json!({
        "generator": generator, "positive_rate": positive_rate, "samples": 10, "vocab_size": 5, "seq_len": 3,
        "rule": { "kind": "token-anywhere", "token": 1 },
    }))
}

#[test]
fn keys_have_defaults() {
    let rule = json!({ "kind": "token-at-position", "token": 3, "position": 2 });
    let config = parsed(json!({ "samples": 7, "vocab_size": 5, "seq_len": 3, "rule": rule }));
    let expected = DatasetConfig {
        source: Source::Generated(DrawConfig::new(Generator::Numpy, 7)),
        rule: Some(at(3, 2)),
        ..generated(Generator::Numpy, None)
    };
    assert_eq!(config, Ok(expected));
}

#[test]
fn a_config_comes_back_from_its_keys() {
    let mut of_file = generated(Generator::Numpy, None);
    (of_file.source, of_file.rule) = (Source::File("a.npz".into()), None);
    let mut named = of_file.clone();
    (named.n_classes, named.classes) = (3, ["x", "y", "z"].map(str::to_owned).to_vec());
    let mut last = generated(Generator::Chacha, Some(0.25));
    (last.seed, last.cls, last.held_out) = (9, ClsPlace::Last, 4);
    let mut three = generated(Generator::Numpy, None);
    three.n_classes = 3;
    // Two classes are the default of generated samples; a file could have others.
    let cases = [
        (of_file, Some(2)),
        (named, Some(3)),
        (last, None),
        (three, Some(3)),
    ];
    for (config, n_classes) in cases {
        let keys = serde_json::to_value(&config).unwrap();
        assert_eq!(keys.get("n_classes"), n_classes.map(|n| json!(n)).as_ref());
        assert_eq!(parsed(keys), Ok(config));
    }
}

#[test]
fn a_rule_may_give_the_number_of_classes() {
    let rule = json!({ "kind": "sum-mod", "modulus": 7 });
    let keys = |changes: serde_json::Value| {
        let keys = json!({"generator": "all", "samples": 5, "vocab_size": 7, "seq_len": 2, "cls": "none", "rule": rule});
        crate::common::parsed(keys, &changes).unwrap()
    };
    let config = keys(json!({}));
    assert_eq!((config.n_classes, config.validate()), (7, Ok(())));
    let again = parsed(serde_json::to_value(&config).unwrap());
    assert_eq!(again, Ok(config));
    // Longer samples of a test set may have more.
    assert_eq!(keys(json!({ "n_classes": 8 })).validate(), Ok(()));
    for wrong in [2, 6] {
        let error = keys(json!({ "n_classes": wrong })).validate().unwrap_err();
        assert_eq!(error.key, "n_classes");
        assert!(error.message.contains("set n_classes = 7"), "{error}");
    }
    let mut rule = rule.clone();
    rule["modulus"] = json!(1);
    let error = keys(json!({ "rule": rule })).validate().unwrap_err();
    assert_eq!(error.key, "rule.modulus");
}

#[test]
fn names_of_classes_give_their_number() {
    let names = ["a", "b", "c"];
    let config = json!({ "file": "a.npz", "vocab_size": 5, "seq_len": 3, "classes": names });
    let config = parsed(config).unwrap();
    assert_eq!((config.n_classes, config.validate()), (3, Ok(())));
    assert_eq!(config.class_name(2), "c");
    assert_eq!(generated(Generator::Numpy, None).class_name(1), "1");
}

/// 2^30 tokens with [CLS] are the most; a file's samples are not drawn.
const LIMITS: &str = r#"
{}                                                     | valid
{"vocab_size": 2}                                      | valid
{"vocab_size": 1}                                      | vocab_size | is 1;
{"vocab_size": 0}                                      | vocab_size | is 0;
{"seq_len": 1}                                         | valid
{"seq_len": 0}                                         | seq_len    | seq_len is 0
{"samples": 1}                                         | valid
{"samples": 0}                                         | samples    | samples is 0
{"samples": 268435456}                                 | valid
{"samples": 268435457}                                 | samples    | 1073741824
{"samples": 268435456, "held_out": 1}                  | samples    | held_out
{"seq_len": 18446744073709551615}                      | samples
{"held_out": 18446744073709551615}                     | samples
{"seed": 4294967295}                                   | valid
{"seed": 4294967296}                                   | seed       | 4294967296
{"rule": {"kind": "token-anywhere", "token": 5}}       | rule.token | token 5
{"rule": {"kind": "count", "token": 5}}                | rule.token | token 5
{"n_classes": 1}                                       | n_classes  | is 1;
{"n_classes": 3}                                       | n_classes  | at most 2
{"n_classes": 2, "classes": ["a", "a "]}               | classes    | two classes
{"n_classes": 4, "rule": {"kind": "count", "token": 1}} | valid
{"n_classes": 5, "rule": {"kind": "count", "token": 1}} | n_classes | at most 4
{"n_classes": 65537, "rule": {"kind": "count", "token": 1}} | n_classes | to 65536
{"file": "a.npz", "generator": null, "samples": null, "rule": null, "n_classes": 65536} | valid
{"file": "a.npz", "generator": null, "samples": null, "seed": 18446744073709551615} | valid
{"generator": "chacha", "seed": 18446744073709551615}  | valid
{"generator": "chacha", "vocab_size": 2}               | valid
{"positive_rate": 0.5}                                 | positive_rate | numpy
{"generator": "chacha", "positive_rate": 0}            | valid
{"generator": "chacha", "positive_rate": 1}            | valid
{"generator": "chacha", "positive_rate": 1.5}          | positive_rate | 1.5
{"generator": "chacha", "positive_rate": -0.1}         | positive_rate | -0.1
{"label_noise": 0.999}                                 | valid
{"label_noise": 1.0}                                   | label_noise
{"label_noise": -0.1}                                  | label_noise
{"generator": "chacha", "positive_rate": 0.5, "n_classes": 2, "rule": {"kind": "count", "token": 1}} | valid
{"generator": "chacha", "positive_rate": 0.5, "n_classes": 3, "rule": {"kind": "count", "token": 1}} | positive_rate
"#;

/// Keys that are missing, unknown, or do not go together.
const TOGETHER: &str = r#"
{"file": "a.npz", "generator": null, "samples": null, "rule": null} | valid
{"file": "a.npz", "samples": null}                     | unread | `file` | `generator`
{"file": "a.npz", "generator": null}                   | unread | `file` | `samples`
{"file": "a.npz", "generator": null, "samples": null, "positive_rate": 0.5} | unread | `file` | `positive_rate`
{"samples": null}                                      | unread | `samples`
{"rule": null}                                         | unread | `rule`
{"seq_len": null}                                      | unread | `seq_len`
{"speed": 1}                                           | unread | `speed`
{"generator": "sentences", "cls": "none", "vocab_size": null, "seq_len": null, "rule": {"kind": "sentence", "corpus": "negation"}} | cls | model.pooling
"#;

#[test]
fn values_at_their_limits_and_keys_that_go_together() {
    let keys = json!({
        "generator": "numpy", "samples": 10, "vocab_size": 5, "seq_len": 3, "rule": { "kind": "token-anywhere", "token": 1 },
    });
    check(&keys, LIMITS);
    check(&keys, TOGETHER);
}

#[test]
fn generated_samples_need_a_rule() {
    let mut config = generated(Generator::Numpy, None);
    config.rule = None;
    assert_eq!(config.generate().unwrap_err().key, "rule");
}

#[test]
fn the_place_of_cls() {
    for (cls, position, positions, token, name) in [
        (ClsPlace::First, Some(0), 7, 1, "first"),
        (ClsPlace::Last, Some(6), 7, 1, "last"),
        (ClsPlace::None, None, 6, 0, "none"),
    ] {
        assert_eq!((cls.position(6), cls.name()), (position, name));
        assert_eq!((cls.positions(6), cls.first_token()), (positions, token));
    }
}
