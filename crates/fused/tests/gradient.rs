//! Predictions and gradients beside the definition of the model in double precision, differentiated numerically.
#![allow(clippy::unwrap_used)]

mod common;

use common::definition::Definition;
use common::{Problem, adam, any_model, any_notebook, inputs, norm, problem, spread};
use headlight_architecture::{Inputs, ModelConfig};
use headlight_fused::{Adam, CrossEntropy, IGNORED, Optimizer, TrainingSettings};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// The definition with weights as float32 might round them: each moved by half a unit in its last place or less.
fn rounded(problem: &Problem) -> Definition<'_> {
    let mut definition = problem.definition();
    for (i, weight) in definition.parameters.iter_mut().enumerate() {
        *weight *= 1.0 + f64::from(spread(3 * i) - 0.5) * f64::from(f32::EPSILON);
    }
    definition
}

/// Whether rounding the weights alone moves logits and attention of the definition by a good part of the bounds of
/// [`predictions_are_the_definition`], or logits are so large that a loss, which is a difference of them, is not exact. Without
/// norms, much may follow from little.
fn amplifies_rounding(problem: &Problem) -> bool {
    let (exact, moved) = (problem.definition(), rounded(problem));
    problem.rows().any(|tokens| {
        let (here, there) = (exact.forward(tokens), moved.forward(tokens));
        let apart = |ours: &[f64], others: &[f64], bound: f64| {
            let mut pairs = ours.iter().zip(others);
            pairs.any(|(x, y)| (x - y).abs() > bound * (1.0 + x.abs()))
        };
        let [here_weights, there_weights] =
            [&here, &there].map(|values| problem.attention(tokens, values));
        here.logits.iter().any(|logit| logit.abs() > 30.0)
            || apart(&here.logits, &there.logits, 3e-6)
            || apart(&here_weights, &there_weights, 3e-7)
    })
}

fn close(ours: f32, exact: f64, bound: f64) -> bool {
    (f64::from(ours) - exact).abs() < bound * (1.0 + exact.abs())
}

/// Logits, probabilities, losses and attention of all answers that count.
fn predictions_are_the_definition(problem: &Problem) -> Result<(), TestCaseError> {
    let (found, definition) = (problem.predictions(), problem.definition());
    let (architecture, p) = (problem.architecture(), problem.inputs.positions);
    let (answers, n_logits) = (architecture.answers(), architecture.n_logits());
    let mut attention = found.attention.chunks(p);
    let mut rows = found
        .logits
        .chunks(n_logits)
        .zip(found.probabilities.chunks(n_logits));
    let mut losses = found.losses.iter();
    for (tokens, labels) in problem.rows().zip(problem.labels.chunks(answers)) {
        let exact = definition.forward(tokens);
        for (row, exact) in problem.attention(tokens, &exact).chunks(p).enumerate() {
            let ours = attention.next().unwrap();
            let counts = labels[row % answers] != IGNORED;
            let mut pairs = ours.iter().zip(exact);
            prop_assert!(!counts || pairs.all(|(ours, &exact)| close(*ours, exact, 1e-5)));
        }
        for (exact, &label) in exact.logits.chunks(n_logits).zip(labels) {
            let ((logits, probabilities), &loss) = (rows.next().unwrap(), losses.next().unwrap());
            if label == IGNORED {
                continue;
            }
            for (&ours, &exact) in logits.iter().zip(exact) {
                prop_assert!(close(ours, exact, 1e-4), "logit {ours}, not {exact}");
            }
            // Of the engine's own logits.
            let mut shares: Vec<f64> = logits.iter().map(|&z| f64::from(z).exp()).collect();
            if n_logits == 1 {
                shares.insert(0, 1.0);
            }
            let sum: f64 = shares.iter().sum();
            prop_assert!(close(loss, -(shares[label as usize] / sum).ln(), 1e-5));
            let of_classes = shares.iter().skip(usize::from(n_logits == 1));
            for (&ours, share) in probabilities.iter().zip(of_classes) {
                prop_assert!(close(ours, share / sum, 1e-6));
            }
        }
    }
    prop_assert!(rows.next().is_none() && attention.next().is_none() && losses.next().is_none());
    Ok(())
}

