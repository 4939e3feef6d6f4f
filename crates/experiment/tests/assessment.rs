//! Assessments agree with scikit-learn, and rankings with their definitions.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use headlight_experiment::metrics::{Assessment, Calibration, LabelledPredictions, RankingMetrics};
use proptest::prelude::*;
use serde_json::{Value, from_str, json, to_value};

/// Origin: `scripts/evidence/test_metrics.py`, scikit-learn 1.9.1.
const EXPECTATIONS: &str = include_str!("../../../data/scikit_learn_metrics.json");

/// The assessment of samples with these labels, and the probabilities of class 1 or of each class.
fn assess(labels: &[u32], probabilities: &[Vec<f64>]) -> Assessment {
    let n_classes = probabilities[0].len().max(2);
    let mut outcomes = LabelledPredictions::new(n_classes);
    for (&label, probabilities) in labels.iter().zip(probabilities) {
        let (logits, correct) = if let [one] = probabilities[..] {
            let correct = if label == 1 { one } else { 1.0 - one };
            (vec![(one / (1.0 - one)).ln()], correct)
        } else {
            let logits = probabilities.iter().map(|p| p.ln()).collect();
            (logits, probabilities[label as usize])
        };
        outcomes.add(&logits, probabilities, -correct.ln(), label);
    }
    outcomes.assess().unwrap()
}

/// Asserts that `found` has all that `expected` has.
fn agree(found: &Value, expected: &Value, place: &str) {
    match expected {
        Value::Object(expected) => {
            for (key, expected) in expected {
                agree(&found[key], expected, &format!("{place}.{key}"));
            }
        }
        Value::Array(expected) => {
            assert_eq!(found.as_array().unwrap().len(), expected.len(), "{place}");
            for (index, expected) in expected.iter().enumerate() {
                agree(&found[index], expected, &format!("{place}[{index}]"));
            }
        }
        Value::Number(expected) if expected.is_f64() => {
            let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!(
                (found - expected).abs() < 1e-12,
                "{place}: {found} {expected}"
            );
        }
        expected => assert_eq!(found, expected, "{place}"),
    }
}

#[test]
fn assessments_are_those_of_scikit_learn() {
    let cases: Vec<Value> = from_str(EXPECTATIONS).unwrap();
    assert_eq!(cases.len(), 7);
    for (number, case) in cases.iter().enumerate() {
        let labels: Vec<u32> = serde_json::from_value(case["labels"].clone()).unwrap();
        let probabilities: Vec<Vec<f64>> =
            serde_json::from_value(case["probabilities"].clone()).unwrap();
        let mut found = to_value(assess(&labels, &probabilities)).unwrap();
        for bin in found["calibration"]["bins"].as_array_mut().unwrap() {
            *bin = json!([bin["samples"], bin["mean_probability"], bin["share"]]);
        }
        agree(&found, &case["expected"], &format!("case {number}"));
        let two = probabilities[0].len() == 1;
        assert_eq!(found["thresholds"].is_null(), !two);
        let main = if two {
            &found["classes"][1]
        } else {
            &found["macro"]
        };
        for key in ["precision", "recall", "f1", "roc_auc", "average_precision"] {
            assert_eq!(found[key], main[key], "{key}, case {number}");
        }
    }
}

/// The numbers of scikit-learn's own documentation of `roc_auc_score`, `roc_curve`, `average_precision_score` and
/// `precision_recall_curve`.
#[test]
fn a_ranking_by_hand() {
    let ranking = RankingMetrics::of([(0.1, false), (0.4, false), (0.35, true), (0.8, true)]);
    assert_eq!(ranking.roc_auc(), Some(0.75));
    assert!((ranking.average_precision().unwrap() - 5.0 / 6.0).abs() < 1e-15);
    let roc = [[0.0, 0.0], [0.0, 0.5], [0.5, 0.5], [0.5, 1.0], [1.0, 1.0]];
    assert_eq!(ranking.roc(), roc);
    // Recall, precision: before and after each step of recall.
    let third = 2.0 / 3.0;
    let steps = [
        [0.0, 1.0],
        [0.5, 1.0],
        [0.5, 0.5],
        [0.5, 0.5],
        [0.5, third],
        [1.0, third],
        [1.0, 0.5],
        [1.0, 0.5],
    ];
    assert_eq!(ranking.precision_recall(), steps);
    // A threshold includes the sample that has it.
    assert_eq!(ranking.at(0.4).predicted(), 2);
    assert_eq!(ranking.at(0.41).predicted(), 1);
    assert_eq!(ranking.at(0.9).predicted(), 0);
    let (threshold, counts) = ranking.best_f1().unwrap();
    // Between 0.35, which is classified as positive, and the next score, 0.1.
    let middle = f64::midpoint(0.1, 0.35);
    assert_eq!((threshold, counts.f1()), (middle, Some(0.8)));
}

