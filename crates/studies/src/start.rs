//! What the initial weights of the notebook's model say of its training.

use std::sync::Arc;

use headlight_data::{Dataset, Splits};
use headlight_experiment::Experiment;
use headlight_experiment::config::ExperimentConfig;

/// What the initial weights of a seed say. Vectors have `d_model` numbers.
pub(crate) struct Start {
    /// By how much the logit moves with the input of a position, under even attention.
    value: Vec<f64>,
    /// By how much the score of a key moves with its input.
    score: Vec<f64>,
    /// The sum of token 42's and position 3's embeddings, less the mean input.
    own: Vec<f64>,
    /// Position 3's embedding, less the mean of positions.
    place: Vec<f64>,
    /// Token 42's, less the mean of tokens.
    token: Vec<f64>,
    /// `[CLS]`'s input, less the mean input.
    reader: Vec<f64>,
    /// The standard deviation before the norm.
    deviation: f64,
    classifier: Vec<f64>,
}

/// A feature: its name, and its value.
pub(crate) type Feature = (&'static str, fn(&Start) -> f64);

pub(crate) const FEATURES: [Feature; 13] = [
    ("value of the token at the position", |start| {
        product(&start.own, &start.value)
    }),
    ("value of the position", |start| {
        product(&start.place, &start.value)
    }),
    ("value of the token", |start| {
        product(&start.token, &start.value)
    }),
    ("score of the token at the position", |start| {
        product(&start.own, &start.score)
    }),
    ("score of the position", |start| {
        product(&start.place, &start.score)
    }),
    ("score of the token", |start| {
        product(&start.token, &start.score)
    }),
    ("value of [CLS]", |start| {
        product(&start.reader, &start.value)
    }),
    ("score of [CLS]", |start| {
        product(&start.reader, &start.score)
    }),
    ("value direction, logarithm of its length", |start| {
        length(&start.value).ln()
    }),
    ("score direction, logarithm of its length", |start| {
        length(&start.score).ln()
    }),
    ("cosine of the two directions", |start| {
        product(&start.value, &start.score) / (length(&start.value) * length(&start.score))
    }),
    ("deviation before the norm, logarithm", |start| {
        start.deviation.ln()
    }),
    ("classifier, logarithm of its length", |start| {
        length(&start.classifier).ln()
    }),
];

impl Start {
    /// Of a seed; `None` if the config is none of the notebook's model.
    pub(crate) fn of(config: &ExperimentConfig, seed: u64) -> Option<Self> {
        let empty = || Dataset::empty(config.data.seq_len, config.data.cls);
        let splits = Splits {
            train: empty(),
            held_out: empty(),
            tests: Vec::new(),
            texts: None,
        };
        let config = ExperimentConfig {
            seed,
            ..config.clone()
        };
        let experiment = Experiment::new(config, Arc::new(splits), None).ok()?;
        let parameter = |name: &str| -> Option<Vec<f64>> {
            let found = experiment
                .start
                .iter()
                .find(|parameter| parameter.name == name)?;
            Some(found.values.iter().map(|&value| f64::from(value)).collect())
        };
        let [tokens, positions] = [
            parameter("token_embedding")?,
            parameter("position_embedding")?,
        ];
        let width = experiment.config.model.d_model;
        let matrix = |name: &str| parameter(&format!("blocks.0.attention.{name}.weight"));
        let [query, key, value, output] = ["query", "key", "value", "output"].map(matrix);
        let (query, key, value, output) = (query?, key?, value?, output?);
        let classifier = parameter("classifier.weight")?;
        let mean = |rows: &[f64]| -> Vec<f64> {
            let count = (rows.len() / width) as f64;
            (0..width)
                .map(|i| rows.iter().skip(i).step_by(width).sum::<f64>() / count)
                .collect()
        };
        let row = |rows: &[f64], index: usize| rows[index * width..][..width].to_vec();
        let (token_mean, place_mean) = (mean(&tokens[width..]), mean(&positions[width..]));
        let reader = sum(&row(&tokens, 0), &row(&positions, 0), 1.0);
        let other = sum(&token_mean, &place_mean, 1.0);
        let places = positions.len() / width;
        let input: Vec<f64> = reader
            .iter()
            .zip(&other)
            .map(|(reader, other)| (reader + other * (places - 1) as f64) / places as f64)
            .collect();
        let query = times(&reader, &query);
        let score = transposed_times(&key, &query);
        let score: Vec<f64> = score
            .iter()
            .map(|score| score / (width as f64).sqrt())
            .collect();
        let residual = sum(&reader, &times(&times(&input, &value), &output), 1.0);
        let middle = residual.iter().sum::<f64>() / width as f64;
        let centred: Vec<f64> = residual.iter().map(|x| x - middle).collect();
        let deviation = (product(&centred, &centred) / width as f64 + 1e-6).sqrt();
        let normal: Vec<f64> = centred.iter().map(|x| x / deviation).collect();
        // Through the norm, the output matrix and the value matrix.
        let mean_of_classifier = classifier.iter().sum::<f64>() / width as f64;
        let along = product(&normal, &classifier) / width as f64;
        let through: Vec<f64> = classifier
            .iter()
            .zip(&normal)
            .map(|(c, n)| (c - mean_of_classifier - n * along) / deviation)
            .collect();
        let direction = transposed_times(&value, &transposed_times(&output, &through));
        Some(Self {
            value: direction,
            score,
            own: sum(
                &sum(&row(&tokens, 42), &row(&positions, 3), 1.0),
                &input,
                -1.0,
            ),
            place: sum(&row(&positions, 3), &place_mean, -1.0),
            token: sum(&row(&tokens, 42), &token_mean, -1.0),
            reader: sum(&reader, &input, -1.0),
            deviation,
            classifier,
        })
    }

    /// The values of [`FEATURES`].
    pub(crate) fn features(&self) -> Vec<f64> {
        FEATURES.iter().map(|(_, value)| value(self)).collect()
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(a: &[f64]) -> f64 {
    product(a, a).sqrt()
}

fn sum(a: &[f64], b: &[f64], factor: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

/// `x W`, with `W` `[in, out]`.
fn times(x: &[f64], matrix: &[f64]) -> Vec<f64> {
    let width = matrix.len() / x.len();
    let column = |o: usize| {
        x.iter()
            .enumerate()
            .map(|(i, x)| x * matrix[i * width + o])
            .sum()
    };
    (0..width).map(column).collect()
}

/// `W y`, with `W` `[in, out]`.
fn transposed_times(matrix: &[f64], y: &[f64]) -> Vec<f64> {
    matrix.chunks(y.len()).map(|row| product(row, y)).collect()
}
