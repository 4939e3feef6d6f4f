//! Steps of Adam beside the published formulas in double precision.
#![allow(clippy::unwrap_used)]

use headlight_fused::{Adam, Architecture, Model, Samples};

/// Keras's form: epsilon is added to the root of the uncorrected second moment.
#[test]
fn steps_are_those_of_keras() {
    let sizes = Architecture {
        vocab_size: 5,
        positions: 3,
        d_model: 8,
        n_heads: 2,
        ..Architecture::default()
    };
    for (n_layers, per_occurrence) in [(1, true), (1, false), (2, true), (2, false)] {
        let architecture = Architecture {
            n_layers,
            ..sizes.clone()
        };
        let adam = Adam {
            learning_rate: 3e-3,
            beta_1: 0.8,
            beta_2: 0.95,
            epsilon: 1e-3,
            per_occurrence,
        };
        let weights: Vec<f32> = (0..architecture.parameter_count())
            .map(|i| (i as f32 * 0.7).sin() / 2.0)
            .collect();
        let samples = Samples {
            tokens: &[0, 1, 1, 0, 2, 1, 0, 3, 3, 0, 4, 2],
            labels: &[1, 0, 0, 1],
        };
        let mut model = Model::new(architecture, adam, &weights).unwrap();
        let mut first = vec![0.0; weights.len()];
        let mut second = vec![0.0; weights.len()];
        for step in 1..=6 {
            let batch = &[0, 1, 2, 3][..2 + step as usize % 3];
            let gradient = model.gradient(samples, batch);
            let before = model.state();
            let loss = model.step(samples, batch);
            assert_eq!(loss.to_bits(), gradient.loss.to_bits());
            let after = model.state();
            assert_eq!(after.steps, step);
            let rate = adam.learning_rate * (1.0 - adam.beta_2.powi(step.cast_signed())).sqrt()
                / (1.0 - adam.beta_1.powi(step.cast_signed()));
            for i in 0..weights.len() {
                let (g, square) = (
                    f64::from(gradient.values[i]),
                    f64::from(gradient.squares[i]),
                );
                first[i] = adam.beta_1 * first[i] + (1.0 - adam.beta_1) * g;
                second[i] = adam.beta_2 * second[i] + (1.0 - adam.beta_2) * square;
                let root: f64 = f64::sqrt(second[i]);
                let moved = rate * first[i] / (root + adam.epsilon);
                let ours = f64::from(before.parameters[i]) - f64::from(after.parameters[i]);
                assert!(
                    (ours - moved).abs() < 1e-3 * moved.abs() + 1e-7,
                    "step {step}, parameter {i}: {ours} beside {moved}"
                );
                let close = |ours: f32, exact: f64| {
                    (f64::from(ours) - exact).abs() <= 1e-4 * exact.abs() + 1e-12
                };
                assert!(close(after.first[i], first[i]), "step {step}, {i}");
                assert!(close(after.second[i], second[i]), "step {step}, {i}");
            }
        }
    }
}
