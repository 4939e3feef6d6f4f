//! Sequences that repeat.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_data::{ClsPlace, DatasetConfig, IGNORED};
use serde_json::json;

/// Samples of `seq_len` tokens, of 50.
fn config(rule: &serde_json::Value, seq_len: usize) -> DatasetConfig {
    let keys = json!({"task": "next-token", "samples": 6000, "vocab_size": 50, "seq_len": seq_len, "rule": rule});
    serde_json::from_value(keys).unwrap()
}

#[test]
fn a_sequence_repeats() {
    let rule = json!({"kind": "repeat", "period": 3});
    let drawn = config(&rule, 8).generate().unwrap();
    for sample in 0..100 {
        let tokens = drawn.train.tokens(sample);
        assert!((4..9).all(|place| tokens[place] == tokens[place - 3]));
        let labels = drawn.train.labels_of(sample);
        assert_eq!((&labels[..8], labels[8]), (&tokens[1..], IGNORED));
    }
}

/// By hand: 1 2 3 1 2 3 1 2, of period 3. An induction head may look at each earlier copy of what follows.
#[test]
fn all_earlier_copies_decide() {
    let tokens = [1, 2, 3, 1, 2, 3, 1, 2];
    let deciding = |keys: &serde_json::Value, query: usize| {
        let rule = config(keys, 8).rule.unwrap();
        rule.deciding_at(&tokens, ClsPlace::None, query)
    };
    let fixed = json!({"kind": "repeat", "period": 3});
    let own = json!({"kind": "repeat", "period": 3, "max_period": 5});
    for (query, expected) in [
        (1, &[][..]),
        (2, &[0]),
        (3, &[1]),
        (5, &[0, 3]),
        (6, &[1, 4]),
        (7, &[]),
    ] {
        assert_eq!(deciding(&fixed, query), expected, "{query}");
    }
    // After 1 2 3, nothing tells a period that each sample draws.
    for (query, expected) in [(2, &[][..]), (3, &[1]), (5, &[0, 3])] {
        assert_eq!(deciding(&own, query), expected, "{query}");
    }
}

/// Each period is as likely, and what decides are the copies of earlier periods: in a sample of few tokens, of the shortest that
/// repeats.
#[test]
fn a_sequence_repeats_with_a_period_of_its_own() {
    let rule = json!({"kind": "repeat", "period": 2, "max_period": 4});
    let config = config(&rule, 12);
    let drawn = config.generate().unwrap().train;
    let rule = config.rule.unwrap();
    let mut counts = [0; 5];
    for sample in 0..drawn.len() {
        let tokens = drawn.tokens(sample);
        let repeats = |period: usize| (1 + period..13).all(|at| tokens[at] == tokens[at - period]);
        let period = (2..5).find(|&period| repeats(period)).unwrap();
        counts[period] += 1;
        let deciding = rule.deciding_at(tokens, drawn.cls(), 8);
        let copies: Vec<usize> = (1..9).filter(|at| (9 - at) % period == 0).collect();
        assert_eq!(deciding, copies);
    }
    let all = drawn.len() as f64;
    let shares = counts.map(|count| f64::from(count) / all);
    assert!(
        shares[2..]
            .iter()
            .all(|share| (share - 1.0 / 3.0).abs() < 0.1),
        "{shares:?}"
    );
}
