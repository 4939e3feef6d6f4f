//! Probabilities and cross-entropy of logits `z`, and the gradient of the loss by them.
//!
//! ```text
//! one logit:   p = 1 / (1 + e^-z),            loss = max(z, 0) - z y + log(1 + e^-|z|),   dz = p - y
//! several:     p_k = e^(z_k - m) / Σ ...,     loss = m - z_y + log Σ e^(z_k - m),         dz_k = p_k - [k = y]
//! ```
//!
//! with `m` the largest logit. Where the model is sure, `p - 1` and the loss round to 0 in float32. The accurate form has
//! the probabilities of the other classes instead: `dz_y = -Σ_{k≠y} p_k`, and, where `y` is the largest, the loss
//! `log(1 + Σ_{k≠y} e^(z_k - z_y))`.
//!
//! Answers whose label is [`IGNORED`] have no loss. Weights multiply the losses of answers, and so their gradients. With label smoothing `s`, the target of each of `K` classes is `s / K`, plus `1 - s` for the true one.

use std::ops::Range;

use crate::chunk::Chunk;
use crate::instructions::for_each_isa;
use crate::lanes::{
    Lanes, exp_of_negative, larger, log, log_1p, map, one_at_a_time, zero_below, zip,
};
use crate::pass::Pass;
use crate::samples::IGNORED;
use crate::training::CrossEntropy;

impl<const L: usize> Pass<'_, L> {
    /// Probabilities, and losses without smoothing, of every answer.
    pub(crate) fn compute_losses(&mut self, chunk: Chunk<'_>) {
        let (n_logits, answers) = (self.architecture.n_logits(), self.answers());
        let of_sample = self.architecture.answers();
        let (is_accurate, isa) = (self.cross_entropy.is_accurate, self.kernel.isa);
        let values = &mut self.values.answers;
        for answer in 0..answers {
            let (labels, range) = (chunk.labels(answer, of_sample), range(answer, n_logits));
            let logits = &values.logits[range.clone()];
            let (probabilities, losses) =
                (&mut values.probabilities[range], &mut values.losses[answer]);
            match logits {
                [logit] => compute_binary(isa, logit, labels, &mut probabilities[0], losses),
                _ => compute_categorical(isa, logits, labels, is_accurate, probabilities, losses),
            }
        }
        // Positions that are not computed have no answer.
        values.probabilities[answers * n_logits..].fill([0.0; L]);
        values.losses[answers..].fill([0.0; L]);
    }

    /// The share of each answer in the loss of its sample: 1 where the sum counts, else 1 over the number of answers that count.
    pub(crate) fn shares_of_answers(&self, chunk: Chunk<'_>) -> Lanes<L> {
        if !self.cross_entropy.per_sample {
            return [1.0; L];
        }
        let of_sample = self.architecture.answers();
        let mut counts = [0.0; L];
        for answer in 0..self.answers() {
            for (count, label) in counts.iter_mut().zip(chunk.labels::<L>(answer, of_sample)) {
                *count += if label == IGNORED { 0.0 } else { 1.0 };
            }
        }
        counts.map(|count| if count > 0.0 { 1.0 / count } else { 0.0 })
    }

    /// The loss of a lane that training lowers: the sum of weight times loss over its answers that count.
    pub(crate) fn training_loss(&self, chunk: Chunk<'_>, lane: usize) -> f32 {
        let (n_logits, of_sample) = (self.architecture.n_logits(), self.architecture.answers());
        let smoothing = self.cross_entropy.smoothing;
        let mut sum = 0.0;
        for answer in 0..self.answers() {
            let loss = self.values.answers.losses[answer][lane];
            let label = chunk.label(lane, answer, of_sample);
            if label == IGNORED {
                continue;
            }
            let weight = chunk.weight(lane, answer, of_sample);
            if smoothing == 0.0 {
                sum += weight * loss;
                continue;
            }
            // The mean over classes of the loss that each would have if it were the true one.
            let even = match &self.values.answers.logits[range(answer, n_logits)] {
                [logit] if label == 1 => loss + 0.5 * logit[lane],
                [logit] => loss - 0.5 * logit[lane],
                logits => {
                    let true_logit = logits[label as usize][lane];
                    let sum: f32 = logits.iter().map(|logit| true_logit - logit[lane]).sum();
                    loss + sum / logits.len() as f32
                }
            };
            sum += weight * ((1.0 - smoothing) * loss + smoothing * even);
        }
        sum
    }

    /// The gradients of the chunk's losses, each times its sample's share, by the logits.
    pub(crate) fn backward_losses(&mut self, chunk: Chunk<'_>, shares: Lanes<L>) {
        let (n_logits, answers) = (self.architecture.n_logits(), self.answers());
        let of_sample = self.architecture.answers();
        let (cross_entropy, isa) = (self.cross_entropy, self.kernel.isa);
        let values = &mut self.values.answers;
        for answer in 0..answers {
            let (mut labels, range) = (chunk.labels(answer, of_sample), range(answer, n_logits));
            labels[chunk.chosen.len()..].fill(IGNORED);
            let weight = |lane| shares[lane] * chunk.weight(lane, answer, of_sample);
            let shares = match chunk.samples.weights {
                None => shares,
                Some(_) => std::array::from_fn(weight),
            };
            let logits = &values.logits[range.clone()];
            let probabilities = &values.probabilities[range.clone()];
            let into = &mut values.d_logits[range];
            backward_answer(
                isa,
                cross_entropy,
                logits,
                probabilities,
                labels,
                shares,
                into,
            );
        }
    }
}

