//! Values and gradients beside the definition of the model, written out in double precision with keys,
//! values and all attention rows, and differentiated numerically.
#![allow(clippy::unwrap_used)]

mod common;

use common::{
    Problem, adam, any_architecture, drawn, forward, loss, losses, one_block, plain_architecture,
    problem, spread,
};
use headlight_fused::{
    Adam, Architecture, CrossEntropy, IGNORED, Model, Optimizer, Predictions, Reads, Training,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

fn model(problem: &Problem) -> Model {
    Model::new(problem.architecture.clone(), adam(), &problem.weights).unwrap()
}

/// With two features and fewer, a norm with a small epsilon is close to a sign, and amplifies rounding.
fn is_steep(architecture: &Architecture) -> bool {
    architecture.d_model < 3 && architecture.norms.eps < 1e-4
}

/// The weights as float32 might round them: each moved by half a unit in its last place or less.
fn rounded(exact: &[f64]) -> Vec<f64> {
    let moved = exact.iter().enumerate();
    moved
        .map(|(i, weight)| {
            weight * (1.0 + f64::from(spread(3 * i) - 0.5) * f64::from(f32::EPSILON))
        })
        .collect()
}

/// Whether rounding the weights alone moves logits and attention of the definition by a good part of the bounds of
/// [`predictions_are_the_definition`], or logits are so large that a loss, which is a difference of them, is not exact. Without
/// norms, much may follow from little.
fn amplifies_rounding(problem: &Problem) -> bool {
    let a = &problem.architecture;
    let exact = problem.exact_weights();
    let moved = rounded(&exact);
    problem.tokens.chunks(a.positions).any(|tokens| {
        let (here, there) = (forward(a, &exact, tokens), forward(a, &moved, tokens));
        let apart = |ours: &[f64], others: &[f64], bound: f64| {
            let mut pairs = ours.iter().zip(others);
            pairs.any(|(x, y)| (x - y).abs() > bound * (1.0 + x.abs()))
        };
        let is_large = here.0.iter().any(|logit| logit.abs() > 30.0);
        is_large || apart(&here.0, &there.0, 3e-6) || apart(&here.1, &there.1, 3e-7)
    })
}

fn predictions_are_the_definition(problem: &Problem) -> Result<(), TestCaseError> {
    let a = &problem.architecture;
    let exact = problem.exact_weights();
    let mut predictions = Predictions::default();
    model(problem).predict(problem.samples(), &problem.all(), &mut predictions);
    let (mut logits, mut probabilities) =
        (predictions.logits.iter(), predictions.probabilities.iter());
    let mut attention = predictions.attention.iter();
    for (sample, tokens) in problem.tokens.chunks(a.positions).enumerate() {
        let (exact_logits, exact_attention) = forward(a, &exact, tokens);
        let bound = if is_steep(a) { 1e-2 } else { 1e-4 };
        let close =
            |ours: f64, exact: f64, bound: f64| (ours - exact).abs() < bound * (1.0 + exact.abs());
        let ours: Vec<f64> = logits
            .by_ref()
            .take(exact_logits.len())
            .map(|&z| f64::from(z))
            .collect();
        let answers = a.answers();
        let labels = &problem.labels[sample * answers..][..answers];
        let queries = exact_attention.chunks(a.positions);
        for (row, exact) in queries.enumerate() {
            let counts = labels[row % answers] != IGNORED;
            for &exact in exact {
                let ours = f64::from(*attention.next().unwrap());
                prop_assert!(!counts || close(ours, exact, 1e-5));
            }
        }
        let rows = ours.chunks(a.n_logits());
        let rows = rows.zip(exact_logits.chunks(a.n_logits()));
        for (answer, (ours, exact)) in rows.enumerate() {
            let label = labels[answer];
            let counts = label != IGNORED;
            for (&ours, &exact) in ours.iter().zip(exact) {
                prop_assert!(
                    !counts || close(ours, exact, bound),
                    "logit {ours}, not {exact}"
                );
            }
            let exponentials: Vec<f64> = match *ours {
                [z] => vec![1.0, z.exp()],
                _ => ours.iter().map(|z| z.exp()).collect(),
            };
            let sum: f64 = exponentials.iter().sum();
            let shares = exponentials
                .iter()
                .map(|e| e / sum)
                .skip(usize::from(ours.len() == 1));
            for share in shares {
                let probability = f64::from(*probabilities.next().unwrap());
                prop_assert!(!counts || close(probability, share, 1e-6));
            }
            let expected = if counts {
                -(exponentials[label as usize] / sum).ln()
            } else {
                0.0
            };
            let loss = f64::from(predictions.losses[sample * answers + answer]);
            prop_assert!(close(loss, expected, 1e-5));
        }
    }
    prop_assert!(
        logits.next().is_none() && probabilities.next().is_none() && attention.next().is_none()
    );
    Ok(())
}

/// If `bends`, the slope may be that of the rounded weights.
fn gradient_is_the_slope(problem: &Problem, bends: bool) -> Result<(), TestCaseError> {
    prop_assume!(!is_steep(&problem.architecture));
    let exact = problem.exact_weights();
    let gradient = model(problem).gradient(problem.samples(), &problem.all());
    let here = loss(problem, &exact);
    prop_assert!((f64::from(gradient.loss) - here).abs() < 1e-4 * (1.0 + here));
    let largest = gradient
        .values
        .iter()
        .fold(0.0_f32, |most, g| most.max(g.abs()));
    // A spread of parameters from all of the model, its last ones among them.
    let count = exact.len();
    for index in (0..count)
        .step_by(count / 40 + 1)
        .chain(count.saturating_sub(5)..count)
    {
        let slope_at = |weights: &[f64], step: f64| {
            let mut moved = weights.to_vec();
            let mut at = |offset: f64| {
                moved[index] = weights[index] + offset;
                loss(problem, &moved)
            };
            (at(step) - at(-step)) / (2.0 * step)
        };
        let ours = f64::from(gradient.values[index]);
        let is_slope =
            |slope: f64| (ours - slope).abs() < 1e-5 + 2e-4 * f64::from(largest).max(slope.abs());
        // Within the longer step a rectifier may bend; so it may between the weights and their rounding.
        let slopes = |weights: &[f64]| [1e-5, 1e-7].map(|step| slope_at(weights, step));
        let own = slopes(&exact);
        prop_assert!(
            own.into_iter().any(is_slope)
                || bends && slopes(&rounded(&exact)).into_iter().any(is_slope),
            "parameter {index}: {ours} beside {own:?}, {largest}"
        );
    }
    Ok(())
}

/// The norm that a step measures, and shortens the gradient by, is that of the parameters' gradient alone.
fn the_norm_is_that_of_the_gradient(problem: &Problem) -> Result<(), TestCaseError> {
    let training = Training {
        measures_norm: true,
        ..adam().into()
    };
    let mut model = Model::new(problem.architecture.clone(), training, &problem.weights).unwrap();
    for step in 0..3 {
        let gradient = model.gradient(problem.samples(), &problem.all());
        model.step(problem.samples(), &problem.all());
        let squares = gradient.values.iter().map(|&g| f64::from(g).powi(2));
        let (ours, norm) = (model.gradient_norm().unwrap(), squares.sum::<f64>().sqrt());
        prop_assert!(
            (ours - norm).abs() <= 1e-6 * norm,
            "step {step}: {ours}, not {norm}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn one_block_predicts_the_definition(problem in drawn(one_block())) {
        predictions_are_the_definition(&problem)?;
    }

    #[test]
    fn the_gradient_of_one_block_is_the_slope(problem in drawn(one_block())) {
        gradient_is_the_slope(&problem, false)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn plain_architectures_predict_the_definition(problem in drawn(plain_architecture())) {
        predictions_are_the_definition(&problem)?;
    }

    #[test]
    fn any_architecture_predicts_the_definition(problem in drawn(any_architecture())) {
        prop_assume!(!amplifies_rounding(&problem));
        predictions_are_the_definition(&problem)?;
    }

    #[test]
    fn the_gradient_of_plain_architectures_is_the_slope(problem in drawn(plain_architecture())) {
        gradient_is_the_slope(&problem, false)?;
    }

    #[test]
    fn the_gradient_of_any_architecture_is_the_slope(problem in drawn(any_architecture())) {
        prop_assume!(!amplifies_rounding(&problem));
        gradient_is_the_slope(&problem, true)?;
    }

    #[test]
    fn the_norm_of_any_architecture_is_that_of_its_gradient(problem in drawn(any_architecture())) {
        the_norm_is_that_of_the_gradient(&problem)?;
    }
}

/// With `per_sample`, samples count alike, whatever the number of their answers; those without any do not count.
#[test]
fn samples_can_count_alike() {
    for n_classes in [2, 4] {
        let problem = problem(
            Architecture {
                vocab_size: 6,
                positions: 5,
                d_model: 8,
                n_classes,
                padding_token: Some(1),
                reads: Reads::Every,
                ..Architecture::default()
            },
            11,
        );
        let mut problem = Problem { ..problem };
        problem.labels[..5].fill(IGNORED);
        let apart = losses(&problem, &problem.exact_weights());
        let means = apart.iter().filter(|own| !own.is_empty());
        let means: Vec<f64> = means
            .map(|own| own.iter().sum::<f64>() / own.len() as f64)
            .collect();
        let expected = means.iter().sum::<f64>() / means.len() as f64;
        let training = Training {
            optimizer: Optimizer::Adam(adam()),
            cross_entropy: CrossEntropy {
                per_sample: true,
                ..CrossEntropy::default()
            },
            ..Training::default()
        };
        let of = |training: Training, batch: &[u32]| {
            let model = Model::new(problem.architecture.clone(), training, &problem.weights);
            model.unwrap().gradient(problem.samples(), batch)
        };
        let all = of(training, &problem.all());
        assert!((f64::from(all.loss) - expected).abs() < 1e-5);
        // The gradient is the mean of those of the samples that count.
        let counted = (0..11_u32).filter(|&sample| !apart[sample as usize].is_empty());
        let single: Vec<Vec<f32>> = counted
            .map(|sample| of(training, &[sample]).values)
            .collect();
        for (i, ours) in all.values.iter().enumerate() {
            let mean = single.iter().map(|own| f64::from(own[i])).sum::<f64>() / means.len() as f64;
            assert!((f64::from(*ours) - mean).abs() < 1e-6, "{ours} {mean}");
        }
        assert!(apart[0].is_empty() && of(training, &[0]).loss == 0.0);
        assert!(of(training, &[0]).values.iter().all(|&value| value == 0.0));
    }
}

#[test]
fn squares_are_of_occurrences_or_of_sums() {
    let sizes = Architecture {
        vocab_size: 4,
        positions: 3,
        d_model: 8,
        ..Architecture::default()
    };
    let two_blocks = Architecture {
        n_layers: 2,
        d_ff: 5,
        ..sizes.clone()
    };
    for architecture in [sizes, two_blocks] {
        let mut problem = problem(architecture.clone(), 3);
        problem.tokens = vec![0, 1, 1, 0, 2, 1, 0, 3, 3];
        problem.labels = vec![1, 0, 0];
        let of = |per_occurrence, batch: &[u32]| {
            let adam = Adam {
                per_occurrence,
                ..Adam::default()
            };
            let model = Model::new(architecture.clone(), adam, &problem.weights);
            model.unwrap().gradient(problem.samples(), batch)
        };
        // Token by token: the gradient squared.
        let summed = of(false, &[0, 1, 2]);
        for (value, square) in summed.values.iter().zip(&summed.squares) {
            assert!((value * value - square).abs() <= f32::EPSILON * square);
        }
        // One by one: [CLS] stands once in each sample, so its squares are those of three batches of one
        // sample, each with a third of the loss.
        let apart = of(true, &[0, 1, 2]);
        assert_eq!(summed.values, apart.values);
        for i in 0..8 {
            let single: f32 = (0..3).map(|s| of(false, &[s]).squares[i] / 9.0).sum();
            assert!(
                (apart.squares[i] - single).abs() < 1e-5 * single,
                "{} {single}",
                apart.squares[i]
            );
        }
        assert_eq!(
            summed.squares[4 * 8..],
            apart.squares[4 * 8..],
            "only tokens differ"
        );
    }
}
