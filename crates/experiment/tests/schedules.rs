//! Learning rates over training, and the steps that are evaluated.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use crate::common::parse;
use headlight_experiment::config::TrainingConfig;

fn training(changes: &[&str]) -> TrainingConfig {
    let rate = ["training.learning_rate=0.5"];
    parse(&[&rate, changes].concat()).unwrap().training
}

/// The learning rate of each of 10 steps, as `transformers.get_scheduler(..., num_training_steps=10)` has them.
fn rates(changes: &[&str]) -> Vec<f64> {
    let training = training(changes);
    let rates = (0..10).map(|step| training.learning_rate_at(step, 10));
    rates.collect()
}

fn close(found: &[f64], expected: [f64; 10]) {
    let pairs = found.iter().zip(expected);
    assert!(
        pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12),
        "{found:?}"
    );
}

#[test]
fn learning_rates_follow_the_schedule() {
    assert_eq!(rates(&[]), [0.5; 10]);
    let warmup = "training.warmup_steps=4";
    let constant = rates(&[warmup]);
    assert_eq!(constant[..5], [0.0, 0.125, 0.25, 0.375, 0.5]);
    assert_eq!(constant[5..], [0.5; 5]);
    let linear = rates(&["training.schedule=linear"]);
    close(
        &linear,
        [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map(|left| f64::from(left) / 20.0),
    );
    // Of six steps after the warm-up.
    let linear = rates(&[warmup, "training.schedule=linear"]);
    close(
        &linear,
        [0.0, 3.0, 6.0, 9.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0].map(|part| part / 24.0),
    );
    let root = 3.0_f64.sqrt();
    let half = |cosine: f64| 0.25 * (1.0 + cosine);
    let cosine = rates(&[warmup, "training.schedule=cosine"]);
    let after = [1.0, root / 2.0, 0.5, 0.0, -0.5, -root / 2.0].map(half);
    let [a, b, c, d, e, f] = after;
    close(&cosine, [0.0, 0.125, 0.25, 0.375, a, b, c, d, e, f]);
    // After the last step, the rate stays.
    assert!(
        training(&["training.schedule=cosine"])
            .learning_rate_at(11, 10)
            .abs()
            < 1e-15
    );
    assert_eq!(
        training(&["training.schedule=linear"]).learning_rate_at(12, 10),
        0.0
    );
}

fn chosen(change: &str, to: usize) -> Option<Vec<usize>> {
    let training = training(&[change]);
    let is_chosen = training.chosen_steps()?;
    Some((0..=to).filter(|&step| is_chosen(step)).collect())
}

#[test]
fn evaluations_are_at_chosen_steps() {
    assert_eq!(chosen("training.evaluate_every=2", 9), None);
    assert_eq!(
        chosen("training.evaluate_at=[0, 3, 5]", 9),
        Some(vec![0, 3, 5])
    );
    // The nearest whole numbers to powers of ten to the 0, 1/4, 2/4, 3/4, ...
    let grid = [0, 1, 2, 3, 6, 10, 18, 32, 56, 100];
    assert_eq!(
        chosen("training.evaluations_per_decade=4", 150),
        Some(grid.to_vec())
    );
    assert_eq!(
        chosen("training.evaluations_per_decade=1", 150),
        Some(vec![0, 1, 10, 100])
    );
}

#[test]
fn training_ends_with_its_steps_or_its_epochs() {
    let ends = |changes: &[&str]| {
        let training = training(changes);
        training.total_steps(training.steps_per_epoch(10))
    };
    // 10 samples in batches of 4: 3 steps per epoch, 2 epochs.
    assert_eq!(ends(&[]), 6);
    assert_eq!(ends(&["training.steps=4"]), 4);
    assert_eq!(ends(&["training.steps=9"]), 6);
}
