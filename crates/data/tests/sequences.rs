//! Rules with a label per position, and the samples drawn for them.

use headlight_data::rules::{DoubleHistogram, Dyck, Histogram, Ranking, Repeat, Reverse, Sort};
use headlight_data::{ClsPlace, Dataset, DatasetConfig, IGNORED, LabelRule, Task};
use serde_json::json;

const NO: u32 = IGNORED;

/// The labels of a sample without `[CLS]`; with it first and last they are the same, and none for `[CLS]`. So are the positions that
/// decide.
fn labels(rule: &LabelRule, sample: &[u32]) -> Vec<u32> {
    let own = rule.labels_for(sample, ClsPlace::None, 9);
    let first = [&[0], sample].concat();
    let last = [sample, &[0]].concat();
    // After [CLS], only a model of the next token has an answer.
    let at_cls = match rule.task() {
        Task::NextToken => sample[0],
        _ => NO,
    };
    let after_cls = [&[at_cls], &own[..]].concat();
    assert_eq!(rule.labels_for(&first, ClsPlace::First, 9), after_cls);
    assert_eq!(
        rule.labels_for(&last, ClsPlace::Last, 9),
        [&own[..], &[NO]].concat()
    );
    for query in 0..sample.len() {
        let deciding = rule.deciding_at(sample, ClsPlace::None, query);
        let after: Vec<usize> = deciding.iter().map(|position| position + 1).collect();
        assert_eq!(rule.deciding_at(&last, ClsPlace::Last, query), deciding);
        assert_eq!(rule.deciding_at(&first, ClsPlace::First, query + 1), after);
    }
    assert!(rule.deciding_at(&first, ClsPlace::First, 0).is_empty());
    own
}

fn at(rule: &LabelRule, sample: &[u32], query: usize) -> Vec<usize> {
    rule.deciding_at(sample, ClsPlace::None, query)
}

#[test]
fn labels_follow_by_position() {
    let padding = Some(9);
    let histogram = LabelRule::from(Histogram { padding });
    assert_eq!(labels(&histogram, &[3, 1, 3, 3, 2]), [3, 1, 3, 3, 1]);
    assert_eq!(labels(&histogram, &[1, 1, 9, 9]), [2, 2, NO, NO]);
    assert_eq!(at(&histogram, &[3, 1, 3], 0), [0, 2]);

    let double = LabelRule::from(DoubleHistogram { padding });
    // 3 occurs three times; 1 and 2 once each.
    assert_eq!(labels(&double, &[3, 1, 3, 3, 2]), [1, 2, 1, 1, 2]);
    assert_eq!(labels(&double, &[4, 4, 5, 5, 9]), [2, 2, 2, 2, NO]);
    assert_eq!(at(&double, &[3, 1, 3, 2], 1), [1, 3]);

    let end = Some(8);
    let reverse = LabelRule::from(Reverse { padding, end });
    assert_eq!(labels(&reverse, &[3, 1, 2, 8, 9]), [2, 1, 3, NO, NO]);
    assert_eq!(at(&reverse, &[3, 1, 2, 8, 9], 0), [2]);
    assert!(at(&reverse, &[3, 1, 2, 8, 9], 3).is_empty());

    let sort = LabelRule::from(Sort { padding, end });
    assert_eq!(labels(&sort, &[3, 1, 3, 2, 8]), [1, 2, 3, 3, NO]);
    assert_eq!(at(&sort, &[3, 1, 3, 2, 8], 2), [0, 2]);

    let ranking = LabelRule::from(Ranking { padding });
    // Equally frequent tokens are in the order of their first occurrence; after the last one, `[CLS]` is the class.
    let tokens = [0, 2, 1, 1, 3, 9];
    assert_eq!(
        ranking.labels_for(&tokens, ClsPlace::First, 9),
        [NO, 1, 2, 3, 0, NO]
    );
    assert_eq!(ranking.labels_for(&[5, 5], ClsPlace::None, 9), [5, NO]);
    assert_eq!(ranking.deciding_at(&tokens, ClsPlace::First, 1), [2, 3]);
    assert!(ranking.deciding_at(&tokens, ClsPlace::First, 4).is_empty());

    // P 0, T 1, F 2: two kinds, of tokens 1 2 and 3 4.
    let dyck = LabelRule::from(Dyck { kinds: 2 });
    let of = |tokens: &[u32]| {
        let all = [&[0], tokens].concat();
        dyck.labels_for(&all, ClsPlace::First, 3)[1..].to_vec()
    };
    assert_eq!(of(&[1, 3, 4, 2, 1]), [0, 0, 0, 1, 0]);
    assert_eq!(of(&[1, 4, 3, 2]), [0, 2, 2, 2]);
    assert_eq!(of(&[2, 1]), [2, 2]);
    assert_eq!(dyck.deciding_at(&[0, 1, 2], ClsPlace::First, 2), [1, 2]);
    assert_eq!(dyck.classes(), ["P", "T", "F"]);

    let repeat = LabelRule::from(Repeat {
        period: 2,
        max_period: None,
    });
    assert_eq!(labels(&repeat, &[5, 3, 5, 3]), [3, 5, 3, NO]);
    assert!(at(&repeat, &[5, 3, 5, 3], 0).is_empty());
    assert_eq!(at(&repeat, &[5, 3, 5, 3], 1), [0]);
    assert_eq!(at(&repeat, &[5, 3, 5, 3], 2), [1]);
    assert!(at(&repeat, &[5, 3, 5, 3], 3).is_empty());
    assert_eq!(repeat.task(), Task::NextToken);
    assert_eq!(sort.task(), Task::TokenClassification);
}

