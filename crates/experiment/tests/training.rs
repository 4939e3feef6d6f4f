//! The training loop, evaluation, and the best model, with an engine whose losses are given.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use std::cell::Cell;
use std::sync::Arc;

use crate::common::{Scripted, dataset, experiment, parse};
use headlight_architecture::Parameter;
use headlight_data::Splits;
use headlight_experiment::best::{BestTracker, best_evaluation};
use headlight_experiment::evaluate::evaluate;
use headlight_experiment::metrics::{EvalMetrics, Metric, StepMetrics, Tally};
use headlight_experiment::train::{Ending, Next, Observer, Progress, is_due_every, measure, train};
use headlight_experiment::{Engine, Error, Experiment, Predictions, Predictor};

/// Records all progress, and stops after a step.
struct Recorder {
    seen: Vec<Progress>,
    stop_at: Option<usize>,
}

impl Recorder {
    fn until(stop_at: Option<usize>) -> Self {
        let seen = Vec::new();
        Self { seen, stop_at }
    }
}

impl Observer for Recorder {
    type Failure = Error;

    fn step(&mut self, progress: Progress, _engine: &mut dyn Engine) -> Result<Next, Error> {
        self.seen.push(progress);
        Ok(if Some(progress.step) == self.stop_at {
            Next::Stop
        } else {
            Next::Step
        })
    }
}

fn scripted(losses: &[f64]) -> Scripted {
    Scripted {
        losses: losses.to_vec(),
        ..Scripted::default()
    }
}

const LOSSES: [f64; 6] = [8.0, 4.0, 3.0, 2.0, 4.0, 3.0];

