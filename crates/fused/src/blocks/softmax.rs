//! The softmax of rows of scores, one sample per lane.

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, exp_of_negative, larger};

for_each_set! {
    /// Replaces rows of `keys` scores by their softmax over the keys where `may` is 1; all keys if `may` is empty. The
    /// rows of `may` are used again from the first. Without such a key a row is 0.
    pub(super) fn forward<'a>(rows: &'a mut [Lanes], keys: usize, may: &'a [Lanes]) {
        if may.is_empty() {
            for row in rows.chunks_exact_mut(keys) {
                softmax(row, None);
            }
        } else {
            for (row, may) in rows.chunks_exact_mut(keys).zip(may.chunks_exact(keys).cycle()) {
                softmax(row, Some(may));
            }
        }
    }
}

#[inline(always)]
fn softmax(row: &mut [Lanes], may: Option<&[Lanes]>) {
    if let Some(may) = may {
        for (score, may) in row.iter_mut().zip(may) {
            for l in 0..LANES {
                // Finite, since the softmax of a row of minus infinity would be 0 / 0.
                score[l] = if may[l] == 0.0 { f32::MIN } else { score[l] };
            }
        }
    }
    let mut most = [f32::MIN; LANES];
    for score in row.iter() {
        for l in 0..LANES {
            most[l] = larger(score[l], most[l]);
        }
    }
    let mut sum = ZERO;
    match may {
        None => {
            for score in row.iter_mut() {
                for l in 0..LANES {
                    score[l] = exp_of_negative(score[l] - most[l]);
                    sum[l] += score[l];
                }
            }
        }
        Some(may) => {
            for (score, may) in row.iter_mut().zip(may) {
                for l in 0..LANES {
                    score[l] = may[l] * exp_of_negative(score[l] - most[l]);
                    sum[l] += score[l];
                }
            }
        }
    }
    let mut share = ZERO;
    for l in 0..LANES {
        share[l] = if sum[l] == 0.0 { 0.0 } else { 1.0 / sum[l] };
    }
    for weight in row {
        for l in 0..LANES {
            weight[l] *= share[l];
        }
    }
}

for_each_set! {
    /// Replaces rows of gradients of weights by those of scores: `ds = a (da - Σ a da)`.
    pub(super) fn backward<'a>(weights: &'a [Lanes], gradient: &'a mut [Lanes], keys: usize) {
        for (weights, gradient) in weights.chunks_exact(keys).zip(gradient.chunks_exact_mut(keys)) {
            through_softmax(weights, gradient);
        }
    }
}

#[inline(always)]
fn through_softmax(weights: &[Lanes], gradient: &mut [Lanes]) {
    let gradient = &mut gradient[..weights.len()];
    let mut mean = ZERO;
    for (weight, gradient) in weights.iter().zip(gradient.iter()) {
        for l in 0..LANES {
            mean[l] += weight[l] * gradient[l];
        }
    }
    for (weight, gradient) in weights.iter().zip(gradient) {
        for l in 0..LANES {
            gradient[l] = weight[l] * (gradient[l] - mean[l]);
        }
    }
}
