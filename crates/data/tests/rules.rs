//! Labels, label positions, and parameters that do not fit.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_data::ClsPlace;
use headlight_data::LabelRule::{
    self, Count, EqualPositions, TokenAnywhere, TokenAtPosition, TokenBeforeToken,
};

const SAMPLE: [u32; 7] = [0, 5, 7, 42, 7, 5, 9];

#[test]
fn labels() {
    let cases = [
        (
            TokenAtPosition {
                token: 42,
                position: 3,
            },
            true,
        ),
        (
            TokenAtPosition {
                token: 42,
                position: 2,
            },
            false,
        ),
        (TokenAnywhere { token: 9 }, true),
        (TokenAnywhere { token: 8 }, false),
        (
            TokenBeforeToken {
                first: 42,
                second: 5,
            },
            true,
        ),
        (
            TokenBeforeToken {
                first: 9,
                second: 5,
            },
            false,
        ),
        (
            TokenBeforeToken {
                first: 7,
                second: 7,
            },
            true,
        ),
        (
            TokenBeforeToken {
                first: 42,
                second: 42,
            },
            false,
        ),
        (
            EqualPositions {
                first: 2,
                second: 4,
            },
            true,
        ),
        (
            EqualPositions {
                first: 1,
                second: 2,
            },
            false,
        ),
    ];
    for (rule, label) in cases {
        assert_eq!(rule.label_for(&SAMPLE, 2), u8::from(label), "{rule:?}");
    }
}

#[test]
fn the_last_class_of_a_count_is_so_often_or_more() {
    for (token, classes) in [(8, [0, 0, 0]), (42, [1, 1, 1]), (5, [1, 2, 2])] {
        let rule = Count { token };
        assert_eq!([2, 3, 4].map(|n| rule.label_for(&SAMPLE, n)), classes);
    }
    assert_eq!(Count { token: 7 }.label_positions(&SAMPLE), [2, 4]);
    assert_eq!(Count { token: 7 }.most_classes(6), 7);
    assert_eq!(TokenAnywhere { token: 7 }.most_classes(6), 2);
}

#[test]
fn label_positions() {
    let cases: [(LabelRule, &[usize]); 4] = [
        (
            TokenAtPosition {
                token: 1,
                position: 3,
            },
            &[3],
        ),
        (TokenAnywhere { token: 5 }, &[1, 5]),
        (
            TokenBeforeToken {
                first: 7,
                second: 9,
            },
            &[2, 4, 6],
        ),
        (
            EqualPositions {
                first: 1,
                second: 5,
            },
            &[1, 5],
        ),
    ];
    for (rule, positions) in cases {
        assert_eq!(rule.label_positions(&SAMPLE), positions, "{rule:?}");
    }
}

#[test]
fn parameters_that_do_not_fit_are_named() {
    let cases = [
        (
            TokenAtPosition {
                token: 51,
                position: 3,
            },
            "rule.token",
            "samples hold tokens 1 to 50",
        ),
        (
            TokenAtPosition {
                token: 0,
                position: 3,
            },
            "rule.token",
            "0 is [CLS]",
        ),
        (
            TokenAtPosition {
                token: 42,
                position: 7,
            },
            "rule.position",
            "tokens are at positions 1 to 6",
        ),
        (
            TokenAtPosition {
                token: 42,
                position: 0,
            },
            "rule.position",
            "0 is [CLS]",
        ),
        (
            TokenAnywhere { token: 99 },
            "rule.token",
            "token 99 is outside the vocabulary",
        ),
        (
            TokenBeforeToken {
                first: 1,
                second: 51,
            },
            "rule.second",
            "token 51 is outside",
        ),
        (
            EqualPositions {
                first: 1,
                second: 9,
            },
            "rule.second",
            "position 9 is outside",
        ),
        (
            EqualPositions {
                first: 2,
                second: 2,
            },
            "rule.second",
            "compared with itself",
        ),
    ];
    for (rule, key, part) in cases {
        let error = rule.validate(51, 6, ClsPlace::First).unwrap_err();
        assert_eq!(error.key, key, "{rule:?}");
        assert!(error.message.contains(part), "{}", error.message);
    }
}

#[test]
fn positions_next_to_a_last_cls() {
    let rule = |position| TokenAtPosition { token: 1, position };
    let check = |position| rule(position).validate(51, 6, ClsPlace::Last);
    assert!(check(0).is_ok() && check(5).is_ok());
    for position in [6, 7] {
        let error = check(position).unwrap_err();
        assert_eq!(error.key, "rule.position");
        assert!(error.message.contains("0 to 5 (6 is [CLS])"), "{error}");
    }
}

#[test]
fn numbers_at_their_limits_are_valid() {
    let first = |rule: &LabelRule, seq_len| rule.validate(51, seq_len, ClsPlace::First);
    for (token, position) in [(1, 1), (50, 6)] {
        assert!(first(&TokenAtPosition { token, position }, 6).is_ok());
        assert!(first(&TokenAnywhere { token }, 6).is_ok());
        assert!(first(&Count { token }, 6).is_ok());
    }
    let order = TokenBeforeToken {
        first: 1,
        second: 50,
    };
    assert!(first(&order, 2).is_ok());
    assert_eq!(first(&order, 1).unwrap_err().key, "rule");
}

#[test]
fn each_rule_in_words() {
    let cases: [(LabelRule, &str, &str, Option<Vec<usize>>); 5] = [
        (
            TokenAtPosition {
                token: 42,
                position: 3,
            },
            "token 42 is at position 3",
            "position 3",
            Some(vec![3]),
        ),
        (
            TokenAnywhere { token: 42 },
            "token 42 is at any position",
            "token 42, wherever it is",
            None,
        ),
        (
            TokenBeforeToken {
                first: 4,
                second: 2,
            },
            "token 4 comes before token 2",
            "tokens 4 and 2, wherever they are",
            None,
        ),
        (
            EqualPositions {
                first: 4,
                second: 2,
            },
            "positions 4 and 2 hold the same token",
            "positions 4 and 2 together",
            Some(vec![4, 2]),
        ),
        (
            Count { token: 42 },
            "how often token 42 occurs",
            "token 42, wherever it is",
            None,
        ),
    ];
    for (rule, description, place, positions) in cases {
        assert!(rule.question().ends_with('?'), "{rule:?}");
        assert_eq!(rule.describe(), description);
        assert_eq!(rule.deciding_place(), place);
        assert_eq!(rule.fixed_positions(), positions, "{rule:?}");
    }
}