/// A model without errors: one half is not always the middle, but far from both ends.
#[test]
fn the_best_threshold_is_the_middle_of_those_that_are_equal() {
    let perfect = RankingMetrics::of([(0.97, true), (0.75, true), (0.25, false), (0.01, false)]);
    let (threshold, counts) = perfect.best_f1().unwrap();
    assert_eq!((threshold, counts.f1()), (0.5, Some(1.0)));
    assert_eq!(perfect.at(threshold), counts);
    // All are positive: any threshold below gives the same, and the lowest score is one of them.
    let all = RankingMetrics::of([(0.9, true), (0.6, true)]);
    assert_eq!(all.best_f1().unwrap().0, 0.6);
    // There is no number between the two.
    let next = 0.5_f64.next_up();
    let close = RankingMetrics::of([(next, true), (0.5, false)]);
    assert_eq!(close.best_f1().unwrap().0, next);
}

#[test]
fn what_no_sample_decides_is_not_defined() {
    assert_eq!(LabelledPredictions::new(2).assess(), None);
    let negatives = RankingMetrics::of([(0.5, false), (0.25, false)]);
    assert_eq!(negatives.roc_auc(), None);
    assert_eq!(negatives.average_precision(), None);
    assert_eq!(negatives.best_f1(), None);
    assert_eq!(negatives.roc(), [[0.0; 2]; 0]);
    assert_eq!(negatives.precision_recall(), [[0.0; 2]; 0]);
    let positives = RankingMetrics::of([(0.5, true), (0.25, true)]);
    assert_eq!(positives.roc_auc(), None);
    assert_eq!(positives.average_precision(), Some(1.0));
    let none = RankingMetrics::of([]);
    assert_eq!((none.roc_auc(), none.average_precision()), (None, None));
    assert_eq!(Calibration::of(&[]).expected_error, None);
}

#[test]
fn bins_hold_their_upper_end_and_the_first_one_0() {
    let samples = [0.0, 0.05, 0.1, 0.11, 0.95, 1.0].map(|probability| (probability, true));
    let calibration = Calibration::of(&samples);
    let counts: Vec<usize> = calibration.bins.iter().map(|bin| bin.samples).collect();
    assert_eq!(counts, [3, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    assert_eq!(calibration.bins[2].share, None);
    assert_eq!(
        (calibration.bins[9].from, calibration.bins[9].to),
        (0.9, 1.0)
    );
}

/// Scores of few different values, so that many are equal.
fn samples() -> impl Strategy<Value = Vec<(f64, bool)>> {
    let sample =
        (0..12_u8, any::<bool>()).prop_map(|(score, label)| (f64::from(score) / 12.0, label));
    prop::collection::vec(sample, 1..60)
}

proptest! {
    #[test]
    fn the_area_counts_pairs_and_half_of_equal_ones(samples in samples()) {
        let of = |label: bool| samples.iter().filter(move |sample| sample.1 == label);
        let pairs = of(true).flat_map(|positive| of(false).map(move |negative| (positive.0, negative.0)));
        let won: Vec<f64> = pairs
            .map(|(positive, negative)| match positive.total_cmp(&negative) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 1.0,
            })
            .collect();
        let expected = (!won.is_empty()).then(|| won.iter().sum::<f64>() / won.len() as f64);
        prop_assert_eq!(RankingMetrics::of(samples).roc_auc(), expected);
    }

    #[test]
    fn only_the_order_of_scores_matters(samples in samples(), rotation in 0..60_usize) {
        let plain = RankingMetrics::of(samples.iter().copied());
        let mut moved: Vec<(f64, bool)> = samples
            .iter()
            .map(|(score, label)| ((5.0 * score).exp() - 3.0, *label))
            .collect();
        let by = rotation % moved.len();
        moved.rotate_left(by);
        let moved = RankingMetrics::of(moved);
        prop_assert_eq!(plain.roc_auc(), moved.roc_auc());
        prop_assert_eq!(plain.average_precision(), moved.average_precision());
        prop_assert_eq!(plain.roc(), moved.roc());
        if let Some((threshold, counts)) = plain.best_f1() {
            prop_assert_eq!(plain.at(threshold), counts);
        }
        prop_assert_eq!(
            plain.best_f1().map(|(_, counts)| counts),
            moved.best_f1().map(|(_, counts)| counts)
        );
    }

    #[test]
    fn swapped_classes_and_signs_have_the_same_area(samples in samples()) {
        let swapped = samples.iter().map(|(score, label)| (-score, !label));
        prop_assert_eq!(RankingMetrics::of(swapped).roc_auc(), RankingMetrics::of(samples.iter().copied()).roc_auc());
    }

    #[test]
    fn areas_under_the_curves_are_the_areas(samples in samples()) {
        let ranking = RankingMetrics::of(samples);
        let under = |points: &[[f64; 2]]| -> f64 {
            let sides = points.windows(2);
            sides.map(|side| (side[1][0] - side[0][0]) * f64::midpoint(side[0][1], side[1][1])).sum()
        };
        let areas = [
            (ranking.roc_auc(), under(&ranking.roc())),
            (ranking.average_precision(), under(&ranking.precision_recall())),
        ];
        for (area, under) in areas {
            prop_assert!((area.unwrap_or(0.0) - under).abs() < 1e-12, "{area:?} {under}");
        }
    }
}
