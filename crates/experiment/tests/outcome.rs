//! The outcome of training, from the labels and the evaluations.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_data::words::FIRST_WORD;
use headlight_data::{ClsPlace, Dataset, Splits, Words};
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_experiment::metrics::StepMetrics;
use headlight_experiment::outcome::{Guess, Outcome, Verdict};
use serde_json::{Value, json};

fn config(learned: f64) -> ExperimentConfig {
    let text = format!(
        "[data]\ngenerator = \"chacha\"\nsamples = 4\nvocab_size = 9\nseq_len = 1\n\
         rule = {{ kind = \"token-anywhere\", token = 3 }}\n[model]\nd_model = 4\n[training]\nepochs = 1\n\
         [report]\nlearned = {learned}\n"
    );
    toml::parse("c.toml", &text, std::iter::empty(), |_| Ok(()), |_| Ok(())).unwrap()
}

fn dataset(labels: &[u32]) -> Dataset {
    let mut dataset = Dataset::empty(1, ClsPlace::First);
    for &label in labels {
        dataset.push(&[0, FIRST_WORD + label], label);
    }
    dataset
}

/// An evaluation whose keys on held-out samples are `held_out`, each with its prefix.
fn evaluation(step: usize, train: &Value, held_out: &Value) -> StepMetrics {
    let mut row = json!({ "epoch": 1, "step": step, "train_loss": 1.0, "loss": 1.0 });
    let row_keys = row.as_object_mut().unwrap();
    row_keys.extend(train.as_object().unwrap().clone());
    if let Some(held_out) = held_out.as_object() {
        row_keys.insert("held_out_loss".to_owned(), json!(1.0));
        let prefixed = held_out.iter();
        row_keys.extend(prefixed.map(|(key, value)| (format!("held_out_{key}"), value.clone())));
    }
    StepMetrics::read(&row).unwrap()
}

fn scores(accuracy: f64, precision: Option<f64>, recall: f64, f1: f64) -> Value {
    json!({ "accuracy": accuracy, "precision": precision, "recall": recall, "f1": f1 })
}

fn splits(train: &[u32], held_out: &[u32]) -> Splits {
    Splits::new(dataset(train), dataset(held_out))
}

/// The labels of 100 samples, of which so many are of class 1.
fn labels(positives: usize) -> Vec<u32> {
    (0..100)
        .map(|sample| u32::from(sample < positives))
        .collect()
}

#[test]
fn held_out_f1_of_the_used_model_decides() {
    let splits = splits(&labels(20), &labels(20));
    let good = scores(0.99, Some(0.96), 1.0, 0.99);
    let worse = scores(0.97, Some(0.9), 0.95, 0.92);
    let metrics = [evaluation(10, &good, &good), evaluation(20, &good, &worse)];
    let of = |learned, step| Outcome::of(&config(learned), &splits, &metrics, step).unwrap();
    let last = of(0.99, None);
    assert_eq!(last.verdict, Verdict::BetterThanBaselines);
    assert_eq!((last.learned(), last.step), (Some(false), 20));
    assert_eq!(last.first_learned_at_step, Some(10));
    let best = of(0.99, Some(10));
    assert_eq!(
        (best.verdict, best.learned()),
        (Verdict::Learned, Some(true))
    );
    assert_eq!((best.step, best.steps), (10, 20));
    // The interval of 99 of 100 samples.
    let said = best.sentences(|class| format!("class {class}"), Some("\"rare\""), "words");
    assert!(said.contains("0.946 to 0.998"), "{said}");
    assert!(said.contains("F1 of \"rare\" 0.990"), "{said}");
    assert_eq!(of(0.9, None).verdict, Verdict::Learned);
    let unknown = Outcome::of(&config(0.99), &splits, &metrics, Some(15));
    assert_eq!(unknown, None);
}