#[test]
fn each_step_is_seen_with_the_epochs_mean_loss() {
    let experiment = experiment(parse(&[]).unwrap(), &[]);
    assert_eq!((experiment.steps_per_epoch(), experiment.steps()), (3, 6));
    let mut engine = scripted(&LOSSES);
    let mut recorder = Recorder::until(None);
    let start = Progress::default();
    let ending = train(&experiment, &mut engine, start, || false, &mut recorder);
    assert_eq!(ending, Ok(Ending::Finished));
    let seen: Vec<_> = recorder
        .seen
        .iter()
        .map(|own| {
            (
                own.epoch,
                own.step,
                own.at_epoch_end,
                own.loss,
                own.losses.value(),
            )
        })
        .collect();
    let expected = [
        (0, 0, true, None, None),
        (0, 1, false, Some(8.0), Some(8.0)),
        (0, 2, false, Some(4.0), Some(6.0)),
        (1, 3, true, Some(3.0), Some(5.0)),
        (1, 4, false, Some(2.0), Some(2.0)),
        (1, 5, false, Some(4.0), Some(3.0)),
        (2, 6, true, Some(3.0), Some(3.0)),
    ];
    assert_eq!(seen, expected);
    let batches: Vec<Vec<u32>> = [1, 2]
        .iter()
        .flat_map(|&epoch| {
            experiment
                .batches(epoch)
                .iter()
                .map(<[u32]>::to_vec)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(engine.batches, batches);
    assert_eq!(batches[2].len(), 2);

    // Resumed after any step, training sees the same as without a break.
    for (taken, &progress) in recorder.seen.iter().enumerate().skip(1) {
        let mut resumed = scripted(&LOSSES);
        resumed.steps = taken;
        let mut after = Recorder::until(None);
        let ending = train(&experiment, &mut resumed, progress, || false, &mut after);
        assert_eq!(ending, Ok(Ending::Finished), "{taken}");
        assert_eq!(after.seen, recorder.seen[taken + 1..], "{taken}");
        assert_eq!(resumed.batches, batches[taken..], "{taken}");
    }
}

#[test]
fn training_stops_where_it_is_told_to() {
    let experiment = experiment(parse(&[]).unwrap(), &[]);
    for stop in 0..=6 {
        let (mut engine, mut recorder) = (scripted(&LOSSES), Recorder::until(Some(stop)));
        let start = Progress::default();
        let ending = train(&experiment, &mut engine, start, || false, &mut recorder);
        assert_eq!((ending, engine.steps), (Ok(Ending::Stopped), stop));
    }
    // `interrupted` is called after each step except the last.
    for (signal_after, ending) in [
        (1, Ending::Interrupted),
        (5, Ending::Interrupted),
        (6, Ending::Finished),
    ] {
        let (mut engine, mut recorder) = (scripted(&LOSSES), Recorder::until(None));
        let calls = Cell::new(0);
        let interrupted = || {
            calls.set(calls.get() + 1);
            calls.get() == signal_after
        };
        let found = train(
            &experiment,
            &mut engine,
            Progress::default(),
            interrupted,
            &mut recorder,
        );
        assert_eq!((found, engine.steps), (Ok(ending), signal_after));
    }
}

#[test]
fn a_loss_that_is_not_finite_ends_training() {
    let experiment = experiment(parse(&["training.learning_rate=0.25"]).unwrap(), &[]);
    for loss in [f64::NAN, f64::INFINITY] {
        let mut engine = scripted(&[1.0, 1.0, 1.0, 1.0, loss, 1.0]);
        let mut recorder = Recorder::until(None);
        let start = Progress::default();
        let error = train(&experiment, &mut engine, start, || false, &mut recorder).unwrap_err();
        assert!(matches!(error, Error::Diverged(_)), "{error:?}");
        let message = error.to_string();
        for part in [format!("{loss}").as_str(), "epoch 2", "step 5", "2.5e-1"] {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(recorder.seen.len(), 5);
    }
}

#[test]
fn actions_are_due_at_multiples() {
    let steps: Vec<usize> = (0..8).filter(|&step| is_due_every(3, step)).collect();
    assert_eq!(steps, [0, 3, 6]);
    assert!((0..8).all(|step| is_due_every(1, step) && !is_due_every(0, step)));
}

#[test]
fn an_experiment_may_have_a_given_start_and_order() {
    let config = parse(&[]).unwrap();
    let start = vec![Parameter {
        name: "weight".to_owned(),
        shape: vec![1],
        values: vec![0.5],
    }];
    let order = vec![(0..10).rev().collect(), (0..10).collect::<Vec<u32>>()];
    let splits = Arc::new(Splits::new(dataset(&[true; 10]), dataset(&[])));
    let given = Experiment::new(config.clone(), Arc::clone(&splits), Some(start.clone())).unwrap();
    assert_eq!(given.start, start);
    let given = given.with_order(order.clone());
    for epoch in [1, 2] {
        let samples: Vec<u32> = given.batches(epoch).iter().flatten().copied().collect();
        assert_eq!(samples, order[epoch - 1]);
    }
    let seeded = Experiment::new(config, splits, None).unwrap();
    assert_ne!(seeded.start, start);
}

#[test]
fn an_evaluation_covers_every_sample_and_position() {
    let labels = [true, false, true, false, false];
    let mut engine = Scripted {
        logits: vec![3.0, -1.0, -2.0, 2.0, -4.0],
        ..Scripted::default()
    };
    let config = parse(&[]).unwrap();
    let split = dataset(&labels);
    let found = evaluate(&mut engine, &split, 2, Some(&config)).unwrap();
    let metric = |metric: Metric| found.metrics[metric].unwrap();
    assert_eq!(metric(Metric::Loss), 2.0);
    assert_eq!(metric(Metric::Accuracy), 0.6);
    assert_eq!(metric(Metric::MinPositive), -0.2);
    assert_eq!(metric(Metric::MaxNegative), 0.2);
    // Sample s looks at position p with p + s / 10; positives are samples 0 and 2.
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    let shifted = |row: Option<Vec<f64>>, shift: f64| {
        let row = row.unwrap();
        assert_eq!(row.len(), 4);
        for (value, position) in row.into_iter().zip([0.0, 1.0, 2.0, 3.0]) {
            close(value, position + shift);
        }
    };
    shifted(found.attention_positive.clone(), 0.1);
    shifted(found.attention_negative.clone(), 0.8 / 3.0);
    close(metric(Metric::AttentionPositive), 2.1);
    close(metric(Metric::AttentionNegative), 2.0 + 0.8 / 3.0);
    assert_eq!(metric(Metric::UniformPositive), 0.25);
    assert_eq!(metric(Metric::UniformNegative), 0.25);

    let without_rule = evaluate(&mut engine, &split, 2, None).unwrap();
    assert_eq!(without_rule.metrics[Metric::AttentionPositive], None);
    assert!(without_rule.attention_positive.is_some());
    let negatives = evaluate(&mut engine, &dataset(&[false; 4]), 2, None).unwrap();
    assert_eq!(negatives.attention_positive, None);
    assert!(evaluate(&mut engine, &dataset(&[]), 2, None).is_none());
}

#[test]
fn a_measurement_has_its_place_and_both_splits() {
    let mut engine = Scripted {
        logits: vec![-1.0; 10],
        ..Scripted::default()
    };
    let held_out = experiment(parse(&[]).unwrap(), &[true, false]);
    let progress = Progress {
        epoch: 1,
        step: 3,
        ..Progress::default()
    };
    let found = measure(&held_out, &mut engine, progress).unwrap();
    assert_eq!((found.epoch, found.step, found.train_loss), (1, 3, None));
    assert_eq!(found.train[Metric::Loss], Some(4.5));
    assert_eq!(found.held_out.unwrap()[Metric::Loss], Some(0.5));
    let alone = experiment(parse(&[]).unwrap(), &[]);
    assert_eq!(
        measure(&alone, &mut engine, progress).unwrap().held_out,
        None
    );

    let splits = Splits::new(dataset(&[]), dataset(&[]));
    let empty = Experiment::new(parse(&[]).unwrap(), Arc::new(splits), None).unwrap();
    assert!(matches!(
        measure(&empty, &mut engine, progress),
        Err(Error::Input(_))
    ));
}

fn metrics(loss: f64) -> EvalMetrics {
    let mut tally = Tally::new(2);
    tally.add(&[1.0], &[0.7], loss, 1);
    tally.metrics().unwrap()
}

fn line(step: usize, loss: f64, held_out: Option<f64>) -> StepMetrics {
    StepMetrics {
        epoch: 0,
        step,
        train_loss: None,
        train: metrics(loss),
        held_out: held_out.map(metrics),
        tests: Vec::new(),
        weight_norm: None,
        gradient_norm: None,
    }
}

#[test]
fn the_best_model_is_kept_until_patience_runs_out() {
    let config = parse(&["training.keep_best=held_out_loss", "training.patience=2"]).unwrap();
    let mut tracker = BestTracker::new(&config.training).unwrap();
    assert_eq!(tracker.criterion.name(), "held_out_loss");
    let mut engine = Scripted::default();
    // Without the measure nothing happens.
    tracker.update(&line(0, 0.1, None), &engine);
    assert!(tracker.best.is_none() && !tracker.is_out_of_patience());
    let expected = [
        (0.5, 1, 0, false),
        (0.5, 1, 1, false),
        (0.4, 3, 0, false),
        (0.4, 3, 1, false),
        (0.4, 3, 2, true),
        (0.4, 3, 3, true),
    ];
    let losses = [0.5, 0.5, 0.4, 0.6, 0.4, 0.7];
    for (step, (loss, expected)) in (1..).zip(losses.into_iter().zip(expected)) {
        engine.steps = step;
        tracker.update(&line(step, 9.0, Some(loss)), &engine);
        let best = tracker.best.as_ref().unwrap();
        let found = (
            best.value,
            best.step,
            best.waited,
            tracker.is_out_of_patience(),
        );
        assert_eq!(found, expected);
        assert_eq!(best.parameters[0].values, [best.step as f32]);
    }
    let config = parse(&["training.keep_best=accuracy"]).unwrap();
    let mut patient = BestTracker::new(&config.training).unwrap();
    for step in 0..5 {
        patient.update(&line(step, 1.0, None), &engine);
        assert!(!patient.is_out_of_patience());
    }
    assert_eq!(patient.best.unwrap().waited, 4);
    assert_eq!(BestTracker::new(&parse(&[]).unwrap().training), None);
}

/// From the rows alone, the same model is found.
#[test]
fn the_rows_tell_which_model_is_the_best() {
    let sets = [
        "training.keep_best=held_out_loss",
        "training.evaluate_every=10",
    ];
    let config = parse(&sets).unwrap().training;
    let losses = [0.7, 0.5, 0.5, 0.4, 0.6, 0.4, 0.7];
    let rows: Vec<StepMetrics> = losses
        .into_iter()
        .zip(0..)
        .map(|(loss, row)| line(10 * row, 9.0, Some(loss)))
        .collect();
    let mut tracker = BestTracker::new(&config).unwrap();
    for (count, row) in (1..).zip(&rows) {
        tracker.update(row, &Scripted::default());
        let found = best_evaluation(&config, &rows[..count]).unwrap();
        assert_eq!(rows[found].step, tracker.best.as_ref().unwrap().step);
    }
    let without: Vec<StepMetrics> = vec![line(0, 9.0, None)];
    assert_eq!(best_evaluation(&config, &without), None);
    assert_eq!(best_evaluation(&config, &[]), None);
    let none = parse(&[]).unwrap().training;
    assert_eq!(best_evaluation(&none, &rows), None);
}

#[test]
fn predictions_are_cleared() {
    let mut predictions = Predictions::default();
    Scripted {
        logits: vec![1.0],
        ..Scripted::default()
    }
    .predict(&dataset(&[true]), &[0], &mut predictions);
    predictions.clear();
    assert!(predictions.logits.is_empty() && predictions.probabilities.is_empty());
    assert!(predictions.losses.is_empty() && predictions.attention.is_empty());
}

#[test]
fn a_state_belongs_to_one_model() {
    let experiment = experiment(parse(&[]).unwrap(), &[]);
    let own = &experiment.start;
    let state = headlight_experiment::FusedEngine::new(&experiment)
        .unwrap()
        .state();
    assert_eq!(state.check(own), Ok(()));
    let refused = |change: &dyn Fn(&mut headlight_experiment::TrainingState), parts: &[&str]| {
        let mut other = state.clone();
        change(&mut other);
        let message = other.check(own).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message}");
        }
    };
    let count = own.len();
    let fewer = format!("{} parameters, not {count}", count - 1);
    refused(&|other| drop(other.parameters.pop()), &[&fewer]);
    refused(
        &|other| other.parameters[0].name = "x".to_owned(),
        &["`x`", "`token_embedding`"],
    );
    refused(
        &|other| other.parameters[0].shape = vec![4, 9],
        &["[4, 9]", "[9, 4]"],
    );
    refused(&|other| other.first.push(0.0), &["moments"]);
    refused(&|other| other.second.push(0.0), &["moments"]);
}
