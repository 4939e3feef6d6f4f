//! Optimizers, clipping and losses beside their formulas in double precision.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

mod common;

use common::{Problem, forward, plain_architecture, problem};
use headlight_fused::{
    Adam, AdamW, Architecture, CrossEntropy, Gradient, Model, Optimizer, Predictions, Sgd, State,
    Training,
};
use proptest::prelude::*;

fn classes(n_classes: usize) -> Problem {
    let sizes = Architecture {
        vocab_size: 7,
        positions: 4,
        d_model: 8,
        n_heads: 2,
        n_classes,
        ..Architecture::default()
    };
    problem(sizes, 12)
}

fn model(problem: &Problem, training: Training) -> Model {
    Model::new(problem.architecture.clone(), training, &problem.weights).unwrap()
}

/// Ten steps on all samples, each with the gradient before it and the states around it.
fn steps(
    problem: &Problem,
    training: Training,
    mut each: impl FnMut(i32, &Gradient, &State, &State),
) {
    let mut model = model(problem, training);
    for step in 1..=10 {
        let gradient = model.gradient(problem.samples(), &problem.all());
        let before = model.state();
        let loss = model.step(problem.samples(), &problem.all());
        assert_eq!(loss.to_bits(), gradient.loss.to_bits());
        each(step, &gradient, &before, &model.state());
    }
}

fn assert_moved(before: f32, after: f32, moved: f64) {
    let ours = f64::from(before) - f64::from(after);
    assert!(
        (ours - moved).abs() < 1e-3 * moved.abs() + 2e-7,
        "{ours} beside {moved}"
    );
}

/// The formulas of the documentation of `torch.optim.AdamW`.
#[test]
fn steps_of_adamw_are_those_of_pytorch() {
    for weight_decay in [0.0, 0.5] {
        let adam = Adam {
            learning_rate: 3e-3,
            beta_1: 0.8,
            beta_2: 0.95,
            epsilon: 1e-8,
            per_occurrence: true, // It has no effect.
        };
        let optimizer = Optimizer::AdamW(AdamW { adam, weight_decay });
        let training = Training {
            optimizer,
            ..Training::default()
        };
        let problem = classes(3);
        let (mut first, mut second) = (
            vec![0.0; problem.weights.len()],
            vec![0.0; problem.weights.len()],
        );
        steps(&problem, training, |step, gradient, before, after| {
            for i in 0..first.len() {
                let g = f64::from(gradient.values[i]);
                first[i] = adam.beta_1 * first[i] + (1.0 - adam.beta_1) * g;
                second[i] = adam.beta_2 * second[i] + (1.0 - adam.beta_2) * g * g;
                let mean = first[i] / (1.0 - adam.beta_1.powi(step));
                let root = f64::sqrt(second[i] / (1.0 - adam.beta_2.powi(step)));
                // Gradients this small are rounding.
                if g.abs() > 1e-6 {
                    let decay = adam.learning_rate * weight_decay * f64::from(before.parameters[i]);
                    let moved = decay + adam.learning_rate * mean / (root + adam.epsilon);
                    assert_moved(before.parameters[i], after.parameters[i], moved);
                }
            }
        });
    }
}

/// The formulas of the documentation of `torch.optim.SGD`.
#[test]
fn steps_of_sgd_are_those_of_pytorch() {
    for momentum in [0.0, 0.9] {
        let optimizer = Optimizer::Sgd(Sgd {
            learning_rate: 0.1,
            momentum,
        });
        let training = Training {
            optimizer,
            ..Training::default()
        };
        let problem = classes(2);
        let mut direction = vec![0.0; problem.weights.len()];
        steps(&problem, training, |_, gradient, before, after| {
            for i in 0..direction.len() {
                direction[i] = momentum * direction[i] + f64::from(gradient.values[i]);
                assert_moved(
                    before.parameters[i],
                    after.parameters[i],
                    0.1 * direction[i],
                );
            }
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
    let norm_of = |gradient: &Gradient| {
        let squares = gradient.values.iter().map(|&g| f64::from(g).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let plain = Training {
        optimizer: sgd,
        ..Training::default()
    };
    let whole = norm_of(&model(&problem, plain).gradient(problem.samples(), &problem.all()));
    for (share, factor) in [(0.25, 0.25), (4.0, 1.0)] {
        let training = Training {
            max_grad_norm: Some(share * whole),
            ..plain
        };
        let mut model = model(&problem, training);
        let gradient = model.gradient(problem.samples(), &problem.all());
        let before = model.parameters();
        model.step(problem.samples(), &problem.all());
        assert!((model.gradient_norm().unwrap() / whole - 1.0).abs() < 1e-6);
        for (i, after) in model.parameters().into_iter().enumerate() {
            assert_moved(before[i], after, factor * f64::from(gradient.values[i]));
        }
    }
    let mut silent = model(&problem, plain);
    silent.step(problem.samples(), &problem.all());
    assert_eq!(silent.gradient_norm(), None);
}

/// The mean loss with label smoothing, as the documentation of `torch.nn.CrossEntropyLoss` defines it.
fn smoothed(problem: &Problem, parameters: &[f64], smoothing: f64) -> f64 {
    let a = &problem.architecture;
    let samples = problem.tokens.chunks(a.positions).zip(&problem.labels);
    let losses = samples.map(|(tokens, &label)| {
        let mut z = forward(a, parameters, tokens).0;
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
        architecture in plain_architecture(), is_accurate in any::<bool>(),
        smoothing in prop_oneof![Just(0.0_f32), Just(0.1), Just(0.5)],
    ) {
        prop_assume!(architecture.d_model > 2);
        let problem = problem(architecture, 9);
        let cross_entropy = CrossEntropy {
            is_accurate,
            smoothing,
            ..CrossEntropy::default()
        };
        let training = Training { cross_entropy, ..Training::default() };
        let gradient = model(&problem, training).gradient(problem.samples(), &problem.all());
        let exact = problem.exact_weights();
        let here = smoothed(&problem, &exact, f64::from(smoothing));
        prop_assert!((f64::from(gradient.loss) - here).abs() < 1e-4 * (1.0 + here), "{} {here}", gradient.loss);
        let count = exact.len();
        // The classifier's biases are last: their slopes are those of the logits.
        for index in count - problem.architecture.n_logits()..count {
            let at = |offset: f64| {
                let mut moved = exact.clone();
                moved[index] += offset;
                smoothed(&problem, &moved, f64::from(smoothing))
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
        let logits = problem.architecture.n_logits();
        let bias = problem.weights.len() - logits + usize::from(n_classes > 2);
        problem.weights[bias] = 30.0;
        let exact = rest_of_probability(&problem);
        for is_accurate in [false, true] {
            let cross_entropy = CrossEntropy {
                is_accurate,
                ..CrossEntropy::default()
            };
            let mut model = model(
                &problem,
                Training {
                    cross_entropy,
                    ..Training::default()
                },
            );
            let gradient = model.gradient(problem.samples(), &problem.all());
            let slope = f64::from(gradient.values[bias]);
            if is_accurate {
                assert!((-slope / exact - 1.0).abs() < 1e-3, "{slope} {exact}");
                let mut predictions = Predictions::default();
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
    let exact = problem.exact_weights();
    let a = &problem.architecture;
    let others = problem.tokens.chunks(a.positions).map(|tokens| {
        let z = forward(a, &exact, tokens).0;
        match z[..] {
            [z] => (-z).exp(),
            _ => (z[0] - z[1]).exp() + (z[2] - z[1]).exp(),
        }
    });
    others.sum::<f64>() / problem.labels.len() as f64
}