/// Of some parameters from all of the model, its last ones among them. The slope may be that of the rounded weights.
fn gradient_is_the_slope(problem: &Problem) -> Result<(), TestCaseError> {
    let (mut exact, mut rounded) = (problem.definition(), rounded(problem));
    let gradient = problem
        .trained_by(adam())
        .gradient(problem.samples(), &problem.all());
    prop_assert!(close(gradient.loss, problem.loss(&exact), 1e-4));
    let largest = gradient
        .values
        .iter()
        .fold(0.0_f32, |most, g| most.max(g.abs()));
    let count = gradient.values.len();
    let spread = (0..count).step_by(count / 25 + 1);
    for index in spread.chain(count.saturating_sub(5)..count) {
        let ours = f64::from(gradient.values[index]);
        // Within the longer step a rectifier may bend; so it may between the weights and their rounding.
        let is_slope = |definition: &mut Definition<'_>, step: f64| {
            let weight = definition.parameters[index];
            let [above, below] = [step, -step].map(|offset| {
                definition.parameters[index] = weight + offset;
                problem.loss(definition)
            });
            definition.parameters[index] = weight;
            let slope = (above - below) / (2.0 * step);
            (ours - slope).abs() < 1e-5 + 2e-4 * f64::from(largest).max(slope.abs())
        };
        let is_close = [1e-5, 1e-7]
            .into_iter()
            .any(|step| is_slope(&mut exact, step))
            || [1e-5, 1e-7]
                .into_iter()
                .any(|step| is_slope(&mut rounded, step));
        prop_assert!(is_close, "parameter {index}: {ours}, {largest}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_notebooks_engine_is_the_definition(problem in any_notebook()) {
        predictions_are_the_definition(&problem)?;
        gradient_is_the_slope(&problem)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_model_is_the_definition(problem in any_model()) {
        prop_assume!(!amplifies_rounding(&problem));
        predictions_are_the_definition(&problem)?;
        gradient_is_the_slope(&problem)?;
    }

    /// The norm that a step measures, and shortens the gradient by, is that of the parameters' gradient alone.
    #[test]
    fn the_norm_is_that_of_the_gradient(problem in any_model()) {
        let training = TrainingSettings { measures_norm: true, ..adam().into() };
        let mut model = problem.trained_by(training);
        for step in 0..3 {
            let exact = norm(&model.gradient(problem.samples(), &problem.all()).values);
            model.step(problem.samples(), &problem.all());
            let ours = model.gradient_norm().unwrap();
            prop_assert!((ours - exact).abs() <= 1e-6 * exact, "step {step}: {ours}, not {exact}");
        }
    }
}

/// With `per_sample`, samples count alike, whatever the number of their answers; those without any do not count.
#[test]
fn samples_can_count_alike() {
    for n_classes in [2, 4] {
        let mut model = ModelConfig::new(8, 1, 1);
        model.attention.padding_token = Some(1);
        let inputs = Inputs {
            n_classes,
            per_position: true,
            ..inputs(6, 5)
        };
        let mut problem = problem(model, inputs, 11);
        problem.labels[..5].fill(IGNORED);
        let apart = problem.losses(&problem.definition());
        let means = apart.iter().filter(|own| !own.is_empty());
        let means: Vec<f64> = means
            .map(|own| own.iter().sum::<f64>() / own.len() as f64)
            .collect();
        let expected = means.iter().sum::<f64>() / means.len() as f64;
        let training = TrainingSettings {
            optimizer: Optimizer::Adam(adam()),
            cross_entropy: CrossEntropy {
                per_sample: true,
                ..CrossEntropy::default()
            },
            ..TrainingSettings::default()
        };
        let of = |training: TrainingSettings, batch: &[u32]| {
            let mut model = problem.trained_by(training);
            model.gradient(problem.samples(), batch)
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
    let two_blocks = ModelConfig {
        d_ff: 5,
        ..ModelConfig::new(8, 1, 2)
    };
    for model in [ModelConfig::new(8, 1, 1), two_blocks] {
        let mut problem = problem(model, inputs(4, 3), 3);
        problem.tokens = vec![0, 1, 1, 0, 2, 1, 0, 3, 3];
        problem.labels = vec![1, 0, 0];
        let of = |per_occurrence, batch: &[u32]| {
            let adam = Adam {
                per_occurrence,
                ..Adam::default()
            };
            problem.trained_by(adam).gradient(problem.samples(), batch)
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
