//! Tests common claims about dot products, scaling and projections, by Monte Carlo simulation:
//!
//! ```sh
//! cargo run --release -p headlight-model --example claims
//! ```
//!
//! Queries and keys are independent normal numbers of variance 1. Intervals are 95% confidence intervals.
#![allow(clippy::expect_used)]

use burn::tensor::{Device, Tensor, TensorData};
use headlight_model::{attention_scores, attention_weights};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Keys per query.
const KEYS: usize = 16;
/// Sets of `KEYS` queries and as many keys.
const SETS: usize = 500;

fn main() {
    let mut normal = Normal(ChaCha8Rng::seed_from_u64(0), None);
    println!(
        "Unscaled scores, and scores scaled by 1 / sqrt(d_k). Entropy: of the softmax over {KEYS} keys, as a"
    );
    println!(
        "share of ln {KEYS}. Gradient: its norm at the scores if it is 1 at the weights. Faint: the"
    );
    println!("share of rows with a gradient below 0.01.\n");
    println!("| d_k | | variance | entropy | largest weight | gradient | faint |");
    println!("|---:|---|---:|---:|---:|---:|---:|");
    for d_k in [2, 4, 8, 16, 32, 64, 128, 256, 512] {
        let (query, key) = (normal.tensor(d_k), normal.tensor(d_k));
        for (name, factor) in [("unscaled", 1.0), ("scaled", 1.0 / (d_k as f64).sqrt())] {
            let scores = attention_scores(query.clone(), key.clone(), factor);
            println!(
                "| {d_k} | {name} | {} |",
                Saturation::of(scores, &mut normal)
            );
        }
    }

    println!(
        "\nWeight of a token on itself among {KEYS} (uniform: {:.3}), for x of variance 1: scores x x^T,",
        1.0 / KEYS as f64
    );
    println!(
        "and (x W_q)(x W_k)^T with random projections of variance 1 / d_model; both scaled by 1 / sqrt(d_model).\n"
    );
    println!("| d_model | without projections | with projections |");
    println!("|---:|---:|---:|");
    for d_model in [2, 4, 8, 16, 32, 64, 128] {
        let x = normal.tensor(d_model);
        let factor = 1.0 / (d_model as f64).sqrt();
        let bare = attention_weights(attention_scores(x.clone(), x.clone(), factor), None);
        let [query, key] = [(); 2].map(|()| {
            let projection = normal.numbers(SETS * d_model * d_model);
            let data = TensorData::new(projection, [SETS, 1, d_model, d_model]);
            let projection = Tensor::<4>::from_data(data, &Device::flex()) * factor;
            x.clone().matmul(projection)
        });
        let projected = attention_weights(attention_scores(query, key, factor), None);
        println!(
            "| {d_model} | {} | {} |",
            on_itself(bare),
            on_itself(projected)
        );
    }
}

/// How saturated the softmax of some scores is.
struct Saturation {
    variance: Estimate,
    entropy: Estimate,
    largest: Estimate,
    gradient: Estimate,
    faint: Estimate,
}

impl std::fmt::Display for Saturation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            variance,
            entropy,
            largest,
            gradient,
            faint,
        } = self;
        write!(
            f,
            "{variance} | {entropy} | {largest} | {gradient} | {faint}"
        )
    }
}

impl Saturation {
    fn of(scores: Tensor<4>, normal: &mut Normal) -> Self {
        let values = host(scores.clone());
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|score| (score - mean).powi(2));

        let leaf =
            Tensor::<4>::from_data(scores.into_data(), &Device::flex().autodiff()).require_grad();
        let weights = attention_weights(leaf.clone(), None);
        let rows = host(weights.clone().inner());
        let upstream = normal.directions();
        let upstream = TensorData::new(upstream, [SETS, 1, KEYS, KEYS]);
        let loss = (weights * Tensor::from_data(upstream, &Device::flex().autodiff())).sum();
        let gradient = host(leaf.grad(&loss.backward()).expect("the scores' gradient"));
        let of_rows =
            |values: &[f64], of: fn(&[f64]) -> f64| Estimate::of(values.chunks(KEYS).map(of));
        Self {
            variance: Estimate::of(squares),
            entropy: of_rows(&rows, |row| {
                let nats: f64 = row
                    .iter()
                    .map(|&w| if w > 0.0 { -w * w.ln() } else { 0.0 })
                    .sum();
                nats / (KEYS as f64).ln()
            }),
            largest: of_rows(&rows, |row| row.iter().copied().fold(0.0, f64::max)),
            gradient: of_rows(&gradient, norm),
            faint: of_rows(&gradient, |row| f64::from(u8::from(norm(row) < 0.01))),
        }
    }
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn on_itself(weights: Tensor<4>) -> Estimate {
    let weights = host(weights);
    let diagonal = weights
        .chunks(KEYS * KEYS)
        .flat_map(|matrix| (0..KEYS).map(|i| matrix[i * KEYS + i]));
    Estimate::of(diagonal)
}

fn host(tensor: Tensor<4>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// A mean with its 95% interval. Values of one set share keys, so the interval is computed from the means of sets.
struct Estimate {
    mean: f64,
    half_width: f64,
}

impl Estimate {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let sets = values.chunks(values.len() / SETS);
        let means: Vec<f64> = sets
            .map(|set| set.iter().sum::<f64>() / set.len() as f64)
            .collect();
        let mean = means.iter().sum::<f64>() / SETS as f64;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (SETS - 1) as f64;
        Self {
            mean,
            half_width: 1.96 * (variance / SETS as f64).sqrt(),
        }
    }
}

impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} ± {:.3}", self.mean, self.half_width)
    }
}

/// Normal numbers of variance 1, by Box and Muller's transform.
struct Normal(ChaCha8Rng, Option<f64>);

impl Normal {
    fn next(&mut self) -> f64 {
        if let Some(second) = self.1.take() {
            return second;
        }
        let mut unit = || (f64::from(self.0.next_u32()) + 0.5) / 4_294_967_296.0;
        let (radius, angle) = ((-2.0 * unit().ln()).sqrt(), std::f64::consts::TAU * unit());
        self.1 = Some(radius * angle.sin());
        radius * angle.cos()
    }

    fn numbers(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next() as f32).collect()
    }

    /// `[set, 1, KEYS, width]`
    fn tensor(&mut self, width: usize) -> Tensor<4> {
        let data = TensorData::new(self.numbers(SETS * KEYS * width), [SETS, 1, KEYS, width]);
        Tensor::from_data(data, &Device::flex())
    }

    /// A direction of length 1 for each row of weights. `[set, KEYS, KEYS]`
    fn directions(&mut self) -> Vec<f32> {
        let mut rows = self.numbers(SETS * KEYS * KEYS);
        for row in rows.chunks_mut(KEYS) {
            let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            for x in row {
                *x /= length;
            }
        }
        rows
    }
}
