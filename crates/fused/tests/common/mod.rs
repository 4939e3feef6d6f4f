//! Architectures, samples of them, and the definition of a classifier in double precision.
#![allow(dead_code, missing_docs, unreachable_pub)]

use headlight_fused::{Adam, Architecture, Projections, Samples};
use proptest::prelude::*;

/// The notebook's architecture.
pub fn notebook() -> Architecture {
    Architecture {
        vocab_size: 51,
        positions: 7,
        d_model: 8,
        ..Architecture::default()
    }
}

/// One block with `[CLS]` first, which has a step of its own.
pub fn one_block() -> impl Strategy<Value = Architecture> {
    let one_head = prop_oneof![Just(4_usize), Just(8), Just(16), Just(32), 1_usize..40];
    let heads_and_width = prop_oneof![
        (Just(1_usize), one_head),
        (2_usize..5, 1_usize..8).prop_map(|(heads, d_head)| (heads, heads * d_head)),
    ];
    (heads_and_width, 2_usize..20, 1_usize..9).prop_map(
        |((n_heads, d_model), vocab_size, positions)| Architecture {
            vocab_size,
            positions,
            d_model,
            n_heads,
            ..Architecture::default()
        },
    )
}

/// Any architecture. A norm with a larger epsilon keeps numerical slopes of several blocks exact.
pub fn any_architecture() -> impl Strategy<Value = Architecture> {
    let sizes = (3_usize..12, 2_usize..9, 1_usize..5, 1_usize..6, 1_usize..4);
    let switches = (
        prop_oneof![Just(0_usize), Just(3), Just(8), Just(17)],
        2_usize..6,
        any::<bool>(),
        prop_oneof![
            Just(Projections::Separate),
            Just(Projections::Shared),
            Just(Projections::None)
        ],
        prop_oneof![Just(None), Just(Some(1.0_f32)), Just(Some(0.3))],
    );
    let limits = (
        prop::option::of(prop::collection::vec(prop::bool::weighted(0.7), 81)),
        prop::option::of(Just(1_u32)),
        any::<bool>(),
    );
    (sizes, switches, limits).prop_map(|(sizes, switches, limits)| {
        let (vocab_size, positions, n_heads, d_head, n_layers) = sizes;
        let (d_ff, n_classes, position_embedding, projections, scale) = switches;
        let (mask, padding_token, cls_is_last) = limits;
        Architecture {
            vocab_size,
            positions,
            cls_position: if cls_is_last { positions - 1 } else { 0 },
            d_model: n_heads * d_head,
            n_heads,
            n_layers,
            d_ff,
            n_classes,
            position_embedding,
            projections,
            scale,
            layer_norm_eps: 1e-3,
            mask: mask.map(|mask| mask[..positions * positions].to_vec()),
            padding_token,
        }
    })
}

/// Weights and samples of an architecture.
#[derive(Clone, Debug)]
pub struct Problem {
    pub architecture: Architecture,
    pub weights: Vec<f32>,
    pub tokens: Vec<u32>,
    pub labels: Vec<u8>,
}

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
pub fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

/// Samples, weights of at most a half, and `[CLS]` in its place.
pub fn problem(architecture: Architecture, samples: usize) -> Problem {
    let a = &architecture;
    let token = |i: usize| {
        if i % a.positions == a.cls_position {
            return 0;
        }
        1 + (spread(7 * i) * (a.vocab_size - 1) as f32) as u32
    };
    Problem {
        weights: (0..a.parameter_count()).map(|i| spread(i) - 0.5).collect(),
        tokens: (0..samples * a.positions).map(token).collect(),
        labels: (0..samples)
            .map(|i| match a.n_classes {
                2 => u8::from(spread(3 * i) < 0.3),
                classes => (spread(3 * i) * classes as f32) as u8,
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

pub fn adam() -> Adam {
    Adam {
        learning_rate: 1e-2,
        ..Adam::default()
    }
}

/// Parameters one after the other, as they are asked for.
struct Reader<'a>(&'a [f64]);

impl<'a> Reader<'a> {
    fn rows(&mut self, rows: usize, columns: usize) -> Vec<&'a [f64]> {
        let (taken, rest) = self.0.split_at(rows * columns);
        self.0 = rest;
        taken.chunks(columns).collect()
    }

    fn row(&mut self, columns: usize) -> &'a [f64] {
        self.rows(1, columns)[0]
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> impl Fn(&[f64]) -> Vec<f64> + use<'a> {
        let (weight, bias) = (self.rows(inputs, outputs), self.row(outputs));
        move |x| {
            let column = |o: usize| {
                x.iter()
                    .zip(&weight)
                    .map(|(x, row)| x * row[o])
                    .sum::<f64>()
                    + bias[o]
            };
            (0..outputs).map(column).collect()
        }
    }

    fn norm(&mut self, size: usize, eps: f32) -> impl Fn(&[f64]) -> Vec<f64> + use<'a> {
        let (gamma, beta) = (self.row(size), self.row(size));
        move |x| {
            let mean = x.iter().sum::<f64>() / size as f64;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / size as f64;
            let root = (variance + f64::from(eps)).sqrt();
            (0..size)
                .map(|i| (x[i] - mean) / root * gamma[i] + beta[i])
                .collect()
        }
    }
}

