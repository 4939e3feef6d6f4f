//! Rules that read token by token give every sample the class that they give it as a whole.

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

/// Compares both ways for all samples; returns how many classes they have.
fn compare(rule: &LabelRule, cls: ClsPlace, n_classes: usize, samples: &[Vec<u32>]) -> usize {
    let Some(automaton) = rule.automaton(cls, n_classes) else {
        panic!("{rule:?} has no automaton");
    };
    let mut found = vec![false; n_classes];
    for sample in samples {
        let states = sample.iter().enumerate();
        let end = states.fold(0, |state, (position, &token)| {
            (automaton.step)(state, position, token)
        });
        let class = (automaton.class)(end);
        let expected = rule.label_for(sample, cls, n_classes);
        assert_eq!(class, expected, "{rule:?} {cls:?} {n_classes} {sample:?}");
        found[class as usize] = true;
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
