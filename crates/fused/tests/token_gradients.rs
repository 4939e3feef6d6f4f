//! Gradients by token embeddings beside the slopes of the definition.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

mod common;

use common::{any_model, notebook, spread};
use headlight_fused::{IGNORED, Tracer};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// The gradient of a sum of logits, beside differences of the definition, which holds the attention weights or computes them
    /// anew.
    #[test]
    fn gradients_are_slopes(problem in any_model(), holds_weights in any::<bool>()) {
        let (architecture, inputs) = (problem.architecture(), problem.inputs);
        let n_logits = architecture.n_logits();
        // Positions that do not count need not be computed.
        let slope = |(i, &label): (usize, &u32)| {
            (0..n_logits).map(move |k| if label == IGNORED { 0.0 } else { spread(5 * (i * n_logits + k)) - 0.4 })
        };
        let slopes: Vec<f32> = problem.labels.iter().enumerate().flat_map(slope).collect();
        let (weights, samples) = (&problem.weights, problem.samples());
        let ours = Tracer::new(&architecture).token_gradients(weights, samples, &problem.all(), &slopes, holds_weights);
        let each = inputs.positions * problem.model.d_model;
        prop_assert_eq!(ours.len(), problem.all().len() * each);
        let samples = problem.rows().zip(ours.chunks(each));
        for ((tokens, ours), slopes) in samples.zip(slopes.chunks(architecture.answers() * n_logits)) {
            let mut definition = problem.definition();
            let values = definition.forward(tokens);
            // Without norms, logits can be so large that differences of them are not exact.
            prop_assume!(values.logits.iter().all(|logit| logit.abs() < 30.0));
            if holds_weights {
                let weights = values.blocks.iter().map(|block| &block["attention_weights"]);
                definition.held = weights.flatten().copied().collect();
            }
            let largest = ours.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
            for index in (0..each).step_by(each / 12 + 1) {
                let mut sum_at = |offset: f64| -> f64 {
                    definition.moved = vec![0.0; each];
                    definition.moved[index] = offset;
                    let logits = definition.forward(tokens).logits;
                    logits.iter().zip(slopes).map(|(z, &slope)| z * f64::from(slope)).sum()
                };
                let found = f64::from(ours[index]);
                // Within the longer step a rectifier may bend.
                let slopes = [1e-5, 1e-7].map(|step| (sum_at(step) - sum_at(-step)) / (2.0 * step));
                let bound = |slope: f64| 2e-5 + 5e-4 * f64::from(largest).max(slope.abs());
                let is_close = slopes.iter().any(|slope| (found - slope).abs() < bound(*slope));
                prop_assert!(is_close, "number {}: {} beside {:?}, {}", index, found, slopes, largest);
            }
        }
    }
}

/// Nineteen samples take three passes; the last has empty lanes.
#[test]
fn a_sample_has_the_same_bytes_alone_and_among_others() {
    let problem = notebook(19);
    let mut tracer = Tracer::new(&problem.architecture());
    let mut gradients = |chosen: &[u32], slopes: &[f32], holds_weights| {
        let (weights, samples) = (&problem.weights, problem.samples());
        tracer.token_gradients(weights, samples, chosen, slopes, holds_weights)
    };
    let all = gradients(&problem.all(), &[1.0; 19], true);
    for sample in [0, 7, 8, 18] {
        let alone = gradients(&[sample], &[1.0], true);
        let each = alone.len();
        let own = &all[sample as usize * each..][..each];
        assert!(
            alone
                .iter()
                .zip(own)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }
    let twice = gradients(&[3], &[2.0], false);
    let once = gradients(&[3], &[1.0], false);
    assert!(twice.iter().zip(&once).all(|(a, b)| *a == 2.0 * b));
    assert_ne!(once, gradients(&[3], &[1.0], true));
}

#[test]
#[should_panic(expected = "each sample has 1 slopes")]
fn each_sample_has_its_slopes() {
    let problem = notebook(2);
    let mut tracer = Tracer::new(&problem.architecture());
    tracer.token_gradients(&problem.weights, problem.samples(), &[0, 1], &[1.0], true);
}