fn add(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The logits of a sample, and the attention of `[CLS]` in the last block, head by head.
pub fn forward(a: &Architecture, parameters: &[f64], tokens: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let (d, d_head) = (a.d_model, a.d_model / a.n_heads);
    let scale = a.scale.map_or(1.0 / (d_head as f64).sqrt(), f64::from);
    let mut reader = Reader(parameters);
    let table = reader.rows(a.vocab_size, d);
    let mut x: Vec<Vec<f64>> = tokens
        .iter()
        .map(|&token| table[token as usize].to_vec())
        .collect();
    if a.position_embedding {
        let positions = reader.rows(a.positions, d);
        x = x.iter().zip(positions).map(|(x, p)| add(x, p)).collect();
    }
    let mut attention = Vec::new();
    for _ in 0..a.n_layers {
        let mut project = |_: usize| -> Vec<Vec<f64>> {
            let linear = reader.linear(d, d);
            x.iter().map(|x| linear(x)).collect()
        };
        let [q, k, v] = match a.projections {
            Projections::Separate => [0, 1, 2].map(&mut project),
            Projections::Shared => {
                let shared = project(0);
                [shared.clone(), shared.clone(), shared]
            }
            Projections::None => [x.clone(), x.clone(), x.clone()],
        };
        let mut context = vec![vec![0.0; d]; tokens.len()];
        attention.clear();
        for columns in (0..d).step_by(d_head).map(|first| first..first + d_head) {
            for query in 0..tokens.len() {
                let weight = |key: usize| -> f64 {
                    let may = a
                        .mask
                        .as_ref()
                        .is_none_or(|mask| mask[query * tokens.len() + key]);
                    let score: f64 = columns.clone().map(|e| q[query][e] * k[key][e]).sum();
                    if may && a.padding_token != Some(tokens[key]) {
                        (scale * score).exp()
                    } else {
                        0.0
                    }
                };
                let weights: Vec<f64> = (0..tokens.len()).map(weight).collect();
                let sum: f64 = weights.iter().sum();
                let weights = weights
                    .iter()
                    .map(|weight| if sum > 0.0 { weight / sum } else { 0.0 });
                for (key, weight) in weights.enumerate() {
                    for e in columns.clone() {
                        context[query][e] += weight * v[key][e];
                    }
                    if query == a.cls_position {
                        attention.push(weight);
                    }
                }
            }
        }
        let (output, norm) = (reader.linear(d, d), reader.norm(d, a.layer_norm_eps));
        x = x
            .iter()
            .zip(&context)
            .map(|(x, context)| norm(&add(x, &output(context))))
            .collect();
        if a.d_ff > 0 {
            let (hidden, output) = (reader.linear(d, a.d_ff), reader.linear(a.d_ff, d));
            let norm = reader.norm(d, a.layer_norm_eps);
            x = x
                .iter()
                .map(|x| {
                    let rectified: Vec<f64> = hidden(x).iter().map(|h| h.max(0.0)).collect();
                    norm(&add(x, &output(&rectified)))
                })
                .collect();
        }
    }
    let logits = reader.linear(d, if a.n_classes == 2 { 1 } else { a.n_classes });
    assert!(reader.0.is_empty());
    (logits(&x[a.cls_position]), attention)
}

/// The mean cross-entropy.
pub fn loss(problem: &Problem, parameters: &[f64]) -> f64 {
    let samples = problem
        .tokens
        .chunks(problem.architecture.positions)
        .zip(&problem.labels);
    let one =
        |(tokens, &label): (&[u32], &u8)| match &forward(&problem.architecture, parameters, tokens)
            .0[..]
        {
            &[z] => z.max(0.0) - z * f64::from(label) + (-z.abs()).exp().ln_1p(),
            z => z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[usize::from(label)],
        };
    samples.map(one).sum::<f64>() / problem.labels.len() as f64
}
