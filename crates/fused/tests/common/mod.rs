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

use headlight_fused::{
    Adam, AdamW, Architecture, CrossEntropy, IGNORED, Optimizer, Reads, Samples, Sgd, Training,
};
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
    // Where every position is read: padding, and some others.
    let is_left_out = |i: usize| Some(token(i)) == a.padding_token || spread(5 * i) < 0.2;
    Problem {
        training: trainings()[a.parameter_count() % 4],
        weights: (0..a.parameter_count()).map(|i| spread(i) - 0.5).collect(),
        tokens: (0..samples * a.positions).map(token).collect(),
        labels: (0..samples * a.answers())
            .map(|i| match a.n_classes {
                _ if a.reads == Reads::Every && is_left_out(i) => IGNORED,
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
        (0..(self.tokens.len() / self.architecture.positions) as u32).collect()
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
        per_sample: false,
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

/// The mean cross-entropy of the answers that count.
pub fn loss(problem: &Problem, parameters: &[f64]) -> f64 {
    let losses: Vec<f64> = losses(problem, parameters).concat();
    losses.iter().sum::<f64>() / losses.len().max(1) as f64
}

/// The cross-entropies of the answers that count, sample by sample.
pub fn losses(problem: &Problem, parameters: &[f64]) -> Vec<Vec<f64>> {
    let a = &problem.architecture;
    let samples = problem.tokens.chunks(a.positions);
    let of_answer = |(z, &label): (&[f64], &u32)| match z {
        _ if label == IGNORED => None,
        &[z] => Some(z.max(0.0) - z * f64::from(label) + (-z.abs()).exp().ln_1p()),
        z => Some(z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[label as usize]),
    };
    let pairs = samples.zip(problem.labels.chunks(a.answers()));
    let of_sample = |(tokens, labels): (&[u32], &[u32])| {
        let (logits, _) = forward(a, parameters, tokens);
        let answers = logits.chunks(a.n_logits()).zip(labels);
        answers.filter_map(of_answer).collect()
    };
    pairs.map(of_sample).collect()
}
