//! The same bytes, whatever computes them.
#![allow(clippy::unwrap_used)]

use headlight_fused::{Adam, Answers, Instructions, Model, Samples, Shape};
use proptest::prelude::*;

const ADAM: Adam = Adam {
    learning_rate: 1e-2,
    beta_1: 0.9,
    beta_2: 0.999,
    epsilon: 1e-7,
    per_occurrence: true,
};

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
        Model::new(self.shape, 1e-6, ADAM, &self.weights).unwrap()
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

/// A sample is answered the same way, whatever stands beside it.
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
    let (mut together, mut alone) = (Answers::default(), Answers::default());
    model.ask(problem.samples(), &all, &mut together);
    for sample in all {
        model.ask(problem.samples(), &[sample], &mut alone);
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
fn asking_and_differentiating_leave_training_alone() {
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
    let mut answers = Answers::default();
    for batch in (0..96).collect::<Vec<u32>>().chunks(16) {
        model.ask(problem.samples(), &[5, 6, 7], &mut answers);
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
