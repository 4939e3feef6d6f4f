//! The softmax of rows of scores, one sample per lane.

use crate::lanes::{LANES, Lanes, ZERO, exp_of_negative, larger};

/// Replaces a row of scores by its softmax over the keys where `may` is 1. Without such a key the row is 0.
#[inline(always)]
pub(super) fn forward(row: &mut [Lanes], may: Option<&[Lanes]>) {
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

/// Replaces a row of gradients of weights by those of scores: `ds = a (da - Σ a da)`.
#[inline(always)]
pub(super) fn backward(weights: &[Lanes], gradient: &mut [Lanes]) {
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
