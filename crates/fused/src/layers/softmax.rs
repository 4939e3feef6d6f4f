//! From rows of scores to rows of weights, one sample per lane: their softmax, or what stands in its place.

use crate::instructions::for_each_isa;
use crate::lanes::{Lanes, exp_of_negatives, larger, map, one_at_a_time, zero_below, zip};

for_each_isa! {
    /// Replaces rows of `keys` scores by their softmax over the keys where `allowed` is 1; all keys if `allowed` is empty. The
    /// rows of `allowed` are used again from the first. Without such a key a row is 0; with one whose score is NaN, or whose scores all
    /// are minus infinity, it is NaN, as in Burn.
    pub(crate) fn forward<'a, L>(rows: &'a mut [Lanes<L>], keys: usize, allowed: &'a [Lanes<L>]) {
        if allowed.is_empty() {
            for row in rows.chunks_exact_mut(keys) {
                softmax(row, None);
            }
        } else {
            for (row, allowed) in rows.chunks_exact_mut(keys).zip(allowed.chunks_exact(keys).cycle()) {
                softmax(row, Some(allowed));
            }
        }
    }
}

/// Keys whose exponentials are computed together. A page, whose code must be small, has one after the other.
const TOGETHER: usize = if cfg!(target_arch = "wasm32") { 1 } else { 8 };

/// Replaces scores by their exponentials over that of the largest score, a sample per lane, and adds them to the sum. Those below
/// 1e-18 are 0: subnormal numbers would follow from them.
#[inline(always)]
fn exponentials<const L: usize, const N: usize>(
    scores: &mut [Lanes<L>; N],
    most: Lanes<L>,
    allowed: Option<&[Lanes<L>; N]>,
    sum: &mut Lanes<L>,
) {
    one_at_a_time();
    for l in 0..L {
        let mut column = [0.0; N];
        for n in 0..N {
            column[n] = scores[n][l] - most[l];
        }
        column = map(exp_of_negatives(column), |weight| zero_below(1e-18, weight));
        for n in 0..N {
            scores[n][l] = column[n];
        }
    }
    if let Some(allowed) = allowed {
        for n in 0..N {
            scores[n] = zip(scores[n], allowed[n], |weight, allowed| weight * allowed);
        }
    }
    for weight in scores {
        *sum = zip(*sum, *weight, |sum, weight| sum + weight);
    }
}

/// The largest of each lane, in four parts: a maximum by itself waits for the one before.
#[inline(always)]
fn largest<const L: usize>(values: &[Lanes<L>]) -> Lanes<L> {
    let mut most = [[f32::MIN; L]; 4];
    let (fours, rest) = values.as_chunks::<4>();
    for four in fours {
        for (most, value) in most.iter_mut().zip(four) {
            *most = zip(*value, *most, larger);
        }
    }
    for value in rest {
        most[0] = zip(*value, most[0], larger);
    }
    let [a, b, c, d] = most;
    zip(zip(a, b, larger), zip(c, d, larger), larger)
}

#[inline(always)]
fn softmax<const L: usize>(row: &mut [Lanes<L>], allowed: Option<&[Lanes<L>]>) {
    // 1 where a query may look at a key.
    let mut has_key = [if allowed.is_some() { 0.0 } else { 1.0 }; L];
    if let Some(allowed) = allowed {
        for (score, allowed) in row.iter_mut().zip(allowed) {
            one_at_a_time();
            has_key = zip(has_key, *allowed, larger);
            // Finite, since the softmax of a row of minus infinity would be 0 / 0.
            let hide = |score, allowed| if allowed == 0.0 { f32::MIN } else { score };
            *score = zip(*score, *allowed, hide);
        }
    }
    let most = largest(row);
    let mut sum = [0.0; L];
    let (together, rest) = row.as_chunks_mut::<TOGETHER>();
    let (allowed, allowed_rest) = allowed.unwrap_or_default().as_chunks::<TOGETHER>();
    for (index, scores) in together.iter_mut().enumerate() {
        exponentials(scores, most, allowed.get(index), &mut sum);
    }
    for (index, score) in rest.iter_mut().enumerate() {
        let allowed = allowed_rest.get(index).map(std::array::from_ref);
        exponentials(std::array::from_mut(score), most, allowed, &mut sum);
    }
    let inverse = |sum, has_key| if has_key == 0.0 { 0.0 } else { 1.0 / sum };
    let share = zip(sum, has_key, inverse);
    for weight in row {
        one_at_a_time();
        *weight = zip(*weight, share, |weight, share| weight * share);
    }
}

for_each_isa! {
    /// Replaces rows of gradients of weights by those of scores: `ds = a (da - Σ a da)`.
    pub(crate) fn backward<'a, L>(weights: &'a [Lanes<L>], gradient: &'a mut [Lanes<L>], keys: usize) {
        for (weights, gradient) in weights.chunks_exact(keys).zip(gradient.chunks_exact_mut(keys)) {
            backward_row(weights, gradient);
        }
    }
}

#[inline(always)]
fn backward_row<const L: usize>(weights: &[Lanes<L>], gradient: &mut [Lanes<L>]) {
    let gradient = &mut gradient[..weights.len()];
    let mut mean = [0.0; L];
    for (weight, gradient) in weights.iter().zip(gradient.iter()) {
        for l in 0..L {
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

for_each_isa! {
    /// Weights of a softmax, mixed with constant ones: `share a + 1 - share` for each key that a query may look at. The rows
    /// of `allowed` are used again from the first; all keys if it is empty.
    pub(crate) fn mix<'a, L>(softmax: &'a [Lanes<L>], share: f32, keys: usize, allowed: &'a [Lanes<L>], weights: &'a mut [Lanes<L>]) {
        let rest = 1.0 - share;
        let rows = softmax.chunks_exact(keys).zip(weights.chunks_exact_mut(keys)).enumerate();
        for (row, (softmax, weights)) in rows {
            for (key, (a, weight)) in softmax.iter().zip(weights).enumerate() {
                one_at_a_time();
                let allowed = if allowed.is_empty() { [1.0; L] } else { allowed[(row * keys + key) % allowed.len()] };
                *weight = zip(*a, allowed, |a, allowed| share * a + rest * allowed);
            }
        }
    }
}
