//! Architectures, samples of them, and the definition of a classifier in double precision.
#![allow(dead_code, missing_docs, unreachable_pub)]

use headlight_fused::{
    Activation, Adam, AdamW, Architecture, Biases, CrossEntropy, NormPlace, Norms, Optimizer,
    PositionEmbedding, Projections, Samples, Sgd, Training, Weighting,
};
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

/// Any architecture of the first kinds: norms after each addition, rectifiers, all biases. A norm with a larger epsilon
/// keeps numerical slopes of several blocks exact.
pub fn plain_architecture() -> impl Strategy<Value = Architecture> {
    let sizes = (3_usize..12, 2_usize..9, 1_usize..5, 1_usize..6, 1_usize..4);
    let switches = (
        prop_oneof![Just(0_usize), Just(3), Just(8), Just(17)],
        2_usize..6,
        prop_oneof![
            Just(PositionEmbedding::Learned),
            Just(PositionEmbedding::None)
        ],
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
            read_position: if cls_is_last { positions - 1 } else { 0 },
            d_model: n_heads * d_head,
            n_heads,
            n_layers,
            d_ff,
            n_classes,
            position_embedding,
            projections,
            scale,
            norms: Norms {
                eps: 1e-3,
                ..Norms::default()
            },
            mask: mask.map(|mask| mask[..positions * positions].to_vec()),
            padding_token,
            ..Architecture::default()
        }
    })
}

/// Any architecture.
pub fn any_architecture() -> impl Strategy<Value = Architecture> {
    let norms = (
        prop_oneof![
            Just(NormPlace::Post),
            Just(NormPlace::Pre),
            Just(NormPlace::None)
        ],
        any::<[bool; 5]>(),
    );
    let weighting = prop_oneof![
        2 => Just(Weighting::Softmax),
        1 => prop_oneof![Just(0.0_f32), Just(0.4), Just(0.9)].prop_map(Weighting::Mixed),
        1 => Just(Weighting::Scores),
    ];
    let activation = prop_oneof![
        Just(Activation::Relu),
        Just(Activation::Gelu),
        Just(Activation::GeluTanh),
        Just(Activation::Silu)
    ];
    let parts = (
        any::<[bool; 4]>(),
        any::<[bool; 6]>(),
        prop::option::of(1_usize..6),
    );
    let classifier = (
        prop_oneof![2 => Just(0_usize), 1 => Just(5), 1 => Just(9)],
        any::<[bool; 2]>(),
    );
    let positions = 0_usize..6;
    (
        plain_architecture(),
        norms,
        weighting,
        activation,
        parts,
        classifier,
        positions,
    )
        .prop_map(
            |(plain, norms, weighting, activation, parts, classifier, positions)| {
                let (place, [is_rms, gain, bias, is_last, is_first]) = norms;
                let ([attention, output, feed_forward, of_classifier], switches, d_head) = parts;
                let [
                    has_values,
                    has_output,
                    log_length,
                    reads_mean,
                    has_own_width,
                    is_tied,
                ] = switches;
                let (classifier_hidden, [logit_per_class, keeps_whole]) = classifier;
                let mut all = Architecture {
                    norms: Norms {
                        place,
                        is_rms,
                        gain,
                        bias,
                        is_last,
                        is_first,
                        eps: 1e-3,
                    },
                    weighting,
                    activation,
                    biases: Biases {
                        attention,
                        output,
                        feed_forward,
                        classifier: of_classifier,
                    },
                    log_length,
                    reads_mean,
                    classifier_hidden,
                    logit_per_class,
                    ..plain
                };
                // Without norms, values grow from block to block, and weights that do not sum to 1 add to that.
                if place == NormPlace::None {
                    let most = if all.weighting == Weighting::Softmax {
                        2
                    } else {
                        1
                    };
                    all.n_layers = all.n_layers.min(most);
                }
                if all.projections != Projections::None && has_own_width {
                    all.d_head = d_head;
                }
                let is_whole = keeps_whole || all.d_head.is_some();
                all.value_projection =
                    is_whole || has_values || all.projections != Projections::Separate;
                all.output_projection = is_whole || has_output;
                if is_tied && all.vocab_size > 2 {
                    (all.tied_embeddings, all.classifier_hidden) = (true, 0);
                    all.n_classes = all.vocab_size;
                }
                let (p, d, width) = (all.positions, all.d_model, all.d_head());
                let table = |count: usize| {
                    (0..count)
                        .map(|i| spread(5 * i) - 0.5)
                        .collect::<Vec<f32>>()
                };
                match positions {
                    0 => all.position_embedding = PositionEmbedding::Shared(p.div_ceil(2)),
                    1 => all.position_embedding = PositionEmbedding::Fixed(table(p * d)),
                    2 | 3 if width.is_multiple_of(2) => {
                        let angles = (0..p * (width / 2)).map(|i| 7.0 * spread(3 * i));
                        let angles: Vec<f32> = angles.collect();
                        all.rotation = Some([
                            angles.iter().map(|angle| angle.cos()).collect(),
                            angles.iter().map(|angle| angle.sin()).collect(),
                        ]);
                    }
                    _ => {}
                }
                all
            },
        )
}

