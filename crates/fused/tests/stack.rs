//! Classifiers of any number of blocks beside their definition, written out in double precision and
//! differentiated numerically.
#![allow(clippy::unwrap_used)]

use headlight_fused::{Adam, Architecture, Projections, Stack};

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
}

fn times(x: &[f64], weight: &[&[f64]], bias: &[f64]) -> Vec<f64> {
    let column = |o: usize| x.iter().zip(weight).map(|(x, row)| x * row[o]).sum::<f64>() + bias[o];
    (0..bias.len()).map(column).collect()
}

fn norm(x: &[f64], gamma: &[f64], beta: &[f64], eps: f64) -> Vec<f64> {
    let d = x.len() as f64;
    let mean = x.iter().sum::<f64>() / d;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / d;
    let scaled = |(x, (g, b)): (&f64, (&f64, &f64))| (x - mean) / (variance + eps).sqrt() * g + b;
    x.iter().zip(gamma.iter().zip(beta)).map(scaled).collect()
}

fn add(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn logits(a: &Architecture, parameters: &[f64], tokens: &[u32]) -> Vec<f64> {
    let (d, d_head) = (a.d_model, a.d_model / a.n_heads);
    let mut reader = Reader(parameters);
    let table = reader.rows(a.vocab_size, d);
    let mut x: Vec<Vec<f64>> = tokens.iter().map(|&token| table[token as usize].to_vec()).collect();
    if a.position_embedding {
        let positions = reader.rows(a.positions, d);
        x = x.iter().zip(positions).map(|(x, p)| add(x, p)).collect();
    }
    for _ in 0..a.n_layers {
        let mut project = |_: usize| {
            let (weight, bias) = (reader.rows(d, d), reader.row(d));
            x.iter().map(|x| times(x, &weight, bias)).collect::<Vec<_>>()
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
        for head in 0..a.n_heads {
            for query in 0..tokens.len() {
                let columns = head * d_head..(head + 1) * d_head;
                let may: Vec<bool> = (0..tokens.len())
                    .map(|key| {
                        a.mask.as_ref().is_none_or(|mask| mask[query * tokens.len() + key])
                            && a.padding_token != Some(tokens[key])
                    })
                    .collect();
                let score = |key: usize| -> f64 {
                    f64::from(a.scale) * columns.clone().map(|e| q[query][e] * k[key][e]).sum::<f64>()
                };
                let weights: Vec<f64> = (0..tokens.len())
                    .map(|key| if may[key] { score(key).exp() } else { 0.0 })
                    .collect();
                let sum: f64 = weights.iter().sum();
                for key in (0..tokens.len()).filter(|&key| may[key]) {
                    for e in columns.clone() {
                        context[query][e] += weights[key] / sum * v[key][e];
                    }
                }
            }
        }
        let (weight, bias) = (reader.rows(d, d), reader.row(d));
        let (gamma, beta) = (reader.row(d), reader.row(d));
        let eps = f64::from(a.layer_norm_eps);
        x = x
            .iter()
            .zip(&context)
            .map(|(x, c)| norm(&add(x, &times(c, &weight, bias)), gamma, beta, eps))
            .collect();
        if a.d_ff > 0 {
            let (w1, b1) = (reader.rows(d, a.d_ff), reader.row(a.d_ff));
            let (w2, b2) = (reader.rows(a.d_ff, d), reader.row(d));
            let (gamma, beta) = (reader.row(d), reader.row(d));
            x = x
                .iter()
                .map(|x| {
                    let hidden: Vec<f64> = times(x, &w1, b1).iter().map(|h| h.max(0.0)).collect();
                    norm(&add(x, &times(&hidden, &w2, b2)), gamma, beta, eps)
                })
                .collect();
        }
    }
    let count = if a.n_classes == 2 { 1 } else { a.n_classes };
    let (weight, bias) = (reader.rows(d, count), reader.row(count));
    assert!(reader.0.is_empty());
    times(&x[a.cls_position], &weight, bias)
}

fn loss(a: &Architecture, parameters: &[f64], tokens: &[u32], labels: &[u32]) -> f64 {
    let samples = tokens.chunks(a.positions).zip(labels);
    let one = |(tokens, &label): (&[u32], &u32)| {
        let z = logits(a, parameters, tokens);
        if z.len() == 1 {
            z[0].max(0.0) - z[0] * f64::from(label) + (-z[0].abs()).exp().ln_1p()
        } else {
            z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[label as usize]
        }
    };
    samples.map(one).sum::<f64>() / labels.len() as f64
}

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 40) as f64 / f64::from(1 << 24)
}

