//! The samples of test sets.

use std::collections::HashSet;

use headlight_data::{Dataset, DatasetConfig, Source, TestSet};
use serde_json::{Value, json};

fn config(changes: &Value) -> DatasetConfig {
    let keys = json!({
        "seed": 5, "generator": "chacha", "samples": 60, "vocab_size": 5, "seq_len": 3, "balanced": true,
        "rule": {"kind": "parity", "token": 2},
    });
    crate::common::parsed(keys, changes).unwrap()
}

fn draw(config: &DatasetConfig, test: &Value) -> Dataset {
    let test: TestSet = serde_json::from_value(test.clone()).unwrap();
    let train = config.generate().unwrap().train;
    config.draw_test(&test, &train).unwrap()
}

fn rows(samples: &Dataset) -> HashSet<&[u32]> {
    samples.all_tokens().chunks(samples.positions()).collect()
}

/// 64 samples are possible, and training has nearly half of them.
#[test]
fn no_sample_is_one_of_training() {
    let config = config(&json!({}));
    let train = config.generate().unwrap().train;
    let test = draw(&config, &json!({ "name": "same" }));
    assert_eq!(test.len(), 1000);
    assert!(rows(&test).is_disjoint(&rows(&train)));
    assert_eq!(test.class_counts(2), [500, 500]);
    let held_out = self::config(&json!({ "held_out": 7 }));
    assert_eq!(draw(&held_out, &json!({ "name": "same" })).len(), 7);
}

#[test]
fn what_differs_is_what_the_set_names() {
    let config = config(&json!({}));
    let same = draw(&config, &json!({ "name": "same" }));
    let noisy = draw(&config, &json!({ "name": "noisy", "label_noise": 0.5 }));
    assert_eq!(same.all_tokens(), noisy.all_tokens());
    let labels = same.labels().iter().zip(noisy.labels());
    let differ = labels.filter(|(own, other)| own != other).count();
    assert!((400..600).contains(&differ), "{differ}");

    let longer = draw(
        &config,
        &json!({ "name": "longer", "seq_len": 9, "samples": 40 }),
    );
    assert_eq!((longer.len(), longer.positions()), (40, 10));
    let rule = json!({ "kind": "token-at-position", "token": 4, "position": 2 });
    let other = draw(&config, &json!({ "name": "other", "rule": rule }));
    for sample in 0..other.len() {
        let is_positive = other.tokens(sample)[2] == 4;
        assert_eq!(other.label(sample), u32::from(is_positive));
    }
}

/// A set's rule may have fewer classes than the model, and each class that it has as many samples.
#[test]
fn a_rule_with_fewer_classes_has_samples_of_each() {
    let config = config(&json!({ "rule": {"kind": "sum-mod", "modulus": 5}, "vocab_size": 9 }));
    for (rule, counts) in [
        (json!({ "kind": "sum-mod", "modulus": 3 }), [4, 4, 4, 0, 0]),
        (
            json!({ "kind": "token-anywhere", "token": 2 }),
            [6, 6, 0, 0, 0],
        ),
        (json!({ "kind": "count", "token": 2 }), [3, 3, 3, 3, 0]),
    ] {
        let samples = draw(
            &config,
            &json!({ "name": "few", "samples": 12, "rule": rule }),
        );
        assert_eq!(samples.class_counts(5), counts);
    }
}

#[test]
fn none_of_its_samples_is_held_out() {
    let config = config(&json!({ "held_out": 7 }));
    let test: TestSet =
        serde_json::from_value(json!({ "name": "file", "file": "other.csv" })).unwrap();
    let folded = DatasetConfig {
        source: Source::File("own.csv".into()),
        fold: Some("1/5".to_owned().try_into().unwrap()),
        ..config.clone()
    };
    for config in [config, folded] {
        let own = config.of_test(&test).unwrap();
        assert_eq!((own.held_out, own.fold), (0, None));
    }
}

#[test]
fn samples_that_do_not_exist_are_refused() {
    let all = json!({ "generator": "all", "samples": 64, "held_out": 0, "balanced": false });
    let config = config(&all);
    let train = config.generate().unwrap().train;
    let refused = |test: Value| {
        let test: TestSet = serde_json::from_value(test).unwrap();
        config.draw_test(&test, &train).unwrap_err().key
    };
    assert_eq!(refused(json!({ "name": "all" })), "samples");
    assert_eq!(refused(json!({ "name": "" })), "name");
    assert_eq!(refused(json!({ "name": "a.b" })), "name");
    assert_eq!(
        refused(json!({ "name": "a", "label_noise": 1.0 })),
        "label_noise"
    );
}
