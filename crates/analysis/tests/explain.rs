//! Explanations against single forward passes and the gradient's own sum.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use crate::common::{experiment, parse};
use headlight_analysis::explain::{Explanation, explain};
use headlight_architecture::Parameter;
use headlight_data::{CLS, ClsPlace, Dataset};
use headlight_experiment::Experiment;
use headlight_experiment::fused::{Array, ForwardValues, Intervention, forward};
use headlight_experiment::metrics::probabilities;

const PAD: u32 = 8;

/// A sample of three tokens, with `[CLS]` if there are four.
fn one(tokens: &[u32]) -> Dataset {
    let cls = match tokens {
        [_, _, _] => ClsPlace::None,
        [.., CLS] => ClsPlace::Last,
        _ => ClsPlace::First,
    };
    let mut dataset = Dataset::empty(3, cls);
    dataset.push(tokens, 0);
    dataset
}

/// The explanation of a sample by the model at its start.
fn explained(experiment: &Experiment, tokens: &[u32], written: &[String]) -> Explanation {
    let weights = Parameter::weights(&experiment.start);
    let dataset = one(tokens);
    explain(
        &experiment.config,
        &weights,
        &dataset,
        0,
        written,
        None,
        true,
    )
    .unwrap()
}

/// What that model computes for a sample.
fn computed(experiment: &Experiment, tokens: &[u32], changes: &[Intervention]) -> ForwardValues {
    let (config, start) = (&experiment.config, &experiment.start);
    forward(config, start, &one(tokens), &[0], changes).unwrap()
}

/// Checks that the parts of the integrated gradients are the logit.
fn check_sum(found: &Explanation) {
    let own = found.gradients.unwrap();
    let words = found.words.iter().filter_map(|word| word.gradient);
    let parts = words.sum::<f64>() + own.cls + own.padding.unwrap_or(0.0) + own.baseline;
    assert!((parts - own.logit).abs() < 1e-4, "{parts} {found:?}");
}

/// Of two classes and of three, with padding: `[CLS]`, two tokens, one pad.
#[test]
fn words_are_left_out_by_masking_their_keys() {
    for classes in ["2", "3"] {
        let rule = "data.rule={ kind = \"count\", token = 7 }";
        let n_classes = format!("data.n_classes={classes}");
        let mut changes = vec!["model.n_layers=2", "model.n_heads=2"];
        if classes == "3" {
            changes.extend([rule, n_classes.as_str()]);
        }
        changes.push("model.attention.padding_token=8");
        let experiment = experiment(parse(&changes).unwrap(), &[]);
        let tokens = [0, 7, 2, PAD];
        let found = explained(&experiment, &tokens, &[]);
        let of = |changes: &[Intervention]| computed(&experiment, &tokens, changes);
        let likely = |logits: &[f32]| -> f64 {
            let logits: Vec<f64> = logits.iter().map(|&logit| logit.into()).collect();
            match probabilities(&logits)[..] {
                [second] if found.predicted == 0 => 1.0 - second,
                [second] => second,
                ref each => each[found.predicted as usize],
            }
        };
        let whole = of(&[]);
        assert!((found.probability - likely(&whole.predictions.logits)).abs() < 1e-12);
        assert_eq!((found.layer, found.words.len()), (1, 2));
        // Three keys: `[CLS]` and two tokens.
        assert_eq!(found.uniform, Some(1.0 / 3.0));
        for (word, (position, token)) in found.words.iter().zip([(1, 7), (2, 2)]) {
            assert_eq!((word.position, word.token), (position, token));
            assert_eq!(word.text, token.to_string());
            let remove = [0, 1].map(|layer| Intervention::MaskKey { layer, position });
            let without = likely(&of(&remove).predictions.logits);
            assert!((word.probability_without - without).abs() < 1e-12);
            // Layer 1, its head, the query [CLS].
            let own = whole.arrays[Array::Weights][(2 + found.head.head) * 16 + position];
            assert!((word.weight - f64::from(own)).abs() < 1e-12);
            assert!((word.attention.unwrap() - 3.0 * f64::from(own)).abs() < 1e-12);
        }
        check_sum(&found);
        assert!((likely(&whole.predictions.logits) >= 0.5) || classes == "3");
    }
}

/// What is left out must not matter, wherever the classifier reads: the two samples differ in the word that is left out alone.
#[test]
fn without_a_word_nothing_of_it_is_left() {
    for pooling in ["mean", "last", "1", "0"] {
        for padding in ["", "model.attention.padding_token=8"] {
            let pooling = format!("model.pooling={pooling}");
            let mut changes = vec!["data.cls=none", "model.n_layers=2", &pooling];
            changes.extend(Some(padding).filter(|padding| !padding.is_empty()));
            let experiment = experiment(parse(&changes).unwrap(), &[]);
            let words: [[u32; 3]; 2] = [[7, 2, 5], [6, 3, 4]];
            for place in 0..3 {
                let mut other = words[0];
                other[place] = words[1][place];
                let of_one = [words[0], other].map(|tokens| {
                    let found = explained(&experiment, &tokens, &[]);
                    let without = found.words[place].probability_without;
                    if found.predicted == 1 {
                        without
                    } else {
                        1.0 - without
                    }
                });
                assert!(
                    (of_one[0] - of_one[1]).abs() < 1e-12,
                    "{changes:?} {place} {of_one:?}"
                );
                // With padding, it is the answer to a sample that holds padding there.
                if !padding.is_empty() {
                    let mut padded = words[0];
                    padded[place] = PAD;
                    let whole = computed(&experiment, &padded, &[]);
                    let likely = f64::from(whole.predictions.probabilities[0]);
                    assert!((of_one[0] - likely).abs() < 1e-6, "{changes:?} {place}");
                }
            }
        }
    }
}

