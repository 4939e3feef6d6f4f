//! The outcome of training, from the labels, the evaluations and the predictions.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_data::{Dataset, Splits};
use headlight_experiment::metrics::{Assessment, Outcomes, StepMetrics};
use headlight_experiment::outcome::{Learning, Outcome};
use serde_json::json;

fn splits(labels: &[u8]) -> Splits {
    let mut train = Dataset::empty(1);
    for &label in labels {
        train.push(&[0, 1], label);
    }
    Splits {
        train,
        held_out: Dataset::empty(1),
        texts: None,
    }
}

fn evaluation(step: usize, f1: Option<f64>, attention: f64) -> StepMetrics {
    let row = json!({
        "epoch": 1, "step": step, "train_loss": 1.0, "loss": 1.0, "accuracy": 0.5, "f1": f1,
        "attention_positive": attention, "uniform_positive": 0.25,
    });
    StepMetrics::read(&row).unwrap()
}

/// Of samples with these labels, which the model classifies as these classes.
fn assessment(labels: &[u8], predicted: &[u8]) -> Assessment {
    let mut outcomes = Outcomes::new(2);
    for (&label, &predicted) in labels.iter().zip(predicted) {
        let logit = if predicted == 1 { 1.0 } else { -1.0 };
        outcomes.add(&[logit], &[0.5], 1.0, label);
    }
    outcomes.assess().unwrap()
}

#[test]
fn every_outcome_has_its_sentences() {
    const LABELS: [u8; 4] = [0, 1, 0, 0];
    let of = |labels: &[u8], f1: &[f64], attention, predicted: &[u8]| {
        let f1 = f1.iter().enumerate();
        let metrics: Vec<StepMetrics> = f1
            .map(|(index, &f1)| evaluation(10 * index, Some(f1), attention))
            .collect();
        let assessment = assessment(labels, predicted);
        let outcome = Outcome::of(&splits(labels), &metrics, Some(&assessment)).unwrap();
        let text = outcome.sentences(|class| format!("<{class}>"));
        (outcome.learning, outcome.learned(), text)
    };
    let expected = |learning, learned, text: &str| (learning, learned, text.to_owned());
    assert_eq!(
        of(&[1, 1], &[1.0], 0.9, &[1, 1]),
        expected(
            Learning::NothingToLearn { class: 1 },
            None,
            "Nothing to learn: all training samples are of class <1>."
        )
    );
    assert_eq!(
        of(&LABELS, &[0.0, 0.99, 1.0], 0.9, &LABELS),
        expected(
            Learning::Learned { step: 10 },
            Some(true),
            "Learned: F1 on the training samples is 0.99 or more, first measured at step 10."
        )
    );
    let one_class = Learning::OneClass {
        class: 0,
        accuracy: 0.75,
    };
    assert_eq!(
        of(&LABELS, &[0.0], 0.26, &[0; 4]),
        expected(
            one_class,
            Some(false),
            "Not learned: the model predicts class <0> for all training samples, which is right for 75.0% of them. \
             Attention from [CLS] is still close to uniform."
        )
    );
    let f1 = Some(0.5);
    assert_eq!(
        of(&LABELS, &[1.0, 0.5], 0.9, &[0, 1, 1, 0]),
        expected(
            Learning::Unlearned { step: 0, f1 },
            Some(false),
            "Not learned: F1 on the training samples reached 0.99 at step 0, but is 0.500 at the end."
        )
    );
    assert_eq!(
        of(&LABELS, &[0.5], 0.9, &[0, 1, 1, 0]),
        expected(
            Learning::NotLearned { f1 },
            Some(false),
            "Not learned: F1 on the training samples is 0.500; a model has learned if it is 0.99 or more."
        )
    );
}

/// Held-out samples judge the model if there are any, and nothing is known before the first evaluation.
#[test]
fn held_out_samples_judge_the_model() {
    let splits = splits(&[0, 1]);
    assert_eq!(Outcome::of(&splits, &[], None), None);
    let mut last = evaluation(10, Some(1.0), 0.9);
    last.held_out = Some(evaluation(10, None, 0.9).train);
    let outcome = Outcome::of(&splits, &[last], None).unwrap();
    assert_eq!(outcome.learning, Learning::NotLearned { f1: None });
    let text = outcome.sentences(|class| class.to_string());
    assert!(
        text.starts_with("Not learned: F1 on the held-out samples is –;"),
        "{text}"
    );
}
