//! Gradient symmetricity (Zhong et al. 2023, "The Clock and the Pizza", arXiv 2306.17844).
//!
//! ```text
//! mean over (a, b, c) of cos(∂z_c / ∂e_a, ∂z_c / ∂e_b)    at the sample of the numbers a and b
//! ```
//!
//! with `z_c` the logit of class c and `e` the embeddings of the tokens. The authors take the first 100 of all triples in a random
//! order; here each of 100 is drawn by itself, from a stream of its own with `data.seed`, so that the runs of a sweep are
//! measured on the same ones.

use headlight_data::Stream;

use super::info::MeasureInfo;
use super::subject::Subject;
use super::sums::Sums;
use super::value::Measured;
use crate::config::ExperimentConfig;
use crate::error::Error;

pub(super) static INFO: MeasureInfo = MeasureInfo {
    decimals: 3,
    range: [-1.0, 1.0],
    is_per_head: false,
    check,
    value,
};

/// The triples (a, b, c).
const TRIPLES: usize = 100;

fn check(config: &ExperimentConfig) -> Result<(), String> {
    Sums::of(config).map(|_| ())
}

fn value(subject: &mut Subject<'_>) -> Result<Measured, Error> {
    let config = subject.config;
    let sums = Sums::of(config).map_err(Error::Input)?;
    let mut number = Stream::Measures.numbers(config.data.seed);
    let triples: Vec<[u32; 3]> = (0..TRIPLES)
        .map(|_| [(); 3].map(|()| number(sums.modulus)))
        .collect();
    let samples = triples.iter().map(|&[a, b, _]| sums.sample([a, b]));
    let samples = config.unlabelled(samples).map_err(Error::Input)?;
    let n_logits = subject.frozen.logits();
    let mut slopes = vec![0.0; TRIPLES * n_logits];
    for (slopes, &[_, _, class]) in slopes.chunks_mut(n_logits).zip(&triples) {
        // One logit stands for both classes. Its sign does not change the cosine.
        slopes[(class as usize).min(n_logits - 1)] = 1.0;
    }
    let chosen: Vec<u32> = (0..TRIPLES as u32).collect();
    let gradients =
        subject
            .frozen
            .token_gradients(subject.weights, &samples, &chosen, &slopes, false)?;
    let width = config.model.d_model;
    let (mut sum, mut count) = (0.0, 0_usize);
    for sample in gradients.chunks(samples.positions() * width) {
        let of = |position: usize| &sample[position * width..][..width];
        if let Some(cosine) = cosine(of(sums.positions[0]), of(sums.positions[1])) {
            sum += cosine;
            count += 1;
        }
    }
    Ok((count > 0).then(|| sum / count as f64).into())
}

/// `None` if a vector is 0.
fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    let product = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let lengths = product(a, a).sqrt() * product(b, b).sqrt();
    (lengths > 0.0).then(|| product(a, b) / lengths)
}
