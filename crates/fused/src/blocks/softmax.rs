//! The softmax of rows of scores, one sample per lane.

use crate::instructions::for_each_set;
use crate::lanes::{
    LANES, Lanes, ZERO, exp_of_negative, larger, map, one_at_a_time, zero_below, zip,
};

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

/// Weights below 1e-18 are 0: subnormal numbers would follow from them.
#[inline(always)]
fn exp_of_difference(score: f32, most: f32) -> f32 {
    zero_below(1e-18, exp_of_negative(score - most))
}

#[inline(always)]
fn softmax(row: &mut [Lanes], may: Option<&[Lanes]>) {
    if let Some(may) = may {
        for (score, may) in row.iter_mut().zip(may) {
            // Finite, since the softmax of a row of minus infinity would be 0 / 0.
            *score = zip(
                *score,
                *may,
                |score, may| {
                    if may == 0.0 { f32::MIN } else { score }
                },
            );
        }
    }
    let mut most = [f32::MIN; LANES];
    for score in row.iter() {
        most = zip(*score, most, larger);
    }
    let mut sum = ZERO;
    match may {
        None => {
            for score in row.iter_mut() {
                *score = zip(*score, most, exp_of_difference);
                sum = zip(sum, *score, |sum, weight| sum + weight);
            }
        }
        Some(may) => {
            for (score, may) in row.iter_mut().zip(may) {
                *score = zip(*score, most, exp_of_difference);
                *score = zip(*score, *may, |weight, may| weight * may);
                sum = zip(sum, *score, |sum, weight| sum + weight);
            }
        }
    }
    let share = map(sum, |sum| if sum == 0.0 { 0.0 } else { 1.0 / sum });
    for weight in row {
        *weight = zip(*weight, share, |weight, share| weight * share);
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
        one_at_a_time();
        let centred = zip(*gradient, mean, |gradient, mean| gradient - mean);
        *gradient = zip(*weight, centred, |weight, centred| {
            zero_below(1e-30, weight * centred)
        });
    }
}