fn config(rule: &serde_json::Value, changes: &serde_json::Value) -> DatasetConfig {
    let keys = json!({"task": "token-classification", "generator": "chacha", "samples": 6000, "vocab_size": 7, "seq_len": 5,
        "rule": rule});
    crate::common::parsed(keys, changes).unwrap()
}

#[test]
fn samples_are_drawn_in_each_length() {
    for kind in [
        "histogram",
        "double-histogram",
        "reverse",
        "sort",
        "ranking",
    ] {
        let ends = ["reverse", "sort"].contains(&kind);
        let mut rule = json!({"kind": kind, "padding": 6});
        if ends {
            rule["end"] = json!(5);
        }
        // The generator is their own: others would draw padding and the end like any token.
        let mut keys = json!({"task": "token-classification", "samples": 6000, "vocab_size": 7, "seq_len": 5, "rule": rule});
        let unset: DatasetConfig = serde_json::from_value(keys.clone()).unwrap();
        let drawn = unset.generate().unwrap();
        for generator in ["numpy", "all"] {
            keys["generator"] = json!(generator);
            let other: DatasetConfig = serde_json::from_value(keys.clone()).unwrap();
            assert_eq!(other.validate().unwrap_err().key, "generator");
        }
        let most = if ends { 4 } else { 5 };
        let mut lengths = [0_usize; 6];
        for sample in 0..drawn.train.len() {
            let tokens = &drawn.train.tokens(sample)[1..];
            let own = tokens
                .iter()
                .take_while(|token| ![5, 6].contains(*token) || !ends && **token == 5);
            let length = own.count();
            lengths[length] += 1;
            let rest = &tokens[length..];
            let expected = [vec![5; usize::from(ends)], vec![6; 5]].concat();
            assert_eq!(rest, &expected[..rest.len()], "{kind}: {tokens:?}");
            let counted = drawn.train.counted_labels(sample).count();
            assert_eq!(counted, length, "{kind}");
        }
        for count in &lengths[1..=most] {
            let expected = 6000.0 / most as f64;
            assert!(
                (*count as f64 - expected).abs() < 5.0 * expected.sqrt(),
                "{kind}: {lengths:?}"
            );
        }
        let few = json!({"samples": 100, "held_out": 30});
        let few = config(&rule, &few).generate().unwrap();
        let mut rows = few.train.all_tokens().chunks(6);
        assert!((0..30).all(|sample| rows.all(|row| row != few.held_out.tokens(sample))));
    }
}

#[test]
fn half_of_the_brackets_start_balanced() {
    let drawn = config(
        &json!({"kind": "dyck", "kinds": 1}),
        &json!({"vocab_size": 3, "seq_len": 15}),
    );
    let splits = drawn.generate().unwrap();
    let last = |sample: usize| splits.train.labels_of(sample)[15];
    let share = |label: u32| {
        (0..splits.train.len())
            .filter(|&sample| last(sample) == label)
            .count() as f64
            / 6000.0
    };
    // Of an odd length no string is balanced; of random brackets hardly any has not failed.
    assert!(share(1) <= 0.0);
    assert!(share(0) > 0.15 && share(0) < 0.5, "{}", share(0));
    let counts = splits.train.class_counts(3);
    assert!(counts.iter().all(|&count| count > 3000), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 6000 * 15);
}