/// The interval of 0.87 of 100 samples begins at 0.790, below the majority's 0.8; that of 0.97 at 0.915.
#[test]
fn baselines_are_beaten_by_the_lower_end() {
    let splits = splits(&labels(20), &labels(20));
    let of = |accuracy: f64| {
        let row = evaluation(
            10,
            &scores(0.9, Some(0.9), 0.5, 0.6),
            &scores(accuracy, Some(0.9), 0.5, 0.6),
        );
        Outcome::of(&config(0.99), &splits, &[row], None).unwrap()
    };
    let low = of(0.87);
    assert_eq!(low.verdict, Verdict::NoBetterThanBaselines);
    assert!((low.accuracy_interval[0] - 0.790_2).abs() < 1e-3, "{low:?}");
    assert_eq!(of(0.97).verdict, Verdict::BetterThanBaselines);
    let majority = low.baselines[0];
    assert_eq!(
        (majority.guess, majority.accuracy),
        (Guess::Majority { class: 0 }, 0.8)
    );
    assert_eq!((low.baselines.len(), low.overfitting), (1, None));
    // Most training samples are of class 0, and most judged ones of class 1: a constant answer is right in seven of ten.
    let splits = self::splits(&[0, 0, 0, 1], &[1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    let row = evaluation(
        10,
        &scores(0.9, None, 0.5, 0.6),
        &scores(0.6, None, 0.5, 0.6),
    );
    let outcome = Outcome::of(&config(0.99), &splits, &[row], None).unwrap();
    let constant = outcome.baselines[0];
    assert_eq!(
        (constant.guess, constant.accuracy),
        (Guess::Majority { class: 1 }, 0.7)
    );
}

/// Class 2 has no judged sample. The model's F1 is over it if the model predicts it, and then so is that of the baseline.
#[test]
fn a_baseline_has_the_f1_of_the_models_classes() {
    let mut config = config(0.99);
    config.data.n_classes = 3;
    let splits = splits(&[0, 0, 0, 1, 2], &[0, 0, 1]);
    let class = |samples: usize, precision: Option<f64>| json!({ "samples": samples, "precision": precision });
    let f1 = |predicted: Option<f64>| {
        let mut row = scores(0.5, Some(0.5), 0.5, 0.5);
        row["classes"] = json!([
            class(2, Some(1.0)),
            class(1, Some(1.0)),
            class(0, predicted)
        ]);
        let outcome = Outcome::of(&config, &splits, &[evaluation(1, &row, &row)], None).unwrap();
        outcome.baselines[0].f1.unwrap()
    };
    // Always class 0: two of three right, so that F1 is 0.8 for class 0 and 0 for the others.
    assert!((f1(None) - 0.8 / 2.0).abs() < 1e-12);
    assert!((f1(Some(0.0)) - 0.8 / 3.0).abs() < 1e-12);
}

/// Words decide alone here, so that naive Bayes is right everywhere, and no model is better.
#[test]
fn texts_have_counts_of_words_beside_them() {
    let mut config = config(0.99);
    config.data.words = Some(Words::of(["a", "b"]));
    let splits = splits(&labels(20), &labels(20));
    let row = evaluation(
        10,
        &scores(0.97, Some(0.9), 0.95, 0.92),
        &scores(0.97, Some(0.9), 0.95, 0.92),
    );
    let outcome = Outcome::of(&config, &splits, &[row], None).unwrap();
    let counts = outcome.baselines[1];
    assert_eq!(
        (counts.guess, counts.accuracy, counts.f1),
        (Guess::WordCounts, 1.0, Some(1.0))
    );
    assert_eq!(outcome.verdict, Verdict::NoBetterThanBaselines);
}

/// scikit-learn 1.9's `MultinomialNB(alpha=1)` classifies all but the last sample as they are labelled here. A class with few
/// words makes the smoothing matter; 0 is no word.
#[test]
fn counts_of_words_are_those_of_scikit_learn() {
    let texts = |samples: &[([u32; 4], u32)]| {
        let mut dataset = Dataset::empty(4, ClsPlace::First);
        for (words, label) in samples {
            let tokens = words.map(|word| if word == 0 { 0 } else { FIRST_WORD + word });
            dataset.push(&[&[0], &tokens[..]].concat(), *label);
        }
        dataset
    };
    let mut config = config(0.99);
    config.data.words = Some(Words::of(["a", "b", "c", "d", "e", "f"]));
    let splits = Splits::new(
        texts(&[
            ([1, 2, 3, 1], 0),
            ([2, 2, 4, 1], 0),
            ([3, 1, 2, 4], 0),
            ([5, 0, 0, 0], 1),
            ([1, 0, 5, 0], 1),
        ]),
        texts(&[
            ([1, 1, 1, 0], 0),
            ([1, 0, 0, 0], 0),
            ([5, 5, 2, 0], 1),
            ([1, 5, 2, 0], 1),
            ([4, 5, 2, 3], 0),
            ([1, 1, 5, 5], 1),
            ([3, 0, 0, 0], 0),
            ([5, 2, 2, 4], 0),
            ([5, 2, 4, 0], 1),
            ([1, 5, 4, 2], 0),
        ]),
    );
    let row = scores(0.5, Some(0.5), 0.5, 0.5);
    let outcome = Outcome::of(&config, &splits, &[evaluation(1, &row, &row)], None).unwrap();
    assert!((outcome.baselines[1].accuracy - 0.9).abs() < 1e-12);
}

/// A frequent class alone, and counts of words, score as much as this model, although its F1 is high.
#[test]
fn a_model_that_learned_no_more_than_a_baseline_says_so() {
    let mut all = vec![1; 97];
    all.extend([0; 3]);
    let remarks = |train: &[u32], held_out: &[u32], accuracy: f64| {
        let row = scores(accuracy, Some(0.99), 0.99, 0.992);
        let metrics = [evaluation(10, &row, &row)];
        let outcome = Outcome::of(&config(0.99), &splits(train, held_out), &metrics, None);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.verdict, Verdict::Learned);
        outcome.remarks(|class| format!("class {class}"), "words")
    };
    let found = remarks(&all, &all, 0.985);
    assert!(found[0].contains("always class 1"), "{found:?}");
    // In a balanced set the same class alone is far off.
    assert!(remarks(&all, &labels(50), 0.99).is_empty());
    // The F1 of never guessing a rare class is far off, its accuracy is not.
    let found = remarks(&labels(3), &labels(3), 1.0);
    assert!(found[0].contains("always class 0"), "{found:?}");
}

/// Nine samples that are all right have an interval from 0.701, ten one from 0.722: above the 0.5 of the majority.
#[test]
fn a_few_samples_show_nothing() {
    let all = |count: usize| {
        (0..count)
            .map(|sample| (sample % 2) as u32)
            .collect::<Vec<u32>>()
    };
    let of = |count: usize, f1: f64| {
        let row = scores(1.0, Some(f1), f1, f1);
        let splits = splits(&all(100), &all(count));
        Outcome::of(&config(0.99), &splits, &[evaluation(0, &row, &row)], None).unwrap()
    };
    let remarks = |outcome: &Outcome| outcome.remarks(|class| class.to_string(), "words").len();
    assert_eq!(of(9, 0.98).verdict, Verdict::NoBetterThanBaselines);
    assert_eq!(of(10, 0.98).verdict, Verdict::BetterThanBaselines);
    assert_eq!(remarks(&of(9, 0.98)), remarks(&of(10, 0.98)) + 1);
    let lucky = of(9, 1.0);
    let said = lucky.sentences(|class| class.to_string(), None, "words");
    assert!(
        said.starts_with("Too few samples to judge the model"),
        "{said}"
    );
    assert!(
        said.contains("hold out 10 or more (data.held_out)"),
        "{said}"
    );
    assert_eq!(lucky.verdict, Verdict::NoBetterThanBaselines);
    assert_eq!(lucky.first_learned_at_step, None);
    assert_eq!(of(10, 1.0).verdict, Verdict::Learned);
}

/// Of few samples the sentence also gives the interval.
#[test]
fn few_samples_have_an_interval() {
    let all: Vec<u32> = (0..1000).map(|sample| u32::from(sample < 500)).collect();
    let good = scores(1.0, Some(1.0), 1.0, 1.0);
    for (samples, part) in [(100, "(0.963 to 1.000)"), (1000, "1.000 on 1,000 samples")] {
        let splits = splits(&all, &all[500 - samples / 2..500 + samples / 2]);
        let row = evaluation(10, &good, &good);
        let outcome = Outcome::of(&config(0.99), &splits, &[row], None).unwrap();
        let said = outcome.verdict_text(|class| class.to_string(), None);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn overfitting_is_told_also_of_a_model_that_beats_its_baselines() {
    let splits = splits(&labels(50), &labels(50));
    let of = |held_out: f64| {
        let row = evaluation(
            10,
            &scores(1.0, Some(1.0), 1.0, 1.0),
            &scores(held_out, Some(0.8), 0.8, 0.8),
        );
        Outcome::of(&config(0.99), &splits, &[row], None).unwrap()
    };
    let outcome = of(0.8);
    assert_eq!(outcome.verdict, Verdict::BetterThanBaselines);
    assert_eq!(
        outcome.overfitting.map(|found| found.train_accuracy),
        Some(1.0)
    );
    // 0.96 and 1.0 of 100 samples overlap.
    assert_eq!(of(0.96).overfitting, None);
    // The interval of 0.59 begins at 0.492, below the 0.5 of a constant answer.
    let guesses = [0.59, 0.3].map(|accuracy| scores(accuracy, Some(0.5), 0.5, 0.5));
    let row = evaluation(10, &guesses[0], &guesses[1]);
    let outcome = Outcome::of(&config(0.99), &splits, &[row], None).unwrap();
    assert_eq!(outcome.overfitting, None);
}

/// Patience ends a training at the second evaluation after the kept one; that of the last epoch ends it in any case.
#[test]
fn a_training_that_patience_ended_says_so_and_what_to_do() {
    let splits = splits(&labels(50), &labels(50));
    let chance = scores(0.5, None, 0.0, 0.0);
    let metrics = [0, 1, 2].map(|step| evaluation(step, &chance, &chance));
    let said = |epochs, kept| {
        let mut config = config(0.99);
        config.training.epochs = Some(epochs);
        config.training.keep_best = serde_json::from_value(json!("held_out_loss")).unwrap();
        config.training.patience = 2;
        let outcome = Outcome::of(&config, &splits, &metrics, Some(kept)).unwrap();
        outcome.sentences(|class| class.to_string(), None, "words")
    };
    let early = said(9, 0);
    assert!(
        early.contains(
            "because held_out_loss had not improved for 2 evaluations; training.patience = 0"
        ),
        "{early}"
    );
    assert!(early.contains("of step 0 of 2: untrained"), "{early}");
    for (epochs, kept) in [(9, 1), (1, 0)] {
        assert!(!said(epochs, kept).contains("patience"), "{epochs}, {kept}");
    }
}

/// A frequent class alone gives an F1 above 0.99.
#[test]
fn one_class_for_all_samples_is_not_learned() {
    let one = scores(0.995, Some(0.995), 1.0, 0.997);
    let mut all = vec![1; 199];
    all.push(0);
    let outcome = Outcome::of(
        &config(0.99),
        &splits(&all, &all),
        &[evaluation(10, &one, &one)],
        None,
    );
    let outcome = outcome.unwrap();
    assert_eq!(outcome.verdict, Verdict::NoBetterThanBaselines);
    assert_eq!(outcome.one_class, Some(1));
}

/// Without held-out samples the training samples judge, and the outcome says so.
#[test]
fn training_samples_judge_where_none_are_held_out() {
    let row = || evaluation(10, &scores(1.0, Some(1.0), 1.0, 1.0), &Value::Null);
    let outcome = Outcome::of(&config(0.99), &splits(&labels(50), &[]), &[row()], None).unwrap();
    assert_eq!(
        (outcome.verdict, outcome.held_out),
        (Verdict::Learned, false)
    );
    assert_eq!(outcome.overfitting, None);
    let nothing = Outcome::of(&config(0.99), &splits(&[1, 1], &[]), &[row()], None).unwrap();
    assert_eq!(
        (nothing.verdict, nothing.learned()),
        (Verdict::NothingToLearn, None)
    );
}

#[test]
fn nothing_is_known_without_an_evaluation() {
    assert_eq!(
        Outcome::of(&config(0.99), &splits(&[0, 1], &[]), &[], None),
        None
    );
}

/// Attention says what a model looks for only if there are other keys than those that decide.
#[test]
fn attention_to_the_only_keys_is_not_called_uniform() {
    let splits = splits(&labels(20), &labels(20));
    let remarks = |attention: f64, uniform: f64| {
        let mut train = scores(0.99, Some(0.96), 1.0, 0.99);
        for class in ["positive", "negative"] {
            train[format!("attention_{class}")] = json!(attention);
            train[format!("uniform_{class}")] = json!(uniform);
        }
        let row = evaluation(10, &train, &scores(0.99, Some(0.96), 1.0, 0.99));
        let outcome = Outcome::of(&config(0.99), &splits, &[row], None).unwrap();
        outcome
            .remarks(|class| class.to_string(), "words")
            .join("; ")
    };
    let sentence = "Attention from [CLS] is still close to uniform";
    assert_eq!(remarks(0.51, 0.5), sentence);
    assert_eq!(remarks(0.7, 0.5), "");
    assert_eq!(remarks(1.0, 1.0), "");
}
