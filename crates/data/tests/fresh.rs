//! Samples that each step draws, and shares of held-out samples.

use std::collections::HashSet;

use headlight_data::{Dataset, DatasetConfig, FreshSamples, SampleCount, Source};
use proptest::prelude::*;
use serde_json::{Value, json};

fn keys() -> Value {
    json!({
        "seed": 3, "generator": "chacha", "samples": "fresh", "held_out": 20, "vocab_size": 11, "seq_len": 4,
        "rule": { "kind": "token-anywhere", "token": 7 },
    })
}

/// What a config with these keys parses to, or the message.
fn parsed(more: &Value) -> Result<DatasetConfig, String> {
    crate::common::parsed(keys(), more)
}

/// What draws the batches of a valid config, and its held-out samples.
fn drawn(more: &Value, batch_size: usize, seed: u64) -> (FreshSamples, Dataset) {
    let config = parsed(more).unwrap();
    let splits = config.generate().unwrap();
    assert!(splits.train.is_empty());
    let fresh = FreshSamples::new(&config, &splits.held_out, batch_size, seed).unwrap();
    (fresh, splits.held_out)
}

fn rows(dataset: &Dataset) -> HashSet<&[u32]> {
    let samples = 0..dataset.len();
    samples.map(|sample| dataset.tokens(sample)).collect()
}

/// Origin: `scripts/evidence/test_streams.py`, ChaCha8 from its definition.
#[rustfmt::skip]
const PINNED_FRESH: [u32; 15] = [0, 2, 10, 6, 8, 0, 6, 1, 7, 10, 0, 3, 1, 2, 2];

#[test]
fn the_stream_is_pinned() {
    let (fresh, _) = drawn(&json!({}), 3, 7);
    assert_eq!(fresh.batch(5).unwrap().all_tokens(), PINNED_FRESH);
}

#[test]
fn a_batch_is_a_function_of_seed_and_step() {
    let (fresh, held_out) = drawn(&json!({}), 16, 0);
    let batch = fresh.batch(1000).unwrap();
    assert_eq!(batch.len(), 16);
    for step in [0, 1, 999, 1001] {
        assert_ne!(fresh.batch(step).unwrap(), batch);
    }
    assert_eq!(fresh.batch(1000).unwrap(), batch);
    // The seed of an experiment changes what it draws, that of its data what it is judged on.
    let (other, same) = drawn(&json!({}), 16, 1);
    assert_ne!(other.batch(1000).unwrap(), batch);
    assert_eq!(same, held_out);
    let (_, other) = drawn(&json!({ "seed": 4 }), 16, 0);
    assert_ne!(other, held_out);
}

#[test]
fn held_out_samples_are_drawn_only_where_the_config_allows_it() {
    // 16 different samples, of which 8 at most are held out.
    let small = |more: Value| {
        let mut keys = json!({ "vocab_size": 3, "held_out": 8 });
        keys.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        keys
    };
    for more in [
        json!({ "rule": { "kind": "token-anywhere", "token": 2 } }),
        json!({ "rule": { "kind": "equal-positions", "first": 1, "second": 3 }, "balanced": true }),
        json!({ "rule": { "kind": "equal-positions", "first": 1, "second": 3 }, "generator": "all" }),
    ] {
        let (fresh, held_out) = drawn(&small(more.clone()), 32, 5);
        let held_out = rows(&held_out);
        let mut seen = 0;
        for step in 0..50 {
            let batch = fresh.batch(step).unwrap();
            seen += rows(&batch).intersection(&held_out).count();
        }
        assert_eq!(seen, 0, "{more}");
        let mut more = small(more);
        more["exclude_held_out"] = json!(false);
        let (fresh, same) = drawn(&more, 32, 5);
        assert_eq!(rows(&same), held_out);
        let batch = fresh.batch(0).unwrap();
        assert!(rows(&batch).intersection(&held_out).count() > 0, "{more}");
        assert!(parsed(&more).unwrap().validate().is_ok());
    }
    // With all samples allowed, more than half may be held out.
    let most = json!({ "vocab_size": 3, "held_out": 12, "exclude_held_out": false, "rule": { "kind": "token-anywhere", "token": 2 } });
    assert!(parsed(&most).unwrap().validate().is_ok());
}

