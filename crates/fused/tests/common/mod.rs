//! Architectures, samples of them, and the definition of a classifier in double precision.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    unused_imports,
    clippy::too_many_lines
)]

mod architectures;
mod definition;

use headlight_fused::{Adam, AdamW, Architecture, CrossEntropy, Optimizer, Samples, Sgd, Training};
use proptest::prelude::*;

pub use architectures::{any_architecture, notebook, one_block, plain_architecture};
pub use definition::{Weights, forward, forward_moved};

/// Weights and samples of an architecture.
#[derive(Clone, Debug)]
pub struct Problem {
    pub architecture: Architecture,
    pub training: Training,
    pub weights: Vec<f32>,
    pub tokens: Vec<u32>,
    pub labels: Vec<u32>,
}

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
pub fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

/// Samples, weights of at most a half, and `[CLS]` in its place.
pub fn problem(architecture: Architecture, samples: usize) -> Problem {
    let a = &architecture;
    let token = |i: usize| {
        if i % a.positions == a.read_position {
            return 0;
        }
        1 + (spread(7 * i) * (a.vocab_size - 1) as f32) as u32
    };
    Problem {
        training: trainings()[a.parameter_count() % 4],
        weights: (0..a.parameter_count()).map(|i| spread(i) - 0.5).collect(),
        tokens: (0..samples * a.positions).map(token).collect(),
        labels: (0..samples)
            .map(|i| match a.n_classes {
                2 => u32::from(spread(3 * i) < 0.3),
                classes => (spread(3 * i) * classes as f32) as u32,
            })
            .collect(),
        architecture,
    }
}

/// The same, but weights that a generator draws.
pub fn drawn(architecture: impl Strategy<Value = Architecture>) -> impl Strategy<Value = Problem> {
    (architecture, 1_usize..20).prop_flat_map(|(architecture, samples)| {
        let problem = problem(architecture, samples);
        prop::collection::vec(-0.6_f32..0.6, problem.weights.len()).prop_map(move |weights| {
            Problem {
                weights,
                ..problem.clone()
            }
        })
    })
}

impl Problem {
    pub fn samples(&self) -> Samples<'_> {
        Samples {
            tokens: &self.tokens,
            labels: &self.labels,
        }
    }

    /// All samples.
    pub fn all(&self) -> Vec<u32> {
        (0..self.labels.len() as u32).collect()
    }

    pub fn exact_weights(&self) -> Vec<f64> {
        self.weights
            .iter()
            .map(|&weight| f64::from(weight))
            .collect()
    }
}

/// Keras's Adam, and three others.
pub fn trainings() -> [Training; 4] {
    let sgd = Sgd {
        learning_rate: 0.05,
        momentum: 0.9,
    };
    let adam_w = AdamW {
        adam: Adam {
            epsilon: 1e-8,
            ..adam()
        },
        weight_decay: 0.1,
    };
    let cross_entropy = CrossEntropy {
        is_accurate: true,
        smoothing: 0.1,
    };
    let of = |optimizer| Training {
        optimizer,
        ..Training::default()
    };
    [
        adam().into(),
        of(Optimizer::Sgd(sgd)),
        Training {
            cross_entropy,
            ..of(Optimizer::AdamW(adam_w))
        },
        Training {
            max_grad_norm: Some(0.5),
            ..of(Optimizer::AdamW(adam_w))
        },
    ]
}

pub fn adam() -> Adam {
    Adam {
        learning_rate: 1e-2,
        ..Adam::default()
    }
}

/// The mean cross-entropy.
pub fn loss(problem: &Problem, parameters: &[f64]) -> f64 {
    let samples = problem
        .tokens
        .chunks(problem.architecture.positions)
        .zip(&problem.labels);
    let one = |(tokens, &label): (&[u32], &u32)| match &forward(
        &problem.architecture,
        parameters,
        tokens,
    )
    .0[..]
    {
        &[z] => z.max(0.0) - z * f64::from(label) + (-z.abs()).exp().ln_1p(),
        z => z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[label as usize],
    };
    samples.map(one).sum::<f64>() / problem.labels.len() as f64
}