/// 2^31 + 2 kinds need more than 2^32 tokens: the number must not wrap.
const REFUSED: &str = r#"
{"rule": {"kind": "histogram"}, "task": "classification"}                            | task
{"rule": {"kind": "histogram"}, "task": "next-token"}                                | task
{"rule": {"kind": "histogram"}, "n_classes": 3}                                      | n_classes
{"rule": {"kind": "histogram"}, "balanced": true}                                    | balanced
{"rule": {"kind": "max"}}                                                            | task
{"rule": {"kind": "histogram", "padding": 9}}                                        | rule.padding
{"rule": {"kind": "sort", "padding": 6, "end": 6}}                                   | rule.end
{"rule": {"kind": "sort", "end": 1}, "vocab_size": 2}                                | vocab_size
{"rule": {"kind": "sort", "end": 1}, "seq_len": 1}                                   | seq_len
{"rule": {"kind": "dyck", "kinds": 1}, "vocab_size": 5}                              | vocab_size
{"rule": {"kind": "dyck", "kinds": 2147483650}, "vocab_size": 5}                     | vocab_size
{"rule": {"kind": "dyck", "kinds": 0}}                                               | rule.kinds
{"rule": {"kind": "repeat", "period": 5}, "task": "next-token"}                      | rule.period
{"rule": {"kind": "repeat", "period": 0}, "task": "next-token"}                      | rule.period
{"rule": {"kind": "repeat", "period": 2, "max_period": 1}, "task": "next-token"}     | rule.max_period
{"rule": {"kind": "repeat", "period": 2, "max_period": 5}, "task": "next-token"}     | rule.max_period
{"rule": {"kind": "repeat", "period": 2}, "task": "next-token", "n_classes": 3}      | n_classes
"#;

#[test]
fn what_does_not_fit_is_refused() {
    let keys = json!({"task": "token-classification", "generator": "chacha", "samples": 6000, "vocab_size": 7, "seq_len": 5});
    crate::common::check(&keys, REFUSED);
}

#[test]
fn datasets_hold_labels_by_position() {
    let empty = Dataset::empty(2, ClsPlace::None);
    let mut dataset = empty.clone().for_task(Task::TokenClassification);
    dataset.push_each(&[1, 2], [NO, 3]);
    dataset.push(&[2, 2], 1);
    assert_eq!(
        (dataset.len(), dataset.labels_per_sample(), dataset.label(0)),
        (2, 2, 3)
    );
    assert_eq!(dataset.of_class(3).collect::<Vec<_>>(), [0]);
    assert_eq!(dataset.positives().count(), 2);
    assert_eq!(dataset.counted_labels(0).collect::<Vec<_>>(), [(1, 3)]);
    let mut plain = empty.for_task(Task::Classification);
    plain.push(&[1, 2], 0);
    assert_eq!(
        (
            plain.labels_per_sample(),
            plain.labels_of(0),
            plain.counted_labels(0).count()
        ),
        (1, &[0][..], 1)
    );
    let noisy = |noise: f64| {
        let rule = json!({"kind": "sort"});
        config(&rule, &json!({"label_noise": noise}))
            .generate()
            .unwrap()
            .train
    };
    let (clean, wrong) = (noisy(0.0), noisy(0.25));
    let pairs = clean.labels().iter().zip(wrong.labels());
    let changed = pairs.clone().filter(|(a, b)| a != b).count();
    assert!(pairs.clone().all(|(a, b)| (*a == NO) == (*b == NO)));
    assert!((changed as f64 / 30_000.0 - 0.25).abs() < 0.02, "{changed}");
    // 256 positions on, too: ChaCha's stream has 2^68 numbers.
    let long = json!({"label_noise": 0.5, "seq_len": 600, "samples": 20});
    let long = config(&json!({"kind": "reverse"}), &long);
    let noisy = long.generate().unwrap().train;
    let rule = long.rule.as_ref().unwrap();
    let flips = |sample| {
        let own = rule.labels_for(noisy.tokens(sample), long.cls, long.n_classes);
        let pairs = own.into_iter().zip(noisy.labels_of(sample));
        pairs.map(|(own, label)| own != *label).collect::<Vec<_>>()
    };
    let agree = |sample: usize| {
        let (flips, other) = (flips(sample), flips(sample)[256..].to_vec());
        flips.iter().zip(other).filter(|(a, b)| *a == b).count()
    };
    let agreeing = (0..20).map(agree).sum::<usize>() as f64 / (20.0 * 345.0);
    assert!((agreeing - 0.5).abs() < 0.05, "{agreeing}");
    // The labels of one sample are wrong or not by themselves.
    let whole = (0..6000).filter(|&one| {
        let own = clean.labels_of(one).iter().zip(wrong.labels_of(one));
        own.skip(1).all(|(a, b)| a != b)
    });
    assert!(whole.count() < 60);
}

/// Samples of `seq_len` tokens, of 50.
fn repeating(rule: &serde_json::Value, seq_len: usize) -> DatasetConfig {
    let keys = json!({"task": "next-token", "samples": 6000, "vocab_size": 50, "seq_len": seq_len, "rule": rule});
    crate::common::config(keys)
}

#[test]
fn a_sequence_repeats() {
    let rule = json!({"kind": "repeat", "period": 3});
    let drawn = repeating(&rule, 8).generate().unwrap();
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
        let rule = repeating(keys, 8).rule.unwrap();
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
    let config = repeating(&rule, 12);
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