/// Weights and samples of an architecture.
#[derive(Clone, Debug)]
pub struct Problem {
    pub architecture: Architecture,
    pub training: Training,
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

    fn linear(
        &mut self,
        inputs: usize,
        outputs: usize,
        has_bias: bool,
    ) -> impl Fn(&[f64]) -> Vec<f64> + use<'a> {
        let weight = self.rows(inputs, outputs);
        let bias = has_bias.then(|| self.row(outputs));
        move |x| {
            let column = |o: usize| {
                let products = x.iter().zip(&weight).map(|(x, row)| x * row[o]);
                products.sum::<f64>() + bias.map_or(0.0, |bias| bias[o])
            };
            (0..outputs).map(column).collect()
        }
    }

    fn norm(&mut self, size: usize, norms: Norms) -> impl Fn(&[f64]) -> Vec<f64> + use<'a> {
        let gamma = norms.gain.then(|| self.row(size));
        let beta = norms.bias.then(|| self.row(size));
        move |x| {
            let mean = if norms.is_rms {
                0.0
            } else {
                x.iter().sum::<f64>() / size as f64
            };
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / size as f64;
            let root = (variance + f64::from(norms.eps)).sqrt();
            let number = |i: usize| {
                let gain = gamma.map_or(1.0, |gamma| gamma[i]);
                (x[i] - mean) / root * gain + beta.map_or(0.0, |beta| beta[i])
            };
            (0..size).map(number).collect()
        }
    }
}

