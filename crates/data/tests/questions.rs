//! Rules about all tokens of a sample: labels by hand, and draws against all samples that there are.

use std::collections::HashMap;

use crate::common::{count, parity, sum};
use headlight_data::rules::{BalancedBrackets, Induction, Majority, Max, MostFrequent};
use headlight_data::{ClsPlace, DatasetConfig, DrawConfig, Generator, LabelRule, Sampler, Source};
use serde_json::json;

/// The labels of samples without `[CLS]`, with it first and with it last. Tokens are 1 or more, so that all three can hold them.
fn labels(rule: &LabelRule, samples: &[&[u32]]) -> Vec<u32> {
    let mut all = Vec::new();
    for &sample in samples {
        let label = rule.label_for(sample, ClsPlace::None, 9);
        let first = [&[0], sample].concat();
        let last = [sample, &[0]].concat();
        assert_eq!(rule.label_for(&first, ClsPlace::First, 9), label);
        assert_eq!(rule.label_for(&last, ClsPlace::Last, 9), label);
        let positions = rule.deciding_positions(sample, ClsPlace::None);
        let after: Vec<usize> = positions.iter().map(|position| position + 1).collect();
        assert_eq!(rule.deciding_positions(&last, ClsPlace::Last), positions);
        if rule.fixed_positions().is_none() {
            assert_eq!(rule.deciding_positions(&first, ClsPlace::First), after);
        }
        all.push(label);
    }
    all
}

#[test]
fn labels_follow_from_all_tokens() {
    let majority = LabelRule::from(Majority { token: 2 });
    assert_eq!(
        labels(&majority, &[&[2, 2, 1], &[2, 1], &[1, 2, 1], &[2]]),
        [1, 0, 0, 1]
    );
    assert_eq!(
        majority.deciding_positions(&[2, 1, 2], ClsPlace::None),
        [0, 2]
    );

    assert_eq!(
        labels(
            &parity(2, &[]),
            &[&[2, 2, 1], &[2, 1, 1], &[1, 1], &[2, 2, 2]]
        ),
        [0, 1, 0, 1]
    );
    let sparse = parity(2, &[2, 0]);
    assert_eq!(sparse.label_for(&[2, 2, 2], ClsPlace::None, 2), 0);
    assert_eq!(sparse.label_for(&[1, 2, 2], ClsPlace::None, 2), 1);
    assert_eq!(sparse.fixed_positions(), Some(vec![2, 0]));

    let sum = sum(5, &[]);
    assert_eq!(labels(&sum, &[&[2, 2, 1], &[4, 4], &[1, 1]]), [0, 3, 2]);
    assert_eq!(sum.deciding_positions(&[0, 3, 4], ClsPlace::First), [1, 2]);

    let max = LabelRule::from(Max {});
    assert_eq!(labels(&max, &[&[2, 5, 1, 5], &[4], &[1, 3]]), [5, 4, 3]);
    assert_eq!(
        max.deciding_positions(&[2, 5, 1, 5], ClsPlace::None),
        [1, 3]
    );
    assert_eq!(max.label_for(&[0, 0], ClsPlace::None, 3), 0);

    // Of several, the first; `[CLS]` does not count.
    let most = LabelRule::from(MostFrequent {});
    assert_eq!(
        labels(&most, &[&[3, 1, 1], &[4, 1, 1, 4], &[2, 1], &[7]]),
        [1, 4, 2, 7]
    );
    assert_eq!(
        most.deciding_positions(&[4, 1, 1, 4], ClsPlace::None),
        [0, 3]
    );
    assert_eq!(most.label_for(&[1, 0, 0], ClsPlace::None, 3), 0);

    let induction = LabelRule::from(Induction {});
    assert_eq!(
        labels(&induction, &[&[3, 1, 3], &[3, 1, 3, 2, 3], &[5, 5]]),
        [1, 2, 5]
    );
    assert_eq!(
        induction.deciding_positions(&[3, 1, 3, 2, 3], ClsPlace::None),
        [3]
    );
    assert!(induction.has_label(&[3, 1, 3], ClsPlace::None));
    assert!(!induction.has_label(&[3, 1, 2], ClsPlace::None));

    let brackets = LabelRule::from(BalancedBrackets {
        opening: 1,
        closing: 2,
        padding: None,
    });
    let samples: [&[u32]; 6] = [
        &[1, 2],
        &[1, 1, 2, 2],
        &[2, 1],
        &[1, 2, 2, 1],
        &[1, 1],
        &[3, 1, 3, 2],
    ];
    assert_eq!(labels(&brackets, &samples), [1, 1, 0, 0, 0, 1]);
}

