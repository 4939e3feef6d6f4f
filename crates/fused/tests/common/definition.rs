//! The definition of a classifier in double precision, with keys, values and all rows.
#![allow(clippy::unwrap_used)]

use headlight_fused::{
    Activation, Architecture, NormPlace, Norms, PositionEmbedding, Projections, Reads, Weighting,
};

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

/// The logits of a sample, answer by answer, and the attention of the positions that are read in the last block, head by head.
pub fn forward(a: &Architecture, parameters: &[f64], tokens: &[u32]) -> (Vec<f64>, Vec<f64>) {
    forward_moved(
        a,
        parameters,
        tokens,
        &[],
        &mut Weights::Recorded(Vec::new()),
    )
}

/// Attention weights of all blocks: recorded as they are computed, or given.
pub enum Weights {
    Recorded(Vec<f64>),
    Given(std::vec::IntoIter<f64>),
}

impl Weights {
    fn pass(&mut self, own: f64) -> f64 {
        match self {
            Self::Recorded(weights) => {
                weights.push(own);
                own
            }
            Self::Given(weights) => weights.next().unwrap(),
        }
    }
}

/// As [`forward`], with `moved` added to the embeddings of the tokens, `[position, d_model]`, unless it is empty.
pub fn forward_moved<'a>(
    a: &Architecture,
    parameters: &'a [f64],
    tokens: &[u32],
    moved: &[f64],
    held: &mut Weights,
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
    for (number, moved) in x.iter_mut().flatten().zip(moved) {
        *number += moved;
    }
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
                    let weight = held.pass(weight);
                    for e in columns.clone() {
                        context[i][e] += weight * v[key][e];
                    }
                    if i == a.read_position || a.reads == Reads::Every {
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
    let mut read = vec![x[a.read_position].clone()];
    if a.reads == Reads::Every {
        read.clone_from(&x);
    }
    if a.reads == Reads::Mean {
        let rows = x.iter().zip(tokens);
        let kept = rows.filter(|(_, token)| Some(**token) != a.padding_token);
        let kept: Vec<&Vec<f64>> = kept.map(|(x, _)| x).collect();
        let mean = |i: usize| kept.iter().map(|x| x[i]).sum::<f64>() / kept.len().max(1) as f64;
        read = vec![(0..d).map(mean).collect()];
    }
    let logits = a.n_logits();
    if a.classifier_hidden > 0 {
        let hidden = reader.linear(d, a.classifier_hidden, biases.classifier);
        for read in &mut read {
            let active = hidden(read).into_iter().map(|h| activate(a.activation, h));
            *read = active.collect();
        }
    }
    let z: Vec<f64> = if a.tied_embeddings {
        let bias = biases.classifier.then(|| reader.row(logits));
        let logit = |read: &[f64], k: usize| {
            let product = read.iter().zip(table[k]).map(|(x, w)| x * w).sum::<f64>();
            product + bias.map_or(0.0, |bias| bias[k])
        };
        let rows = read.iter();
        rows.flat_map(|read| (0..logits).map(move |k| logit(read, k)))
            .collect()
    } else {
        let classifier = reader.linear(read[0].len(), logits, biases.classifier);
        read.iter().flat_map(|read| classifier(read)).collect()
    };
    assert!(reader.0.is_empty());
    (z, attention)
}

fn apply(function: &impl Fn(&[f64]) -> Vec<f64>, x: &[f64]) -> Vec<f64> {
    function(x)
}