fn activate(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Gelu => 0.5 * x * (1.0 + erf(x / 2.0_f64.sqrt())),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

/// The error function: by its series near 0, and by the continued fraction of 1 - erf elsewhere.
fn erf(x: f64) -> f64 {
    if x.abs() > 2.0 {
        let size = x.abs();
        let fraction = (1..80)
            .rev()
            .fold(size, |rest, k| size + f64::from(k) / 2.0 / rest);
        let rest = (-x * x).exp() / std::f64::consts::PI.sqrt() / fraction;
        return (1.0 - rest).copysign(x);
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..60 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// Rotates the vector of each head by the angles of a position.
fn rotate(a: &Architecture, position: usize, vector: &mut [f64]) {
    let Some([cosines, sines]) = &a.rotation else {
        return;
    };
    let half = a.d_head() / 2;
    for head in vector.chunks_mut(2 * half) {
        for i in 0..half {
            let at = position * half + i;
            let (cosine, sine) = (f64::from(cosines[at]), f64::from(sines[at]));
            let (x, y) = (head[i], head[i + half]);
            (head[i], head[i + half]) = (x * cosine - y * sine, y * cosine + x * sine);
        }
    }
}

fn add(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The logits of a sample, and the attention of the position that is read in the last block, head by head.
pub fn forward<'a>(
    a: &Architecture,
    parameters: &'a [f64],
    tokens: &[u32],
) -> (Vec<f64>, Vec<f64>) {
    let (d, d_head, p) = (a.d_model, a.d_head(), a.positions);
    let inner = a.n_heads * d_head;
    let scale = a.scale.map_or(1.0 / (d_head as f64).sqrt(), f64::from);
    let (norms, biases) = (a.norms, a.biases);
    let mut reader = Reader(parameters);
    let table = reader.rows(a.vocab_size, d);
    let mut x: Vec<Vec<f64>> = tokens
        .iter()
        .map(|&token| table[token as usize].to_vec())
        .collect();
    let positions: Vec<Vec<f64>> = match &a.position_embedding {
        PositionEmbedding::None => vec![vec![0.0; d]; p],
        PositionEmbedding::Learned => reader.rows(p, d).iter().map(|row| row.to_vec()).collect(),
        PositionEmbedding::Shared(rows) => {
            let own = reader.rows(*rows, d);
            (0..p)
                .map(|position| own[position.min(rows - 1)].to_vec())
                .collect()
        }
        PositionEmbedding::Fixed(table) => {
            let rows = table.chunks(d);
            rows.map(|row| row.iter().copied().map(f64::from).collect())
                .collect()
        }
    };
    x = x.iter().zip(&positions).map(|(x, p)| add(x, p)).collect();
    if norms.is_first {
        let norm = reader.norm(d, norms);
        x = x.iter().map(|x| norm(x)).collect();
    }
    let may = |query: usize, key: usize| {
        let open = a.mask.as_ref().is_none_or(|mask| mask[query * p + key]);
        open && a.padding_token != Some(tokens[key])
    };
    let mut attention = Vec::new();
    for _ in 0..a.n_layers {
        // All parameters of the block, in their order.
        let project = |reader: &mut Reader<'a>, exists: bool| {
            exists.then(|| reader.linear(d, inner, biases.attention))
        };
        let separate = a.projections == Projections::Separate;
        let query = project(&mut reader, a.projections != Projections::None);
        let key = project(&mut reader, separate);
        let value = project(&mut reader, separate && a.value_projection);
        let output = a
            .output_projection
            .then(|| reader.linear(inner, d, biases.output));
        let has_norms = norms.place != NormPlace::None;
        let norm = has_norms.then(|| reader.norm(d, norms));
        let (hidden, back) = (a.d_ff > 0)
            .then(|| {
                let hidden = reader.linear(d, a.d_ff, biases.feed_forward);
                (hidden, reader.linear(a.d_ff, d, biases.feed_forward))
            })
            .unzip();
        let second = (has_norms && a.d_ff > 0).then(|| reader.norm(d, norms));
        let (before, after) = (
            norms.place == NormPlace::Pre,
            norms.place == NormPlace::Post,
        );
        let through = |norm: &Option<_>, is_here: bool, x: &[f64]| match norm {
            Some(norm) if is_here => apply(norm, x),
            _ => x.to_vec(),
        };

        let source: Vec<Vec<f64>> = x.iter().map(|x| through(&norm, before, x)).collect();
        let all = |linear: &Option<_>| -> Vec<Vec<f64>> {
            let rows = source.iter();
            rows.map(|x| {
                linear
                    .as_ref()
                    .map_or_else(|| x.clone(), |linear| apply(linear, x))
            })
            .collect()
        };
        let mut q = all(&query);
        let mut k = if separate { all(&key) } else { q.clone() };
        let v = if separate { all(&value) } else { q.clone() };
        for position in 0..p {
            rotate(a, position, &mut q[position]);
            rotate(a, position, &mut k[position]);
        }
        let mut context = vec![vec![0.0; inner]; p];
        attention.clear();
        for columns in (0..inner)
            .step_by(d_head)
            .map(|first| first..first + d_head)
        {
            for i in 0..p {
                let keys: Vec<usize> = (0..p).filter(|&key| may(i, key)).collect();
                let length = if a.log_length {
                    (keys.len() as f64).ln()
                } else {
                    1.0
                };
                let score = |key: usize| -> f64 {
                    let products = columns.clone().map(|e| q[i][e] * k[key][e]);
                    scale * products.sum::<f64>() * length
                };
                let sum: f64 = keys.iter().map(|&key| score(key).exp()).sum();
                for key in 0..p {
                    let softmax = score(key).exp() / sum;
                    let weight = match a.weighting {
                        _ if !may(i, key) => 0.0,
                        Weighting::Softmax => softmax,
                        Weighting::Mixed(share) => {
                            let share = f64::from(share);
                            share * softmax + 1.0 - share
                        }
                        Weighting::Scores => score(key),
                    };
                    for e in columns.clone() {
                        context[i][e] += weight * v[key][e];
                    }
                    if i == a.read_position {
                        attention.push(weight);
                    }
                }
            }
        }
        let rows = x.iter().zip(&context);
        let attended = rows.map(|(x, context)| {
            let output = output
                .as_ref()
                .map_or_else(|| context.clone(), |output| output(context));
            through(&norm, after, &add(x, &output))
        });
        x = attended.collect();
        if let (Some(hidden), Some(back)) = (hidden, back) {
            let fed = x.iter().map(|x| {
                let hidden = hidden(&through(&second, before, x));
                let active: Vec<f64> = hidden.iter().map(|&h| activate(a.activation, h)).collect();
                through(&second, after, &add(x, &back(&active)))
            });
            x = fed.collect();
        }
    }
    if norms.is_last {
        let norm = reader.norm(d, norms);
        x = x.iter().map(|x| norm(x)).collect();
    }
    let mut read = x[a.read_position].clone();
    if a.reads_mean {
        let rows = x.iter().zip(tokens);
        let kept = rows.filter(|(_, token)| Some(**token) != a.padding_token);
        let kept: Vec<&Vec<f64>> = kept.map(|(x, _)| x).collect();
        let mean = |i: usize| kept.iter().map(|x| x[i]).sum::<f64>() / kept.len().max(1) as f64;
        read = (0..d).map(mean).collect();
    }
    let logits = a.n_logits();
    if a.classifier_hidden > 0 {
        let hidden = reader.linear(d, a.classifier_hidden, biases.classifier);
        read = hidden(&read)
            .iter()
            .map(|&h| activate(a.activation, h))
            .collect();
    }
    let z = if a.tied_embeddings {
        let bias = biases.classifier.then(|| reader.row(logits));
        let product = |k: usize| read.iter().zip(table[k]).map(|(x, w)| x * w).sum::<f64>();
        (0..logits)
            .map(|k| product(k) + bias.map_or(0.0, |bias| bias[k]))
            .collect()
    } else {
        reader.linear(read.len(), logits, biases.classifier)(&read)
    };
    assert!(reader.0.is_empty());
    (z, attention)
}

fn apply(function: &impl Fn(&[f64]) -> Vec<f64>, x: &[f64]) -> Vec<f64> {
    function(x)
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