fn config(rule: &serde_json::Value, cls: &str, changes: &serde_json::Value) -> DatasetConfig {
    let keys = json!({"generator": "chacha", "samples": 24_000, "vocab_size": 4, "seq_len": 4, "cls": cls, "rule": rule});
    crate::common::parsed(keys, changes).unwrap()
}

/// All samples of a config's vocabulary and length.
fn every(config: &DatasetConfig) -> Vec<Vec<u32>> {
    let keys = json!({"generator": "all", "samples": 1, "vocab_size": config.vocab_size, "seq_len": config.seq_len,
        "cls": config.cls.name(), "rule": {"kind": "majority", "token": 1}});
    let mut all: DatasetConfig = serde_json::from_value(keys).unwrap();
    let first = u32::from(config.cls != ClsPlace::None);
    let count = (config.vocab_size - first).pow(config.seq_len as u32) as usize;
    all.source = Source::Generated(DrawConfig::new(Generator::All, count));
    let samples = all.generate().unwrap().train;
    (0..samples.len())
        .map(|sample| samples.tokens(sample).to_vec())
        .collect()
}

/// Classes have equal shares, and within a class each sample is as likely as the others: a chi-squared statistic.
#[test]
fn balanced_samples_are_uniform_in_each_class() {
    let rules = [
        json!({"kind": "count", "token": 2}),
        json!({"kind": "majority", "token": 2}),
        json!({"kind": "parity", "token": 2}),
        json!({"kind": "parity", "token": 2, "positions": [1, 3]}),
        json!({"kind": "sum-mod", "modulus": 3}),
        json!({"kind": "max"}),
        json!({"kind": "most-frequent"}),
        json!({"kind": "token-at-position", "token": 2, "position": 1}),
        json!({"kind": "token-anywhere", "token": 2}),
        json!({"kind": "token-before-token", "first": 2, "second": 3}),
        json!({"kind": "token-before-token", "first": 2, "second": 2}),
        json!({"kind": "equal-positions", "first": 1, "second": 3}),
        json!({"kind": "sum-mod", "modulus": 2, "positions": [1, 3]}),
    ];
    for (rule, cls) in rules
        .iter()
        .flat_map(|rule| ["none", "first", "last"].map(|cls| (rule, cls)))
    {
        let mut changes = json!({"balanced": true});
        if rule["kind"] == "count" {
            changes["n_classes"] = json!(4);
        }
        let config = config(rule, cls, &changes);
        let (own, n_classes) = (config.rule.clone().unwrap(), config.n_classes);
        let mut possible: HashMap<u32, usize> = HashMap::new();
        for sample in every(&config) {
            let label = own.label_for(&sample, config.cls, n_classes);
            *possible.entry(label).or_default() += 1;
        }
        let train = config.generate().unwrap().train;
        let mut counts: HashMap<&[u32], f64> = HashMap::new();
        let mut shares: HashMap<u32, usize> = HashMap::new();
        for sample in 0..train.len() {
            *counts.entry(train.tokens(sample)).or_default() += 1.0;
            *shares.entry(train.label(sample)).or_default() += 1;
        }
        assert_eq!(shares.len(), possible.len(), "{rule} {cls}: {shares:?}");
        let share = 24_000 / possible.len();
        assert!(
            shares.values().all(|&own| own == share),
            "{rule} {cls}: {shares:?}"
        );
        let mut statistic = 0.0;
        for (sample, count) in &counts {
            let label = own.label_for(sample, config.cls, n_classes);
            let expected = share as f64 / possible[&label] as f64;
            statistic += (count - expected).powi(2) / expected;
        }
        let all: usize = possible.values().sum();
        assert_eq!(counts.len(), all, "{rule} {cls}");
        let bound = all as f64 + 8.0 * (2.0 * all as f64).sqrt();
        assert!(
            statistic < bound,
            "{rule} {cls}: {statistic} of {all} samples"
        );
    }
}

