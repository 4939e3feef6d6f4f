//! Optimizers, clipping and losses beside their formulas in double precision.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

mod common;

use common::definition::Definition;
use common::{Problem, any_model, inputs, norm, problem};
use headlight_architecture::{Inputs, ModelConfig};
use headlight_fused::{
    Adam, AdamW, BatchPredictions, CrossEntropy, Optimizer, Sgd, TrainingSettings,
};
use proptest::prelude::*;

fn classes(n_classes: usize) -> Problem {
    let inputs = Inputs {
        n_classes,
        ..inputs(7, 4)
    };
    problem(ModelConfig::new(8, 2, 1), inputs, 13)
}

fn of(optimizer: Optimizer) -> TrainingSettings {
    TrainingSettings {
        optimizer,
        ..TrainingSettings::default()
    }
}

fn assert_moved(before: f32, after: f32, moved: f64) {
    let ours = f64::from(before) - f64::from(after);
    assert!(
        (ours - moved).abs() < 1e-3 * moved.abs() + 2e-7,
        "{ours} beside {moved}"
    );
}

/// What a step does to a parameter: from the step's number, the parameter, its gradient and square, and what is kept of it.
type Rule<'a> = &'a dyn Fn(i32, f64, [f64; 2], &mut [f64; 2]) -> f64;

/// Some steps beside a rule in double precision.
fn steps_are(problem: &Problem, optimizer: Optimizer, rule: Rule<'_>) {
    let mut model = problem.trained_by(of(optimizer));
    let mut kept = vec![[0.0; 2]; problem.weights.len()];
    for step in 1..=10 {
        let batch = &problem.all()[..3 + step as usize];
        let gradient = model.gradient(problem.samples(), batch);
        let before = model.state();
        let loss = model.step(problem.samples(), batch);
        let after = model.state();
        assert_eq!(loss.to_bits(), gradient.loss.to_bits());
        assert_eq!(after.steps, step);
        for (i, kept) in kept.iter_mut().enumerate() {
            let own = [gradient.values[i], gradient.squares[i]].map(f64::from);
            let moved = rule(step.cast_signed(), before.parameters[i].into(), own, kept);
            // Gradients this small are rounding.
            if own[0].abs() > 1e-6 {
                assert_moved(before.parameters[i], after.parameters[i], moved);
            }
            for (ours, exact) in [after.first[i], after.second[i]].into_iter().zip(*kept) {
                let apart = (f64::from(ours) - exact).abs();
                assert!(
                    apart <= 1e-4 * exact.abs() + 1e-7,
                    "step {step}, {i}: {ours} {exact}"
                );
            }
        }
    }
}

/// Adam in Keras's form, where epsilon is added to the root of the uncorrected second moment; and AdamW and SGD by the formulas
/// of the documentation of `torch.optim`.
#[test]
fn steps_are_those_of_keras_and_pytorch() {
    let adam = Adam {
        learning_rate: 3e-3,
        beta_1: 0.8,
        beta_2: 0.95,
        epsilon: 1e-3,
        per_occurrence: true,
    };
    let moments = |[g, square]: [f64; 2], kept: &mut [f64; 2]| {
        kept[0] = adam.beta_1 * kept[0] + (1.0 - adam.beta_1) * g;
        kept[1] = adam.beta_2 * kept[1] + (1.0 - adam.beta_2) * square;
    };
    let corrections = |step| (1.0 - adam.beta_1.powi(step), 1.0 - adam.beta_2.powi(step));
    for (n_layers, per_occurrence) in [(1, true), (1, false), (2, true), (2, false)] {
        let mut problem = classes(2);
        problem.model.n_layers = n_layers;
        let problem = common::problem(problem.model, problem.inputs, 13);
        let optimizer = Optimizer::Adam(Adam {
            per_occurrence,
            ..adam
        });
        steps_are(&problem, optimizer, &|step, _, gradient, kept| {
            moments(gradient, kept);
            let (first, second) = corrections(step);
            adam.learning_rate * second.sqrt() / first * kept[0] / (kept[1].sqrt() + adam.epsilon)
        });
    }
    for weight_decay in [0.0, 0.5] {
        let optimizer = Optimizer::AdamW(AdamW { adam, weight_decay });
        steps_are(&classes(3), optimizer, &|step, parameter, [g, _], kept| {
            moments([g, g * g], kept);
            let (first, second) = corrections(step);
            let moved = kept[0] / first / ((kept[1] / second).sqrt() + adam.epsilon);
            adam.learning_rate * (weight_decay * parameter + moved)
        });
    }
    for momentum in [0.0, 0.9] {
        let optimizer = Optimizer::Sgd(Sgd {
            learning_rate: 0.1,
            momentum,
        });
        steps_are(&classes(2), optimizer, &|_, _, [g, _], kept| {
            kept[0] = momentum * kept[0] + g;
            0.1 * kept[0]
        });
    }
}

