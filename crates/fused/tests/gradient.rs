//! Values and gradients beside the definition of the model, written out in double precision with keys,
//! values and the whole attention row, and differentiated numerically.
#![allow(clippy::unwrap_used)]

use headlight_fused::{Adam, Model, Predictions, Samples, Shape};
use proptest::prelude::*;

const EPS: f64 = 1e-6;

/// Parameters one after the other, as they are asked for.
struct Reader<'a>(&'a [f64]);

impl<'a> Reader<'a> {
    fn rows(&mut self, rows: usize, columns: usize) -> Vec<&'a [f64]> {
        let (taken, rest) = self.0.split_at(rows * columns);
        self.0 = rest;
        taken.chunks(columns).collect()
    }
}

fn times(x: &[f64], weight: &[&[f64]], bias: &[f64]) -> Vec<f64> {
    let column = |o: usize| x.iter().zip(weight).map(|(x, row)| x * row[o]).sum::<f64>() + bias[o];
    (0..bias.len()).map(column).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The logit and the attention of `[CLS]`, head by head.
fn forward(shape: Shape, parameters: &[f64], tokens: &[u32]) -> (f64, Vec<f64>) {
    let d = shape.d_model;
    let mut reader = Reader(parameters);
    let table = reader.rows(shape.vocab_size, d);
    let positions = reader.rows(shape.positions, d);
    let mut projection = || (reader.rows(d, d), reader.rows(1, d)[0]);
    let [(wq, bq), (wk, bk), (wv, bv), (wo, bo)] = std::array::from_fn(|_| projection());
    let (gamma, beta) = (reader.rows(1, d)[0], reader.rows(1, d)[0]);
    let (classifier, bias) = (reader.rows(1, d)[0], reader.rows(1, 1)[0][0]);

    let x: Vec<Vec<f64>> = tokens
        .iter()
        .zip(&positions)
        .map(|(&token, position)| {
            table[token as usize]
                .iter()
                .zip(*position)
                .map(|(a, b)| a + b)
                .collect()
        })
        .collect();
    let query = times(&x[0], &wq, bq);
    let keys: Vec<_> = x.iter().map(|x| times(x, &wk, bk)).collect();
    let values: Vec<_> = x.iter().map(|x| times(x, &wv, bv)).collect();
    let d_head = d / shape.n_heads;
    let (mut context, mut attention) = (vec![0.0; d], Vec::new());
    for head in 0..shape.n_heads {
        let columns = head * d_head..(head + 1) * d_head;
        let scores = keys.iter().map(|key| {
            dot(&query[columns.clone()], &key[columns.clone()]) / (d_head as f64).sqrt()
        });
        let weights: Vec<f64> = scores.map(f64::exp).collect();
        let sum: f64 = weights.iter().sum();
        for (weight, value) in weights.iter().zip(&values) {
            for e in columns.clone() {
                context[e] += weight / sum * value[e];
            }
            attention.push(weight / sum);
        }
    }
    let output = times(&context, &wo, bo);
    let residual: Vec<f64> = x[0].iter().zip(output).map(|(x, o)| x + o).collect();
    let mean = residual.iter().sum::<f64>() / d as f64;
    let variance = residual.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / d as f64;
    let normalized = residual
        .iter()
        .map(|r| (r - mean) / (variance + EPS).sqrt());
    let normed = normalized.enumerate().map(|(i, n)| n * gamma[i] + beta[i]);
    let logit = normed.zip(classifier).map(|(n, w)| n * w).sum::<f64>() + bias;
    (logit, attention)
}

fn loss(shape: Shape, parameters: &[f64], tokens: &[u32], labels: &[bool]) -> f64 {
    let samples = tokens.chunks(shape.positions).zip(labels);
    let losses = samples.map(|(tokens, &label)| {
        let (logit, _) = forward(shape, parameters, tokens);
        logit.max(0.0) - logit * f64::from(u8::from(label)) + (-logit.abs()).exp().ln_1p()
    });
    losses.sum::<f64>() / labels.len() as f64
}

fn adam(per_occurrence: bool) -> Adam {
    Adam {
        per_occurrence,
        ..Adam::default()
    }
}

/// A shape, weights and samples of it.
fn problem() -> impl Strategy<Value = (Shape, Vec<f32>, Vec<u32>, Vec<bool>)> {
    let heads_and_width = prop_oneof![
        (
            Just(1_usize),
            prop_oneof![Just(4_usize), Just(8), Just(16), Just(32), 1_usize..40]
        ),
        (2_usize..5, 1_usize..8).prop_map(|(heads, d_head)| (heads, heads * d_head)),
    ];
    (heads_and_width, 2_u32..20, 1_usize..9, 1_usize..20).prop_flat_map(
        |((n_heads, d_model), vocab, positions, samples)| {
            let shape = Shape {
                vocab_size: vocab as usize,
                positions,
                d_model,
                n_heads,
            };
            let weights = prop::collection::vec(-0.6_f32..0.6, shape.parameter_count());
            let tokens =
                prop::collection::vec(1..vocab, samples * positions).prop_map(move |mut tokens| {
                    tokens
                        .iter_mut()
                        .step_by(positions)
                        .for_each(|first| *first = 0);
                    tokens
                });
            let labels = prop::collection::vec(any::<bool>(), samples);
            (Just(shape), weights, tokens, labels)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn forward_is_the_definition((shape, weights, tokens, labels) in problem()) {
        let exact: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
        let mut model = Model::new(shape, EPS as f32, adam(true), &weights).unwrap();
        let chosen: Vec<u32> = (0..labels.len() as u32).collect();
        let mut predictions = Predictions::default();
        model.predict(Samples { tokens: &tokens, labels: &labels }, &chosen, &mut predictions);
        for (sample, tokens) in tokens.chunks(shape.positions).enumerate() {
            let (logit, attention) = forward(shape, &exact, tokens);
            // With two features and fewer, the norm is close to a sign and amplifies rounding.
            let bound = if shape.d_model < 3 { 1e-2 } else { 1e-4 };
            prop_assert!((f64::from(predictions.logits[sample]) - logit).abs() < bound * (1.0 + logit.abs()));
            let row = &predictions.attention[sample * attention.len()..][..attention.len()];
            for (ours, exact) in row.iter().zip(attention) {
                prop_assert!((f64::from(*ours) - exact).abs() < 1e-6);
            }
            let probability = 1.0 / (1.0 + (-f64::from(predictions.logits[sample])).exp());
            prop_assert!((f64::from(predictions.probabilities[sample]) - probability).abs() < 1e-6);
        }
    }

    #[test]
    fn gradient_is_the_slope((shape, weights, tokens, labels) in problem()) {
        prop_assume!(shape.d_model >= 3); // See above: slopes of a sign.
        let exact: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
        let mut model = Model::new(shape, EPS as f32, adam(true), &weights).unwrap();
        let chosen: Vec<u32> = (0..labels.len() as u32).collect();
        let gradient = model.gradient(Samples { tokens: &tokens, labels: &labels }, &chosen);
        let here = loss(shape, &exact, &tokens, &labels);
        prop_assert!((f64::from(gradient.loss) - here).abs() < 1e-4 * (1.0 + here));
        // A spread of parameters from all of the model, its last ones among them.
        let count = weights.len();
        for index in (0..count).step_by(count / 40 + 1).chain(count.saturating_sub(5)..count) {
            let step = 1e-5;
            let at = |offset: f64| {
                let mut moved = exact.clone();
                moved[index] += offset;
                loss(shape, &moved, &tokens, &labels)
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            let ours = f64::from(gradient.values[index]);
            prop_assert!(
                (ours - slope).abs() < 2e-4 * (1.0 + slope.abs()),
                "parameter {index} of {shape:?}: {ours} beside {slope}"
            );
        }
    }
}

#[test]
fn squares_are_of_occurrences_or_of_sums() {
    let shape = Shape {
        vocab_size: 4,
        positions: 3,
        d_model: 8,
        n_heads: 1,
    };
    let weights: Vec<f32> = (0..shape.parameter_count())
        .map(|i| (i as f32 * 0.7).sin() / 3.0)
        .collect();
    let tokens = [0, 1, 1, 0, 2, 1, 0, 3, 3];
    let labels = [true, false, false];
    let samples = Samples {
        tokens: &tokens,
        labels: &labels,
    };
    let of = |per_occurrence, batch: &[u32]| {
        Model::new(shape, 1e-6, adam(per_occurrence), &weights)
            .unwrap()
            .gradient(samples, batch)
    };
    // Token by token: the gradient squared.
    let summed = of(false, &[0, 1, 2]);
    for (value, square) in summed.values.iter().zip(&summed.squares) {
        assert!((value * value - square).abs() <= f32::EPSILON * square);
    }
    // One by one: [CLS] stands once in each sample, so its squares are those of three batches of one
    // sample, each with a third of the loss.
    let apart = of(true, &[0, 1, 2]);
    assert_eq!(summed.values, apart.values);
    for i in 0..8 {
        let single: f32 = (0..3).map(|s| of(false, &[s]).squares[i] / 9.0).sum();
        assert!(
            (apart.squares[i] - single).abs() < 1e-5 * single,
            "{} {single}",
            apart.squares[i]
        );
    }
    assert_eq!(
        summed.squares[4 * 8..],
        apart.squares[4 * 8..],
        "only tokens differ"
    );
}