#[test]
fn logits_and_gradients_are_those_of_the_definition() {
    let mut seed = 7;
    for case in 0..200 {
        let mut pick = |from: usize, to: usize| from + (random(&mut seed) * (to - from + 1) as f64) as usize;
        let heads = pick(1, 4);
        let positions = pick(2, 9);
        let architecture = Architecture {
            vocab_size: pick(3, 12),
            positions,
            cls_position: if pick(0, 1) == 0 { 0 } else { positions - 1 },
            d_model: heads * pick(1, 5),
            n_heads: heads,
            n_layers: pick(1, 3),
            d_ff: [0, 3, 8, 17][pick(0, 3)],
            n_classes: pick(2, 4),
            position_embedding: pick(0, 2) > 0,
            projections: [Projections::Separate, Projections::Shared, Projections::None][pick(0, 2)],
            scale: [1.0, 0.5, 0.3][pick(0, 2)],
            layer_norm_eps: 1e-3,
            mask: (pick(0, 2) == 0).then(|| (0..positions * positions).map(|_| pick(0, 2) > 0).collect()),
            padding_token: (pick(0, 2) == 0).then_some(1),
        };
        let samples = pick(1, 19);
        let tokens: Vec<u32> = (0..samples * positions).map(|_| pick(0, architecture.vocab_size - 1) as u32).collect();
        let labels: Vec<u32> = (0..samples).map(|_| pick(0, architecture.n_classes - 1) as u32).collect();
        let count = architecture.parameter_count();
        let parameters: Vec<f32> = (0..count).map(|_| (random(&mut seed) - 0.5) as f32).collect();
        let wide: Vec<f64> = parameters.iter().map(|&p| f64::from(p)).collect();
        let adam = Adam { learning_rate: 1e-3, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-7, per_occurrence: true };
        let mut stack = Stack::new(architecture.clone(), adam, &parameters);
        let chosen: Vec<u32> = (0..samples as u32).collect();

        for whole in [false, true] {
            let found = stack.logits(&tokens, &labels, &chosen, whole);
            let expected: Vec<f64> = tokens.chunks(positions).flat_map(|tokens| logits(&architecture, &wide, tokens)).collect();
            for (found, expected) in found.iter().zip(&expected) {
                assert!((f64::from(*found) - expected).abs() < 2e-5, "{case}: {found} {expected} {architecture:?}");
            }
        }
        let gradient = stack.gradient(&tokens, &labels, &chosen);
        let expected = loss(&architecture, &wide, &tokens, &labels);
        assert!((f64::from(gradient.loss) - expected).abs() < 1e-5, "{case}: {} {expected}", gradient.loss);
        let largest = gradient.values.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
        for index in (0..count).step_by(1 + count / 150) {
            let h = 1e-5;
            let mut moved = wide.clone();
            let mut at = |shift: f64| {
                moved[index] = wide[index] + shift;
                loss(&architecture, &moved, &tokens, &labels)
            };
            let slope = (at(h) - at(-h)) / (2.0 * h);
            let found = f64::from(gradient.values[index]);
            assert!(
                (found - slope).abs() < 1e-5 + 2e-4 * f64::from(largest),
                "{case}: parameter {index} of {count}: {found}, not {slope}; {architecture:?}"
            );
        }
    }
}