#[test]
fn brackets_are_balanced_in_half_of_all_samples() {
    for (padding, lengths) in [(json!(null), 1_usize), (json!(3), 4)] {
        let mut rule = json!({"kind": "balanced-brackets", "opening": 1, "closing": 2});
        if padding != json!(null) {
            rule["padding"] = padding;
        }
        let config = config(&rule, "first", &json!({"seq_len": 8}));
        let train = config.generate().unwrap().train;
        let balanced: Vec<usize> = train.of_class(1).collect();
        assert!(balanced.len().abs_diff(12_000) < 400, "{}", balanced.len());
        let mut of_length: HashMap<usize, HashMap<&[u32], usize>> = HashMap::new();
        for &sample in &balanced {
            let tokens = train.tokens(sample);
            let brackets = tokens
                .iter()
                .filter(|token| [1, 2].contains(*token))
                .count();
            assert!(tokens[1 + brackets..].iter().all(|&token| token == 3));
            *of_length
                .entry(brackets)
                .or_default()
                .entry(tokens)
                .or_default() += 1;
        }
        assert_eq!(of_length.len(), lengths);
        // Catalan's numbers of balanced strings, each as likely as the others of its length.
        for (brackets, strings) in &of_length {
            let catalan = [1, 1, 2, 5, 14][brackets / 2];
            assert_eq!(strings.len(), catalan);
            let all: usize = strings.values().sum();
            assert!(all.abs_diff(balanced.len() / lengths) < 300);
            let expected = all as f64 / catalan as f64;
            let far = |&count: &usize| (count as f64 - expected).abs() / expected.sqrt();
            assert!(
                strings.values().map(far).fold(0.0, f64::max) < 5.0,
                "{strings:?}"
            );
        }
        // Among the unbalanced, more than a quarter have as many brackets that open as that close: those with two exchanged.
        let even = train.of_class(0).filter(|&sample| {
            let of = |bracket| {
                train
                    .tokens(sample)
                    .iter()
                    .filter(|&&token| token == bracket)
                    .count()
            };
            of(1) == of(2)
        });
        assert!(even.count() > 5_000);
    }
}

#[test]
fn the_last_token_of_induction_occurred_before() {
    for cls in ["none", "first", "last"] {
        for balanced in [false, true] {
            let config = config(
                &json!({"kind": "induction"}),
                cls,
                &json!({"seq_len": 6, "balanced": balanced}),
            );
            let rule = config.rule.clone().unwrap();
            let train = config.generate().unwrap().train;
            let known =
                (0..train.len()).filter(|&own| rule.has_label(train.tokens(own), config.cls));
            assert_eq!(known.count(), train.len());
            if balanced {
                let first = usize::from(cls != "none");
                let counts = train.class_counts(4);
                assert!(
                    counts[first..]
                        .iter()
                        .all(|&count| count == 24_000 / (4 - first))
                );
            }
        }
    }
}

const REFUSED: &str = r#"
{"rule": {"kind": "balanced-brackets", "opening": 1, "closing": 2}, "seq_len": 5}               | seq_len
{"rule": {"kind": "balanced-brackets", "opening": 1, "closing": 1}}                             | rule.closing
{"rule": {"kind": "balanced-brackets", "opening": 1, "closing": 2, "padding": 2}}               | rule.padding
{"rule": {"kind": "balanced-brackets", "opening": 1, "closing": 2}, "generator": "all", "samples": 9} | generator
{"rule": {"kind": "induction"}, "seq_len": 1}                                                   | seq_len
{"rule": {"kind": "parity", "token": 2, "positions": [1, 1]}}                                   | rule.positions
{"rule": {"kind": "parity", "token": 4}}                                                        | rule.token
{"rule": {"kind": "sum-mod", "modulus": 10}}                                                    | rule.modulus
{"rule": {"kind": "max"}, "n_classes": 3}                                                       | n_classes
{"rule": {"kind": "max"}, "balanced": true, "positive_rate": 0.5}                               | balanced
{"rule": {"kind": "max"}, "balanced": true, "generator": "numpy"}                               | balanced
"#;

#[test]
fn what_no_sample_can_have_is_refused() {
    let keys = json!({"generator": "chacha", "samples": 24_000, "vocab_size": 4, "seq_len": 4});
    crate::common::check(&keys, REFUSED);
}

#[test]
fn labels_go_beyond_a_byte() {
    let samples = Sampler {
        vocab_size: 1000,
        seq_len: 3,
        cls: ClsPlace::None,
    };
    let rule = LabelRule::from(Max {});
    assert_eq!(rule.n_classes(samples), Some(1000));
    assert_eq!(rule.label_for(&[4, 999, 998], ClsPlace::None, 1000), 999);
    assert_eq!(count(1).label_for(&[1; 300], ClsPlace::None, 301), 300);
}
