//! Rules that read token by token give every sample the class of their definition.

use crate::common::{anywhere, at, before, count, equal, parity, sum};
use headlight_data::rules::{BalancedBrackets, Induction, Majority, Max, MostFrequent};
use headlight_data::{ClsPlace, LabelRule};

/// Every sample of so many tokens, with `[CLS]` in its place.
fn samples(vocab_size: u32, seq_len: usize, cls: ClsPlace) -> Vec<Vec<u32>> {
    let mut samples = vec![Vec::new()];
    for position in 0..cls.positions(seq_len) {
        let tokens = match cls.position(seq_len) {
            Some(own) if own == position => 0..1,
            _ => cls.first_token()..vocab_size,
        };
        let with = |sample: &Vec<u32>, token| [&sample[..], &[token]].concat();
        samples = samples
            .iter()
            .flat_map(|sample| tokens.clone().map(move |token| with(sample, token)))
            .collect();
    }
    samples
}

/// The class of a whole sample, as the rules are documented.
fn class(rule: &LabelRule, tokens: &[u32], cls: ClsPlace) -> usize {
    let own = cls.without(tokens);
    let count = |tokens: &[u32], token: u32| tokens.iter().filter(|&&one| one == token).count();
    let named = |positions: &[usize]| match positions {
        [] => own.to_vec(),
        some => some.iter().map(|&position| tokens[position]).collect(),
    };
    let precedes = |first: u32, second: u32| {
        (0..own.len()).any(|place| own[place] == first && own[place + 1..].contains(&second))
    };
    match rule {
        LabelRule::TokenAtPosition(rule) => (tokens[rule.position] == rule.token).into(),
        LabelRule::TokenAnywhere(rule) => own.contains(&rule.token).into(),
        LabelRule::TokenBeforeToken(rule) => precedes(rule.first, rule.second).into(),
        LabelRule::EqualPositions(rule) => (tokens[rule.first] == tokens[rule.second]).into(),
        LabelRule::Count(rule) => count(own, rule.token),
        LabelRule::Max(_) => own.iter().max().map_or(0, |&largest| largest as usize),
        LabelRule::Majority(rule) => (2 * count(own, rule.token) > own.len()).into(),
        LabelRule::Parity(rule) => count(&named(&rule.positions), rule.token) % 2,
        LabelRule::SumMod(rule) => {
            (named(&rule.positions).iter().sum::<u32>() % rule.modulus) as usize
        }
        other => panic!("{other:?} has no automaton"),
    }
}

/// Compares both ways for all samples; returns how many classes they have.
fn compare(rule: &LabelRule, cls: ClsPlace, n_classes: usize, samples: &[Vec<u32>]) -> usize {
    assert!(rule.automaton(cls, n_classes).is_some(), "{rule:?}");
    let mut found = vec![false; n_classes];
    for sample in samples {
        let label = rule.label_for(sample, cls, n_classes) as usize;
        let expected = class(rule, sample, cls).min(n_classes - 1);
        assert_eq!(label, expected, "{rule:?} {cls:?} {n_classes} {sample:?}");
        found[label] = true;
    }
    found.iter().filter(|&&found| found).count()
}

#[test]
fn automata_give_the_labels_of_whole_samples() {
    for cls in [ClsPlace::First, ClsPlace::Last, ClsPlace::None] {
        for (vocab_size, seq_len) in [(6, 2), (5, 4), (4, 5), (3, 6)] {
            let samples = samples(vocab_size, seq_len, cls);
            let first = usize::from(cls == ClsPlace::First);
            let places = first..first + seq_len;
            // Each rule with numbers of classes.
            let mut rules = vec![(Max {}.into(), vec![vocab_size as usize, 3])];
            for token in cls.first_token()..vocab_size {
                rules.push((count(token), (2..=seq_len + 1).collect()));
                let others = [
                    anywhere(token),
                    Majority { token }.into(),
                    parity(token, &[]),
                ];
                rules.extend(others.map(|rule| (rule, vec![2])));
                for second in cls.first_token()..vocab_size {
                    rules.push((before(token, second), vec![2]));
                }
                for position in places.clone() {
                    rules.push((at(token, position), vec![2]));
                    let positions = distinct(vec![places.end - 1, position, places.start]);
                    rules.push((parity(token, &positions), vec![2]));
                }
            }
            for modulus in 2..8 {
                let classes = vec![modulus as usize, modulus as usize + 2];
                rules.push((sum(modulus, &[]), classes.clone()));
                for position in places.clone() {
                    let positions = distinct(vec![places.end - 1, position]);
                    rules.push((sum(modulus, &positions), classes.clone()));
                }
            }
            for one in places.clone() {
                for other in places.clone().filter(|&other| other != one) {
                    rules.push((equal(one, other), vec![2]));
                }
            }
            for (rule, classes) in rules {
                for n_classes in classes {
                    let found = compare(&rule, cls, n_classes, &samples);
                    assert!(
                        found > 1 || matches!(rule, LabelRule::TokenBeforeToken(_)),
                        "{rule:?}"
                    );
                }
            }
        }
    }
}

/// Each position once.
fn distinct(mut positions: Vec<usize>) -> Vec<usize> {
    positions.sort_unstable();
    positions.dedup();
    positions
}

#[test]
fn rules_with_many_states_have_no_automaton() {
    for rule in [
        LabelRule::from(MostFrequent {}),
        Induction {}.into(),
        BalancedBrackets {
            opening: 1,
            closing: 2,
            padding: None,
        }
        .into(),
    ] {
        assert!(rule.automaton(ClsPlace::First, 3).is_none(), "{rule:?}");
    }
}