/// `torch.nn.utils.clip_grad_norm_` scales all gradients by `max_norm / (norm + 1e-6)` if that is below 1.
#[test]
fn gradients_are_scaled_down_to_the_largest_norm() {
    let problem = classes(3);
    let sgd = Optimizer::Sgd(Sgd {
        learning_rate: 1.0,
        momentum: 0.0,
    });
    let plain = of(sgd);
    let gradient = problem
        .trained_by(plain)
        .gradient(problem.samples(), &problem.all());
    let whole = norm(&gradient.values);
    for (share, factor) in [(0.25, 0.25), (4.0, 1.0)] {
        let training = TrainingSettings {
            max_grad_norm: Some(share * whole),
            ..plain
        };
        let mut model = problem.trained_by(training);
        let gradient = model.gradient(problem.samples(), &problem.all());
        let before = model.parameters();
        model.step(problem.samples(), &problem.all());
        assert!((model.gradient_norm().unwrap() / whole - 1.0).abs() < 1e-6);
        for (i, after) in model.parameters().into_iter().enumerate() {
            assert_moved(before[i], after, factor * f64::from(gradient.values[i]));
        }
    }
    let mut silent = problem.trained_by(plain);
    silent.step(problem.samples(), &problem.all());
    assert_eq!(silent.gradient_norm(), None);
}

/// The mean loss with label smoothing, as the documentation of `torch.nn.CrossEntropyLoss` defines it.
fn smoothed(problem: &Problem, definition: &Definition<'_>, smoothing: f64) -> f64 {
    let losses = problem.rows().zip(&problem.labels).map(|(tokens, &label)| {
        let mut z = definition.forward(tokens).logits;
        if z.len() == 1 {
            z.insert(0, 0.0);
        }
        let most = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = most + z.iter().map(|z| (z - most).exp()).sum::<f64>().ln();
        let even = z.iter().map(|z| sum - z).sum::<f64>() / z.len() as f64;
        (1.0 - smoothing) * (sum - z[label as usize]) + smoothing * even
    });
    losses.sum::<f64>() / problem.labels.len() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn losses_and_their_slopes_are_the_definition(
        problem in any_model(), is_accurate in any::<bool>(),
        smoothing in prop_oneof![Just(0.0_f32), Just(0.1), Just(0.5)],
    ) {
        let inputs = problem.inputs;
        prop_assume!(problem.model.classifier_bias && !inputs.per_position);
        let mut definition = problem.definition();
        let logits: Vec<f64> = problem.rows().flat_map(|tokens| definition.forward(tokens).logits).collect();
        // A loss, which is a difference of logits, is not exact where they are large.
        prop_assume!(logits.iter().all(|logit| logit.abs() < 30.0));
        let cross_entropy = CrossEntropy {
            is_accurate,
            smoothing,
            ..CrossEntropy::default()
        };
        let training = TrainingSettings { cross_entropy, ..TrainingSettings::default() };
        let gradient = problem.trained_by(training).gradient(problem.samples(), &problem.all());
        let here = smoothed(&problem, &definition, f64::from(smoothing));
        prop_assert!((f64::from(gradient.loss) - here).abs() < 1e-4 * (1.0 + here), "{} {here}", gradient.loss);
        let count = gradient.values.len();
        // The classifier's biases are last: their slopes are those of the logits.
        for index in count - problem.architecture().n_logits()..count {
            let mut at = |offset: f64| {
                definition.parameters[index] += offset;
                let loss = smoothed(&problem, &definition, f64::from(smoothing));
                definition.parameters[index] -= offset;
                loss
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            let ours = f64::from(gradient.values[index]);
            prop_assert!((ours - slope).abs() < 1e-5 + 1e-4 * slope.abs(), "{ours} {slope}");
        }
    }
}

/// Where the model is sure, the plain form has neither a loss nor a gradient; the accurate form has both.
#[test]
fn a_sure_model_still_has_a_small_loss_and_gradient() {
    for n_classes in [2, 3] {
        let mut problem = classes(n_classes);
        problem.labels.fill(1);
        // A bias of 30 makes every sample class 1.
        let logits = problem.architecture().n_logits();
        let bias = problem.weights.len() - logits + usize::from(n_classes > 2);
        problem.weights[bias] = 30.0;
        let exact = rest_of_probability(&problem);
        for is_accurate in [false, true] {
            let cross_entropy = CrossEntropy {
                is_accurate,
                ..CrossEntropy::default()
            };
            let mut model = problem.trained_by(TrainingSettings {
                cross_entropy,
                ..TrainingSettings::default()
            });
            let gradient = model.gradient(problem.samples(), &problem.all());
            let slope = f64::from(gradient.values[bias]);
            if is_accurate {
                assert!((-slope / exact - 1.0).abs() < 1e-3, "{slope} {exact}");
                let mut predictions = BatchPredictions::default();
                model.predict(problem.samples(), &problem.all(), &mut predictions);
                let sum: f64 = predictions.losses.iter().map(|&loss| f64::from(loss)).sum();
                let mean = sum / problem.labels.len() as f64;
                assert!((mean / exact - 1.0).abs() < 1e-3, "{mean} {exact}");
            } else {
                assert_eq!(slope, 0.0);
            }
        }
    }
}

/// The mean probability of the classes other than 1. It is the mean loss, too, to twelve digits.
fn rest_of_probability(problem: &Problem) -> f64 {
    let definition = problem.definition();
    let others = problem.rows().map(|tokens| {
        let z = definition.forward(tokens).logits;
        match z[..] {
            [z] => (-z).exp(),
            _ => (z[0] - z[1]).exp() + (z[2] - z[1]).exp(),
        }
    });
    others.sum::<f64>() / problem.labels.len() as f64
}
