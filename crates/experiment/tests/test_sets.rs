//! Test sets, whose samples may be longer than those of training, and metrics of answers per position.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use std::sync::Arc;

use crate::common::parse;
use headlight_data::{IGNORED, Splits};
use headlight_experiment::evaluate::{evaluate, predict_each};
use headlight_experiment::metrics::{EvalMetrics, Metric, predicted_class};
use headlight_experiment::{Error, Experiment, FusedEngine, test_metrics};

/// An experiment with the samples of its test sets.
fn experiment(changes: &[&str]) -> Experiment {
    let config = parse(changes).unwrap();
    let splits = config.data.generate().unwrap();
    let tests = config.tests.iter();
    let tests = tests.map(|test| config.data.draw_test(test, &splits.train).unwrap());
    let splits = Splits {
        tests: tests.collect(),
        ..splits
    };
    Experiment::new(config, Arc::new(splits), None).unwrap()
}

#[test]
fn a_longer_test_set_is_evaluated_by_a_longer_model() {
    let tests = "tests=[{ name = \"longer\", seq_len = 5, samples = 30 }, \
                 { name = \"end\", at_end = true, rule = { kind = \"token-anywhere\", token = 2 } }]";
    let experiment = experiment(&[tests, "model.positions=false"]);
    let mut engine = FusedEngine::new(&experiment).unwrap();
    let found = test_metrics(&experiment, &mut engine, |_| true).unwrap();
    let names: Vec<&str> = found.iter().map(|test| &*test.name).collect();
    assert_eq!(names, ["longer", "end"]);
    for (index, found) in found.iter().enumerate() {
        let config = &experiment.config;
        let own = config.of_test(&config.tests[index]).unwrap();
        let samples = &experiment.splits.tests[index];
        let splits = Splits::new(samples.clone(), samples.without_samples());
        let start = Some(experiment.start.clone());
        let alone = Experiment::new(own, Arc::new(splits), start).unwrap();
        let mut engine = FusedEngine::new(&alone).unwrap();
        let expected = evaluate(&mut engine, samples, 2, Some(&alone.config)).unwrap();
        assert_eq!(found.metrics, expected.metrics);
    }
    let early = test_metrics(&experiment, &mut engine, |test| !test.at_end).unwrap();
    assert_eq!(early, found[..1]);
}

/// Each position that counts is one sample of the metrics, and a sample is right if all of them are.
#[test]
fn metrics_are_over_the_positions_that_count() {
    let experiment = experiment(&[
        "data.task=\"token-classification\"",
        "data.rule={ kind = \"histogram\", padding = 8 }",
        "model.attention.padding_token=8",
        "data.samples=700",
    ]);
    let train = &experiment.splits.train;
    let n_classes = experiment.config.data.n_classes;
    let mut engine = FusedEngine::new(&experiment).unwrap();
    let found: EvalMetrics = evaluate(&mut engine, train, n_classes, None)
        .unwrap()
        .metrics;
    let (mut counted, mut right, mut loss) = (0, 0, 0.0);
    let mut whole = vec![true; train.len()];
    predict_each(&mut engine, train, |one| {
        let label = train.labels_of(one.sample)[one.position];
        if label != IGNORED {
            let is_right = predicted_class(one.logits) == label;
            counted += 1;
            right += usize::from(is_right);
            loss += one.loss;
            whole[one.sample] &= is_right;
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    assert!(counted > train.len());
    let share = |count: usize, of: usize| Some(count as f64 / of as f64);
    assert_eq!(found[Metric::Accuracy], share(right, counted));
    assert!((found[Metric::Loss].unwrap() - loss / f64::from(counted as u32)).abs() < 1e-12);
    let whole = whole.into_iter().filter(|&is_right| is_right).count();
    assert_eq!(found.whole_samples, share(whole, train.len()));
}