proptest! {
    /// Each batch, and all so far, have the share of positives to the nearest sample.
    #[test]
    fn the_share_of_positives_is_kept(rate in 0.0_f64..=1.0, batch_size in 1_usize..20, steps in 1_usize..30) {
        let (fresh, _) = drawn(&json!({ "positive_rate": rate }), batch_size, 2);
        let mut all = 0;
        for step in 0..steps {
            let positives = fresh.batch(step).unwrap().positives().count();
            prop_assert!((positives as f64 - rate * batch_size as f64).abs() <= 1.0);
            all += positives;
        }
        prop_assert_eq!(all, (rate * (steps * batch_size) as f64).round() as usize);
    }

    /// Small batches of many classes have all of them in turn.
    #[test]
    fn balanced_classes_are_equally_frequent(batch_size in 1_usize..20, steps in 1_usize..30) {
        let rule = json!({ "kind": "sum-mod", "modulus": 7 });
        let (fresh, _) = drawn(&json!({ "rule": rule, "balanced": true }), batch_size, 2);
        let mut all = [0; 7];
        for step in 0..steps {
            let counts = fresh.batch(step).unwrap().class_counts(7);
            let (least, most) = (counts.iter().min(), counts.iter().max());
            prop_assert!(most.unwrap() - least.unwrap() <= 1);
            all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        prop_assert!(all.iter().max().unwrap() - all.iter().min().unwrap() <= 1);
    }
}

#[test]
fn a_share_of_the_labels_is_wrong() {
    let rule = json!({ "kind": "token-at-position", "token": 7, "position": 2 });
    let (fresh, held_out) = drawn(&json!({ "rule": rule, "label_noise": 0.25 }), 4000, 1);
    let wrong = |dataset: &Dataset| {
        let is_wrong =
            |&sample: &usize| u32::from(dataset.tokens(sample)[2] == 7) != dataset.label(sample);
        (0..dataset.len()).filter(is_wrong).count()
    };
    // Three standard deviations.
    let found = wrong(&fresh.batch(0).unwrap());
    assert!((918..=1082).contains(&found), "{found}");
    assert_eq!(wrong(&held_out), 0);
}

#[test]
fn sentences_are_fresh_too() {
    let sentences = json!({
        "generator": "sentences", "rule": { "kind": "sentence", "corpus": "negation" }, "vocab_size": null, "seq_len": null,
    });
    let (fresh, held_out) = drawn(&sentences, 64, 0);
    let held_out = rows(&held_out);
    let batch = fresh.batch(3).unwrap();
    assert!(rows(&batch).is_disjoint(&held_out) && rows(&batch).len() > 32);
}

const REFUSED: &str = r#"
{"generator": "numpy"}                    | generator
{"generator": null}                       | valid
{"held_out": 0}                           | held_out
{"held_out": 5001}                        | held_out
{"held_out": 5000}                        | valid
{"fold": "1/5", "held_out": 0}            | fold
{"generator": "sentences", "exclude_held_out": false, "vocab_size": null, "seq_len": null, "rule": {"kind": "sentence", "corpus": "negation"}} | exclude_held_out
{"file": "a.npz"}                         | unread | `file` | `samples`
{"held_out": 0.2}                         | unread | held_out | 0.2
{"samples": 9, "exclude_held_out": false} | unread | exclude_held_out | samples
{"samples": "stale"}                      | unread | number | fresh
{"samples": -1}                           | unread | number | fresh
"#;

#[test]
fn what_fresh_samples_do_without_is_refused() {
    crate::common::check(&keys(), REFUSED);
    // All samples with a 7 are held out, so that none is left to draw.
    let one = json!({ "seq_len": 1, "positive_rate": 0.5, "held_out": 5 });
    let error = parsed(&one).unwrap().generate().unwrap_err();
    assert_eq!(error.key, "held_out");
}

#[test]
fn a_config_comes_back_from_its_keys() {
    for more in [
        json!({}),
        json!({ "exclude_held_out": false }),
        json!({ "balanced": true }),
    ] {
        let config = parsed(&more).unwrap();
        let written = serde_json::to_value(&config).unwrap();
        assert_eq!(written["samples"], "fresh");
        assert_eq!(
            written.get("exclude_held_out"),
            more.get("exclude_held_out")
        );
        assert_eq!(
            serde_json::from_value::<DatasetConfig>(written).unwrap(),
            config
        );
    }
}

/// The numbers of training and held-out samples of a config.
fn counted(more: &Value) -> Result<(usize, usize), String> {
    let config = parsed(more)?;
    let Source::Generated(own) = config.source else {
        return Err("not generated".to_owned());
    };
    let SampleCount::Number(samples) = own.samples else {
        return Err("fresh".to_owned());
    };
    Ok((samples, config.held_out))
}

#[test]
fn a_share_is_held_out() {
    let pairs = |samples: Value, held_out: Value| {
        counted(&json!({
            "generator": "all", "samples": samples, "held_out": held_out, "vocab_size": 59, "seq_len": 2, "cls": "none",
            "rule": { "kind": "sum-mod", "modulus": 59 },
        }))
    };
    // 59 x 59 pairs, of which Zhong et al. 2023 train on floor(0.8 * 3,481).
    assert_eq!(pairs(Value::Null, json!(0.2)), Ok((2784, 697)));
    assert_eq!(pairs(json!(2784), json!(0.2)), Ok((2784, 697)));
    assert_eq!(pairs(Value::Null, json!(0.5)), Ok((1740, 1741)));
    assert_eq!(pairs(Value::Null, json!(0.0)), Ok((3481, 0)));
    // Whatever is not held out.
    assert_eq!(pairs(Value::Null, json!(481)), Ok((3000, 481)));
    assert_eq!(pairs(Value::Null, Value::Null), Ok((3481, 0)));
    assert_eq!(pairs(json!(10), json!(481)), Ok((10, 481)));
    let contradicted = pairs(json!(2785), json!(0.2)).unwrap_err();
    for part in ["samples", "held_out", "2785", "2784", "3481"] {
        assert!(contradicted.contains(part), "{contradicted}");
    }
    for share in [1.0, -0.1, 200.0] {
        let message = pairs(Value::Null, json!(share)).unwrap_err();
        assert!(message.contains("a share of them"), "{share}: {message}");
    }
    // Of other generators, a share of the samples; in binary, 0.7 * 10 is below 7.
    for (samples, share, held_out) in [(10, 0.7, 7), (1000, 0.29, 290), (8, 0.2, 1), (3, 0.25, 0)] {
        let of = json!({ "samples": samples, "held_out": share });
        assert_eq!(counted(&of), Ok((samples, held_out)));
    }
    let nine = |share: f64| {
        counted(&json!({
            "generator": "all", "samples": null, "held_out": share, "vocab_size": 10, "seq_len": 1, "cls": "none",
            "rule": { "kind": "token-anywhere", "token": 7 },
        }))
    };
    for tenths in 1..10_usize {
        let share = format!("0.{tenths}").parse().unwrap();
        assert_eq!(nine(share), Ok((10 - tenths, tenths)));
    }
    let of_file =
        parsed(&json!({ "samples": null, "generator": null, "file": "a.npz", "held_out": 0.2 }));
    assert!(of_file.unwrap_err().contains("held_out"));
    let too_many =
        json!({ "generator": "all", "samples": null, "held_out": 0.2, "vocab_size": 1000 });
    assert!(parsed(&too_many).unwrap_err().contains("vocab_size"));
    // The numbers are checked before anything is counted.
    for (key, value) in [("vocab_size", 0), ("seq_len", 0)] {
        let mut of =
            json!({ "generator": "all", "samples": null, "held_out": 0.2, "cls": "first" });
        of[key] = json!(value);
        assert!(parsed(&of).unwrap_err().contains(key));
    }
}
