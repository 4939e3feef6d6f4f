//! Classes, label positions, and parameters that do not fit; `automata.rs` compares the labels.

use crate::common::{anywhere, at, before, count, equal, sum};
use headlight_data::{ClsPlace, LabelRule, Sampler};

const SAMPLE: [u32; 7] = [0, 5, 7, 42, 7, 5, 9];

fn samples(seq_len: usize, cls: ClsPlace) -> Sampler {
    Sampler {
        vocab_size: 51,
        seq_len,
        cls,
    }
}

#[test]
fn a_count_has_a_class_for_each_number_of_tokens() {
    assert_eq!(
        count(7).deciding_positions(&SAMPLE, ClsPlace::First),
        [2, 4]
    );
    assert_eq!(count(7).most_classes(samples(6, ClsPlace::First)), 7);
    assert_eq!(anywhere(7).most_classes(samples(6, ClsPlace::First)), 2);
}

#[test]
fn a_sum_has_the_classes_of_its_modulus() {
    let rule = |first, second, modulus| sum(modulus, &[first, second]);
    let own = samples(3, ClsPlace::None);
    assert_eq!(rule(0, 1, 59).n_classes(own), Some(59));
    assert_eq!(rule(0, 1, 59).most_classes(own), 59);
    // Two of n successive tokens have 2 n - 1 sums.
    let check = |modulus, vocab_size, cls| {
        let samples = Sampler {
            vocab_size,
            seq_len: 3,
            cls,
        };
        rule(1, 2, modulus)
            .validate(samples)
            .map_err(|invalid| invalid.key)
    };
    let refused = Err("rule.modulus".to_owned());
    assert_eq!(check(5, 3, ClsPlace::None), Ok(()));
    assert_eq!(check(6, 3, ClsPlace::None), refused);
    assert_eq!(check(3, 3, ClsPlace::Last), Ok(()));
    assert_eq!(check(4, 3, ClsPlace::Last), refused);
    assert_eq!(check(256, 200, ClsPlace::None), Ok(()));
    for modulus in [0, 1, 65_537, u32::MAX] {
        assert_eq!(check(modulus, 100_000, ClsPlace::None), refused);
    }
}

#[test]
fn label_positions() {
    let cases: [(LabelRule, &[usize]); 5] = [
        (sum(9, &[4, 2]), &[4, 2]),
        (at(1, 3), &[3]),
        (anywhere(5), &[1, 5]),
        (before(7, 9), &[2, 4, 6]),
        (equal(1, 5), &[1, 5]),
    ];
    for (rule, positions) in cases {
        assert_eq!(
            rule.deciding_positions(&SAMPLE, ClsPlace::First),
            positions,
            "{rule:?}"
        );
    }
}

#[test]
fn parameters_that_do_not_fit_are_named() {
    let outside = "token 99 is outside the vocabulary";
    let cases = [
        (at(51, 3), "rule.token", "samples hold tokens 1 to 50"),
        (at(0, 3), "rule.token", "0 is [CLS]"),
        (at(42, 7), "rule.position", "tokens are at positions 1 to 6"),
        (at(42, 0), "rule.position", "0 is [CLS]"),
        (anywhere(99), "rule.token", outside),
        (before(1, 51), "rule.second", "token 51 is outside"),
        (equal(1, 9), "rule.second", "position 9 is outside"),
        (equal(2, 2), "rule.second", "compared with itself"),
        (sum(5, &[0, 2]), "rule.positions", "0 is [CLS]"),
        (sum(5, &[2, 2]), "rule.positions", "named twice"),
    ];
    for (rule, key, part) in cases {
        let error = rule.validate(samples(6, ClsPlace::First)).unwrap_err();
        assert_eq!(error.key, key, "{rule:?}");
        assert!(error.message.contains(part), "{}", error.message);
    }
}

#[test]
fn positions_next_to_a_last_cls() {
    let rule = |position| at(1, position);
    let check = |position| rule(position).validate(samples(6, ClsPlace::Last));
    assert!(check(0).is_ok() && check(5).is_ok());
    for position in [6, 7] {
        let error = check(position).unwrap_err();
        assert_eq!(error.key, "rule.position");
        assert!(error.message.contains("0 to 5 (6 is [CLS])"), "{error}");
    }
}

#[test]
fn without_cls_tokens_and_positions_count_from_0() {
    let rule = |token, position| at(token, position);
    let check = |token, position| rule(token, position).validate(samples(6, ClsPlace::None));
    assert!(check(0, 0).is_ok() && check(50, 5).is_ok());
    let error = check(51, 0).unwrap_err();
    assert!(error.message.ends_with("tokens 0 to 50"), "{error}");
    let error = check(0, 6).unwrap_err();
    assert!(error.message.ends_with("positions 0 to 5"), "{error}");
}

#[test]
fn numbers_at_their_limits_are_valid() {
    let first = |rule: &LabelRule, seq_len| rule.validate(samples(seq_len, ClsPlace::First));
    for (token, position) in [(1, 1), (50, 6)] {
        assert!(first(&at(token, position), 6).is_ok());
        assert!(first(&anywhere(token), 6).is_ok());
        assert!(first(&count(token), 6).is_ok());
    }
    let order = before(1, 50);
    assert!(first(&order, 2).is_ok());
    assert_eq!(first(&order, 1).unwrap_err().key, "rule");
}

/// The rule, what it says, and where it is decided; rules about positions are decided at them in every sample.
const IN_WORDS: &str = r#"
{"kind": "sum-mod", "modulus": 59, "positions": [0, 1]}  | the sum of positions 0 and 1 modulo 59 | positions 0 and 1 together
{"kind": "token-at-position", "token": 42, "position": 3} | token 42 is at position 3              | position 3
{"kind": "token-anywhere", "token": 42}                  | token 42 is at any position            | token 42, wherever it is
{"kind": "token-before-token", "first": 4, "second": 2}  | token 4 comes before token 2           | tokens 4 and 2, wherever they are
{"kind": "equal-positions", "first": 4, "second": 2}     | positions 4 and 2 hold the same token  | positions 4 and 2 together
{"kind": "count", "token": 42}                           | how often token 42 occurs              | token 42, wherever it is
"#;

#[test]
fn each_rule_in_words() {
    for line in IN_WORDS.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let rule: LabelRule = serde_json::from_str(cells[0]).unwrap();
        assert!(rule.question().ends_with('?'), "{line}");
        assert_eq!([rule.describe(), rule.deciding_place()], cells[1..]);
        let is_fixed = cells[2].starts_with("position");
        assert_eq!(rule.fixed_positions().is_some(), is_fixed, "{line}");
    }
}
