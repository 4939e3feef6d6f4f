//! The same bytes, whatever computes them.
#![allow(clippy::unwrap_used)]

use headlight_fused::{Adam, Instructions, Model, Predictions, Samples, Shape};
use proptest::prelude::*;

fn adam() -> Adam {
    Adam {
        learning_rate: 1e-2,
        ..Adam::default()
    }
}

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

struct Problem {
    shape: Shape,
    weights: Vec<f32>,
    tokens: Vec<u32>,
    labels: Vec<bool>,
}

fn problem(shape: Shape, samples: usize) -> Problem {
    let weights = (0..shape.parameter_count())
        .map(|i| spread(i) - 0.5)
        .collect();
    let token = |i: usize| match i % shape.positions {
        0 => 0,
        _ => 1 + (spread(7 * i) * (shape.vocab_size - 1) as f32) as u32,
    };
    let tokens = (0..samples * shape.positions).map(token).collect();
    let labels = (0..samples).map(|i| spread(3 * i) < 0.3).collect();
    Problem {
        shape,
        weights,
        tokens,
        labels,
    }
}

impl Problem {
    fn model(&self) -> Model {
        Model::new(self.shape, 1e-6, adam(), &self.weights).unwrap()
    }

    fn samples(&self) -> Samples<'_> {
        Samples {
            tokens: &self.tokens,
            labels: &self.labels,
        }
    }

    /// The bits of all parameters after an epoch.
    fn trained(&self, mut model: Model, batch_size: usize) -> Vec<u32> {
        let order: Vec<u32> = (0..self.labels.len() as u32).collect();
        for batch in order.chunks(batch_size) {
            assert!(model.step(self.samples(), batch).is_finite());
        }
        model
            .parameters()
            .iter()
            .map(|parameter| parameter.to_bits())
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_restored_state_goes_on_with_the_same_bits(
        d_head in 1_usize..20, n_heads in 1_usize..4, positions in 1_usize..9, steps in 0_usize..30,
    ) {
        let shape = Shape { vocab_size: 11, positions, d_model: d_head * n_heads, n_heads };
        let problem = problem(shape, 100);
        let mut model = problem.model();
        let batches: Vec<Vec<u32>> = (0..steps).map(|step| (0..7).map(|i| (step * 7 + i) as u32 % 100).collect()).collect();
        for batch in &batches {
            model.step(problem.samples(), batch);
        }
        let state = model.state();
        prop_assert_eq!(state.steps, steps as u32);
        // Into a model that has gone elsewhere before.
        let mut other = problem.model();
        other.step(problem.samples(), &[1, 2, 3]);
        other.restore(&state);
        prop_assert_eq!(other.state(), state);
        prop_assert_eq!(problem.trained(other, 16), problem.trained(model, 16));
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits(
        d_head in 1_usize..20, n_heads in 1_usize..4, positions in 1_usize..9, batch_size in 1_usize..20,
    ) {
        let shape = Shape { vocab_size: 11, positions, d_model: d_head * n_heads, n_heads };
        let problem = problem(shape, 100);
        let baseline = problem.model().with_instructions(Instructions::Baseline);
        let expected = problem.trained(baseline, batch_size);
        for instructions in Instructions::ALL.into_iter().filter(|set| set.available()) {
            let model = problem.model().with_instructions(instructions);
            prop_assert_eq!(&expected, &problem.trained(model, batch_size));
        }
    }
}

/// A sample gets the same prediction, whatever else is in its batch.
#[test]
fn lanes_do_not_see_each_other() {
    let problem = problem(
        Shape {
            vocab_size: 51,
            positions: 7,
            d_model: 8,
            n_heads: 1,
        },
        37,
    );
    let mut model = problem.model();
    let all: Vec<u32> = (0..37).collect();
    let (mut together, mut alone) = (Predictions::default(), Predictions::default());
    model.predict(problem.samples(), &all, &mut together);
    for sample in all {
        model.predict(problem.samples(), &[sample], &mut alone);
        let sample = sample as usize;
        assert_eq!(alone.logits[0].to_bits(), together.logits[sample].to_bits());
        assert_eq!(alone.losses[0].to_bits(), together.losses[sample].to_bits());
        assert_eq!(
            alone.attention,
            together.attention[sample * 7..(sample + 1) * 7]
        );
    }
}

#[test]
fn predicting_and_differentiating_leave_training_alone() {
    let problem = problem(
        Shape {
            vocab_size: 51,
            positions: 7,
            d_model: 8,
            n_heads: 1,
        },
        96,
    );
    let plain = problem.trained(problem.model(), 16);
    let mut model = problem.model();
    let mut predictions = Predictions::default();
    for batch in (0..96).collect::<Vec<u32>>().chunks(16) {
        model.predict(problem.samples(), &[5, 6, 7], &mut predictions);
        model.gradient(problem.samples(), &[9, 8]);
        model.step(problem.samples(), batch);
    }
    let disturbed: Vec<u32> = model.parameters().iter().map(|p| p.to_bits()).collect();
    assert_eq!(plain, disturbed);
}

#[test]
fn parameters_come_back_as_given() {
    for (d_model, n_heads) in [(1, 1), (4, 2), (6, 3), (8, 1), (24, 1), (33, 3)] {
        let problem = problem(
            Shape {
                vocab_size: 5,
                positions: 4,
                d_model,
                n_heads,
            },
            1,
        );
        assert_eq!(problem.model().parameters(), problem.weights);
    }
}

/// FNV-1a over the bits of numbers.
fn fnv1a(hash: u64, values: &[f32]) -> u64 {
    values.iter().fold(hash, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x100_0000_01b3)
    })
}