/// An answer's numbers among those of all answers, of which each has `count`.
fn range(answer: usize, count: usize) -> Range<usize> {
    answer * count..(answer + 1) * count
}

for_each_isa! {
    /// The gradient of an answer's loss by its logits, in each lane that has a label, times its share.
    fn backward_answer<'a, L>(
        cross_entropy: CrossEntropy, logits: &'a [Lanes<L>], probabilities: &'a [Lanes<L>], labels: [u32; L],
        shares: Lanes<L>, d_logits: &'a mut [Lanes<L>],
    ) {
        let CrossEntropy { smoothing, is_accurate, .. } = cross_entropy;
        let is_one = logits.len() == 1;
        let classes = if is_one { 2 } else { logits.len() };
        let (kept, even) = (1.0 - smoothing, smoothing / classes as f32);
        // A number, since the compiler makes loops over lanes of their own for a condition, and no vectors of these.
        let accurate = f32::from(u8::from(is_accurate));
        // What the true class lacks, accurately.
        let rest = match logits {
            [logit] => map(*logit, complement),
            _ => sum_of_others(probabilities, labels),
        };
        for (k, (d_logit, probability)) in d_logits.iter_mut().zip(probabilities).enumerate() {
            one_at_a_time();
            let class = if is_one { 1 } else { k as u32 };
            for l in 0..L {
                let target = if labels[l] == class { 1.0 } else { 0.0 };
                let plain = probability[l] - (kept * target + even);
                let gradient = if accurate * target > 0.5 { smoothing - even - rest[l] } else { plain };
                let gradient = zero_below(1e-18, gradient * shares[l]);
                d_logit[l] = if labels[l] == IGNORED { 0.0 } else { gradient };
            }
        }
    }
}

/// Sums over all classes but the labels'.
#[inline(always)]
fn sum_of_others<const L: usize>(values: &[Lanes<L>], labels: [u32; L]) -> Lanes<L> {
    let mut sum = [0.0; L];
    for (k, value) in values.iter().enumerate() {
        one_at_a_time();
        for l in 0..L {
            let counts = if labels[l] == k as u32 { 0.0 } else { 1.0 };
            sum[l] += counts * value[l];
        }
    }
    sum
}

for_each_isa! {
    /// The probability of class 1 and the loss, from one logit.
    fn compute_binary<'a, L>(
        logit: &'a Lanes<L>, labels: [u32; L], probabilities: &'a mut Lanes<L>, losses: &'a mut Lanes<L>,
    ) {
        for l in 0..L {
            let z = logit[l];
            let e = exp_of_negative(-z.abs());
            let part = 1.0 / (1.0 + e);
            probabilities[l] = if z < 0.0 { e * part } else { part };
            let positive = if z > 0.0 { z } else { 0.0 };
            let loss = positive - z * labels[l] as f32 + log_1p(e);
            losses[l] = if labels[l] == IGNORED { 0.0 } else { loss };
        }
    }
}

for_each_isa! {
    /// The probability of each class and the loss, from a logit for each.
    fn compute_categorical<'a, L>(
        logits: &'a [Lanes<L>], labels: [u32; L], is_accurate: bool, probabilities: &'a mut [Lanes<L>],
        losses: &'a mut Lanes<L>,
    ) {
        let mut most = logits[0];
        for logit in logits {
            one_at_a_time();
            most = zip(*logit, most, larger);
        }
        let mut sum = [0.0; L];
        for (logit, probability) in logits.iter().zip(&mut *probabilities) {
            one_at_a_time();
            *probability = zip(*logit, most, |logit, most| exp_of_negative(logit - most));
            sum = zip(sum, *probability, |sum, probability| sum + probability);
        }
        let mut true_logit = [0.0; L];
        for l in 0..L {
            let counts = labels[l] != IGNORED;
            true_logit[l] = if counts { logits[labels[l] as usize][l] } else { 0.0 };
        }
        for l in 0..L {
            let loss = most[l] - true_logit[l] + log(sum[l]);
            losses[l] = if labels[l] == IGNORED { 0.0 } else { loss };
        }
        if is_accurate {
            let rest = sum_of_others(probabilities, labels);
            for l in 0..L {
                let is_less = true_logit[l] < most[l];
                if labels[l] != IGNORED && !is_less {
                    losses[l] = if rest[l] > 1.0 { log(1.0 + rest[l]) } else { log_1p(rest[l]) };
                }
            }
        }
        for probability in probabilities {
            one_at_a_time();
            *probability = zip(*probability, sum, |probability, sum| probability / sum);
        }
    }
}

/// `1 / (1 + e^z)`: the probability that class 1 lacks.
#[inline(always)]
fn complement(z: f32) -> f32 {
    let e = exp_of_negative(-z.abs());
    let part = 1.0 / (1.0 + e);
    if z < 0.0 { part } else { e * part }
}
