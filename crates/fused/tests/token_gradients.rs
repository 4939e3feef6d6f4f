//! Gradients by token embeddings beside the slopes of the definition.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

mod common;

use common::{
    Problem, Weights, any_architecture, drawn, forward_moved, plain_architecture, spread,
};
use headlight_fused::{IGNORED, Samples, TokenGradients};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// The gradient of a sum of logits, for all samples, beside differences of the definition, which holds the attention weights
/// or computes them anew.
fn gradients_are_slopes(problem: &Problem, holds_weights: bool) -> Result<(), TestCaseError> {
    let a = &problem.architecture;
    // With two features and fewer, a norm with a small epsilon is close to a sign.
    prop_assume!(a.d_model > 2 || a.norms.eps > 1e-4);
    let (exact, n_logits) = (problem.exact_weights(), a.answers() * a.n_logits());
    // Positions that do not count need not be computed.
    let slope = |i: usize| match problem.labels[i / a.n_logits()] {
        IGNORED => 0.0,
        _ => spread(5 * i) - 0.4,
    };
    let slopes: Vec<f32> = (0..problem.labels.len() * a.n_logits())
        .map(slope)
        .collect();
    let mut gradients = TokenGradients::new(a, &problem.weights).unwrap();
    let ours = gradients.of(problem.samples(), &problem.all(), &slopes, holds_weights);
    let each = a.positions * a.d_model;
    prop_assert_eq!(ours.len(), problem.all().len() * each);
    let samples = problem.tokens.chunks(a.positions).zip(ours.chunks(each));
    for ((tokens, ours), slopes) in samples.zip(slopes.chunks(n_logits)) {
        let mut recorded = Weights::Recorded(Vec::new());
        let (logits, _) = forward_moved(a, &exact, tokens, &[], &mut recorded);
        // Without norms, logits can be so large that differences of them are not exact.
        prop_assume!(logits.iter().all(|logit| logit.abs() < 30.0));
        let Weights::Recorded(weights) = recorded else {
            unreachable!()
        };
        let sum_at = |index: usize, offset: f64| -> f64 {
            let mut moved = vec![0.0; each];
            moved[index] = offset;
            let mut given = if holds_weights {
                Weights::Given(weights.clone().into_iter())
            } else {
                Weights::Recorded(Vec::new())
            };
            let (logits, _) = forward_moved(a, &exact, tokens, &moved, &mut given);
            let products = logits.iter().zip(slopes);
            products.map(|(z, &slope)| z * f64::from(slope)).sum()
        };
        let largest = ours.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
        for index in (0..each).step_by(each / 12 + 1) {
            let found = f64::from(ours[index]);
            // Within the longer step a rectifier may bend.
            let slopes = [1e-5, 1e-7]
                .map(|step| (sum_at(index, step) - sum_at(index, -step)) / (2.0 * step));
            let is_close = |slope: f64| {
                (found - slope).abs() < 2e-5 + 5e-4 * f64::from(largest).max(slope.abs())
            };
            prop_assert!(
                slopes.into_iter().any(is_close),
                "number {index}: {found} beside {slopes:?}, {largest}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn gradients_of_plain_architectures_are_slopes(
        problem in drawn(plain_architecture()),
        holds_weights in any::<bool>(),
    ) {
        gradients_are_slopes(&problem, holds_weights)?;
    }

    #[test]
    fn gradients_of_any_architecture_are_slopes(
        problem in drawn(any_architecture()),
        holds_weights in any::<bool>(),
    ) {
        gradients_are_slopes(&problem, holds_weights)?;
    }
}

/// Nineteen samples take three passes; the last has empty lanes.
#[test]
fn a_sample_has_the_same_bytes_alone_and_among_others() {
    let problem = common::problem(common::notebook(), 19);
    let mut gradients = TokenGradients::new(&problem.architecture, &problem.weights).unwrap();
    let samples = problem.samples();
    let all = gradients.of(samples, &problem.all(), &[1.0; 19], true);
    for sample in [0, 7, 8, 18] {
        let alone = gradients.of(samples, &[sample], &[1.0], true);
        let each = alone.len();
        let own = &all[sample as usize * each..][..each];
        assert!(
            alone
                .iter()
                .zip(own)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }
    let twice = gradients.of(samples, &[3], &[2.0], false);
    let once = gradients.of(samples, &[3], &[1.0], false);
    assert!(twice.iter().zip(&once).all(|(a, b)| *a == 2.0 * b));
    assert_ne!(once, gradients.of(samples, &[3], &[1.0], true));
}

#[test]
#[should_panic(expected = "each sample has 1 slopes")]
fn each_sample_has_its_slopes() {
    let problem = common::problem(common::notebook(), 2);
    let mut gradients = TokenGradients::new(&problem.architecture, &problem.weights).unwrap();
    let samples: Samples<'_> = problem.samples();
    gradients.of(samples, &[0, 1], &[1.0], true);
}