/// The bits of predictions, gradients and the state of training, at each kind of size. Recorded from this
/// code: an engine that gives other bytes breaks its promise.
#[test]
fn bytes_are_pinned() {
    let mut hashes = Vec::new();
    for (d_model, n_heads, positions, per_occurrence) in SIZES {
        let shape = Shape {
            vocab_size: 11,
            positions,
            d_model,
            n_heads,
        };
        let problem = problem(shape, 50);
        let adam = Adam {
            per_occurrence,
            ..adam()
        };
        let mut model = Model::new(shape, 1e-6, adam, &problem.weights)
            .unwrap()
            .with_instructions(Instructions::Baseline);
        if d_model == 12 {
            model = model.with_scale(0.3);
        }
        let mut hash = 0xcbf2_9ce4_8422_2325;
        for step in 0..12_u32 {
            let batch: Vec<u32> = (0..=step).map(|i| (7 * step + 3 * i) % 50).collect();
            hash = fnv1a(hash, &[model.step(problem.samples(), &batch)]);
        }
        let gradient = model.gradient(problem.samples(), &[1, 5, 9]);
        let state = model.state();
        let mut predictions = Predictions::default();
        model.predict(problem.samples(), &[3, 1, 4, 15], &mut predictions);
        for part in [
            &[gradient.loss],
            &gradient.values[..],
            &gradient.squares,
            &state.parameters,
            &state.first,
            &state.second,
            &predictions.logits,
            &predictions.probabilities,
            &predictions.losses,
            &predictions.attention,
        ] {
            hash = fnv1a(hash, part);
        }
        hashes.push(hash);
    }
    assert_eq!(hashes, PINNED, "{hashes:x?}");
}

/// `d_model`, `n_heads`, positions, squares per occurrence.
const SIZES: [(usize, usize, usize, bool); 9] = [
    (8, 1, 7, true),
    (4, 1, 3, false),
    (16, 1, 5, true),
    (32, 1, 2, true),
    (4, 2, 6, true),
    (6, 3, 7, false),
    (12, 3, 4, true),
    (24, 4, 3, true),
    (1, 1, 1, true),
];
const PINNED: [u64; 9] = [
    0xcc07_fa23_1d2b_07b5,
    0xf814_bc4a_e314_1fbf,
    0x0a9a_a0ed_4be6_caaa,
    0xebac_c8ac_9e56_2cfe,
    0xbf44_9cd1_a7ac_54f1,
    0x7074_df64_0915_e660,
    0x43d5_a05a_185a_48da,
    0x894e_ba3c_2492_5d55,
    0x156e_add1_aad6_7ce2,
];
