//! Weights of answers in the loss of training: of classes, and of samples.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use std::f64::consts::LN_2;
use std::sync::Arc;

use crate::common::{dataset, parse};
use headlight_data::Splits;
use headlight_experiment::metrics::Metric;
use headlight_experiment::train::{Progress, measure};
use headlight_experiment::{Engine, Error, Experiment, FusedEngine};

/// An experiment with one sample of class 1 and three of class 0, which may have weights of their own.
fn experiment(changes: &[&str], of_samples: Option<[f64; 4]>) -> Result<Experiment, Error> {
    let mut train = dataset(&[true, false, false, false]);
    if let Some(weights) = of_samples {
        train.weigh(|sample, _| weights[sample]);
    }
    let splits = Splits::new(train, dataset(&[]));
    Experiment::new(parse(changes).unwrap(), Arc::new(splits), None)
}

/// All parameters are 0, so each class has the probability 1/2: an answer's loss is log 2, and its slope by the classifier's bias -1/2
/// for class 1 and 1/2 for class 0.
#[test]
fn a_batch_has_the_sum_of_weight_times_loss_over_its_answers() {
    let weights = "training.class_weights={ 1 = 5 }";
    for (changes, of_samples, sum, slope) in [
        (&[][..], None, 4.0, 1.0),
        (&[weights], None, 8.0, -1.0),
        (&[], Some([2.0, 1.0, 0.0, 1.0]), 4.0, 0.0),
        (&[weights], Some([2.0, 1.0, 0.0, 1.0]), 12.0, -4.0),
        // 4 / (2 * 1) and 4 / (2 * 3).
        (&["training.class_weights=balanced"], None, 4.0, 0.0),
    ] {
        let mut experiment = experiment(changes, of_samples).unwrap();
        for parameter in &mut experiment.start {
            parameter.values.fill(0.0);
        }
        let train = &experiment.splits.train;
        let mut engine = FusedEngine::new(&experiment).unwrap();
        let measured = measure(&experiment, &mut engine, Progress::default()).unwrap();
        let unweighted = measured.train[Metric::Loss].unwrap();
        let gradient = engine.gradient(train, &[0, 1, 2, 3]);
        let bias = gradient.last().unwrap();
        let loss = engine.step(train, &[0, 1, 2, 3], 0.1);
        assert_eq!(bias.name, "classifier.bias");
        assert!(
            (loss - LN_2 * sum / 4.0).abs() < 1e-6,
            "{changes:?}: {loss}"
        );
        assert!((f64::from(bias.values[0]) - slope / 4.0).abs() < 1e-6);
        assert!((unweighted - LN_2).abs() < 1e-6, "{unweighted}");
    }
}

#[test]
fn a_class_has_a_name_or_a_number() {
    let of = |changes: &[&str]| {
        let changed = experiment(changes, None).unwrap();
        changed.splits.train.weights().unwrap()[..2].to_vec()
    };
    let named = "data.classes=[\"no\", \"yes\"]";
    assert_eq!(of(&["training.class_weights={ 1 = 3 }"]), [3.0, 1.0]);
    assert_eq!(of(&["training.class_weights.0=0.5"]), [1.0, 0.5]);
    assert_eq!(
        of(&[named, "training.class_weights={ yes = 3, 0 = 2 }"]),
        [3.0, 2.0]
    );
    // Where names are numbers, numbers are names.
    let numbers = "data.classes=[\"1\", \"2\"]";
    assert_eq!(
        of(&[numbers, "training.class_weights={ 1 = 3 }"]),
        [1.0, 3.0]
    );
    assert_eq!(
        of(&["training.class_weights=balanced"]),
        [2.0, (2.0_f64 / 3.0) as f32]
    );
}

#[test]
fn weights_that_cannot_be_used_are_refused() {
    let named = "data.classes=[\"no\", \"yes\"]";
    for (changes, reasons) in [
        (
            &["training.class_weights={ 7 = 2 }"][..],
            "there is no class `7`; the classes are 0 to 1",
        ),
        (
            &[named, "training.class_weights.maybe=2"],
            "there is no class `maybe`; the classes are no, yes",
        ),
        (
            &[named, "training.class_weights={ yes = 2, 1 = 3 }"],
            "two weights, by its name and by its number",
        ),
        (
            &["training.class_weights={ 0 = 0, 1 = 0 }"],
            "all classes have the weight 0",
        ),
        (
            &["training.class_weights={ 1 = -1 }"],
            "class_weights.1 is -1.0; it must be at least 0",
        ),
        (
            &["training.class_weights={ 1 = nan }"],
            "class_weights.1 is NaN; it must be at least 0",
        ),
        (
            &["training.class_weights={ 1 = 1e39 }"],
            "class_weights.1 is 1e+39; it must be at least 0, in float32 too",
        ),
        (
            &["training.class_weights=even"],
            "expected \"balanced\" or a table from classes to numbers, not \"even\"",
        ),
        (
            &["training.class_weights={ 1 = \"a\" }"],
            "expected \"balanced\" or a table from classes to numbers",
        ),
    ] {
        let message = parse(changes).unwrap_err();
        assert!(
            message.starts_with("--set training.class_weights"),
            "{message}"
        );
        assert!(message.contains(reasons), "{message}");
    }
    let weights = "training.class_weights={ 0 = 0 }";
    let none = experiment(&[weights], Some([0.0, 1.0, 1.0, 1.0])).unwrap_err();
    let reason = "all training samples have the weight 0";
    assert!(none.to_string().contains(reason), "{none}");
}