/// Two classes with a logit each: the log-odds is the difference of the logits, as with one.
#[test]
fn two_logits_have_one_log_odds() {
    for n_classes in ["2", "3"] {
        let n_classes = format!("data.n_classes={n_classes}");
        let mut changes = vec!["data.rule={ kind = \"count\", token = 7 }", &n_classes];
        changes.extend((n_classes.ends_with('2')).then_some("model.logits=per-class"));
        let experiment = experiment(parse(&changes).unwrap(), &[]);
        for tokens in [[0, 7, 2, 5], [0, 1, 3, 6]] {
            let found = explained(&experiment, &tokens, &[]);
            let logits = computed(&experiment, &tokens, &[]);
            let own = |class: u32| f64::from(logits.predictions.logits[class as usize]);
            let expected = match logits.predictions.logits.len() {
                2 => own(found.predicted) - own(1 - found.predicted),
                _ => own(found.predicted),
            };
            assert!(
                (found.gradients.unwrap().logit - expected).abs() < 1e-6,
                "{found:?}"
            );
            check_sum(&found);
        }
    }
}

/// The rows of queries differ, so the query must be `[CLS]` wherever it stands.
#[test]
fn weights_are_those_of_cls_at_the_end() {
    let changes = [
        "model.n_heads=2",
        "data.cls=last",
        "model.attention.mask=causal",
    ];
    let experiment = experiment(parse(&changes).unwrap(), &[]);
    let tokens = [7, 2, 5, 0];
    let found = explained(&experiment, &tokens, &[]);
    let whole = computed(&experiment, &tokens, &[]);
    for (position, word) in found.words.iter().enumerate() {
        let own = whole.arrays[Array::Weights][found.head.head * 16 + 3 * 4 + position];
        assert_eq!((word.position, word.weight), (position, f64::from(own)));
    }
}

/// Without `[CLS]`, each position is a token's, that which the class is read from among them.
#[test]
fn without_cls_all_positions_are_words() {
    for (pooling, read) in [("", 2), ("model.pooling=1", 1), ("model.pooling=mean", 2)] {
        let mut changes = vec!["data.cls=none", "model.attention.padding_token=8"];
        changes.extend((!pooling.is_empty()).then_some(pooling));
        let experiment = experiment(parse(&changes).unwrap(), &[]);
        let found = explained(&experiment, &[7, 0, 5], &[]);
        let whole = computed(&experiment, &[7, 0, 5], &[]);
        let row = &whole.arrays[Array::Weights][read * 3..][..3];
        let words: Vec<(usize, &str)> = found
            .words
            .iter()
            .map(|word| (word.position, &*word.text))
            .collect();
        assert_eq!(words, [(0, "7"), (1, "0"), (2, "5")]);
        for (word, &weight) in found.words.iter().zip(row) {
            assert_eq!(word.weight, f64::from(weight));
        }
        assert_eq!(found.gradients.unwrap().cls, 0.0);
        check_sum(&found);
        assert_eq!(experiment.config.readout_name(), format!("position {read}"));
    }
}

/// Padding at the readout position is no word, but what it adds is part of the logit.
#[test]
fn what_padding_adds_completes_the_sum() {
    let changes = ["data.cls=none", "model.attention.padding_token=8"];
    let experiment = experiment(parse(&changes).unwrap(), &[]);
    let of = |tokens: &[u32]| explained(&experiment, tokens, &[]);
    assert_eq!(of(&[7, 1, 5]).gradients.unwrap().padding, None);
    let found = of(&[7, 1, 8]);
    assert_eq!(found.words.len(), 2);
    let padding = found.gradients.unwrap().padding.unwrap();
    assert!(padding.abs() > 1e-3, "{found:?}");
    check_sum(&found);
}

/// A causal mask lets `[CLS]` at the start look at itself alone.
#[test]
fn where_cls_may_not_look_there_is_no_multiple() {
    let config = parse(&["model.attention.mask=causal"]).unwrap();
    let experiment = experiment(config, &[]);
    let written = ["Six", "two", "One", "more"].map(str::to_owned);
    let found = explained(&experiment, &[0, 6, 2, 1], &written);
    assert_eq!(found.uniform, Some(1.0));
    assert!(found.words.iter().all(|word| word.attention.is_none()));
    // Names are those that were written, and the last has no room.
    let texts: Vec<&str> = found.words.iter().map(|word| &word.text[..]).collect();
    assert_eq!(texts, ["Six", "two", "One"]);
    assert_eq!(found.cut, ["more"]);
    let short = &Parameter::weights(&experiment.start)[1..];
    let dataset = one(&[0, 6, 2, 1]);
    assert!(explain(&experiment.config, short, &dataset, 0, &[], None, true).is_err());
}
