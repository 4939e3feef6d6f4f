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
//! Answers whose label is [`IGNORED`] have no loss. With label smoothing `s`, the target of each of `K` classes is `s / K`, plus `1 - s` for the true one.

use super::chunk::Chunk;
use super::pass::Pass;
use crate::instructions::for_each_set;
use crate::lanes::{Lanes, exp_of_negative, larger, log, log_1p, one_at_a_time, zero_below, zip};
use crate::samples::IGNORED;

impl<const L: usize> Pass<'_, L> {
    /// Probabilities, and losses without smoothing, of every answer.
    pub(super) fn assess(&mut self, chunk: Chunk<'_>) {
        let (n_logits, answers) = (self.architecture.n_logits(), self.answers());
        let of_sample = self.architecture.answers();
        let (is_accurate, set) = (self.cross_entropy.is_accurate, self.instructions);
        let values = &mut *self.values;
        let logits = values.logits.chunks_exact(n_logits).take(answers);
        let probabilities = values.probabilities.chunks_exact_mut(n_logits);
        let outputs = logits.zip(probabilities).zip(values.losses.iter_mut());
        for (answer, ((logits, probabilities), losses)) in outputs.enumerate() {
            let labels = core::array::from_fn(|lane| chunk.label(lane, answer, of_sample));
            match logits {
                [logit] => assess_one(set, logit, labels, &mut probabilities[0], losses),
                _ => assess_several(set, logits, labels, is_accurate, probabilities, losses),
            }
        }
        // Positions that are not computed have no answer.
        values.probabilities[answers * n_logits..].fill([0.0; L]);
        values.losses[answers..].fill([0.0; L]);
    }

    /// The share of each answer in the loss of its sample: 1 where the sum counts, else 1 over the number of answers that count.
    pub(super) fn shares_of_answers(&self, chunk: Chunk<'_>) -> Lanes<L> {
        if !self.cross_entropy.per_sample {
            return [1.0; L];
        }
        let of_sample = self.architecture.answers();
        let mut counts = [0.0; L];
        for answer in 0..self.answers() {
            let labels: [u32; L] =
                core::array::from_fn(|lane| chunk.label(lane, answer, of_sample));
            for l in 0..L {
                counts[l] += if labels[l] == IGNORED { 0.0 } else { 1.0 };
            }
        }
        counts.map(|count| if count > 0.0 { 1.0 / count } else { 0.0 })
    }

    /// The loss of a lane that training lowers: the sum over its answers that count.
    pub(super) fn training_loss(&self, chunk: Chunk<'_>, lane: usize) -> f32 {
        let (n_logits, of_sample) = (self.architecture.n_logits(), self.architecture.answers());
        let smoothing = self.cross_entropy.smoothing;
        let mut sum = 0.0;
        for answer in 0..self.answers() {
            let loss = self.values.losses[answer][lane];
            let label = chunk.label(lane, answer, of_sample);
            if label == IGNORED {
                continue;
            }
            if smoothing == 0.0 {
                sum += loss;
                continue;
            }
            // The mean over classes of the loss that each would have if it were the true one.
            let even = match &self.values.logits[answer * n_logits..][..n_logits] {
                [logit] if label == 1 => loss + 0.5 * logit[lane],
                [logit] => loss - 0.5 * logit[lane],
                logits => {
                    let own = logits[label as usize][lane];
                    let sum: f32 = logits.iter().map(|logit| own - logit[lane]).sum();
                    loss + sum / logits.len() as f32
                }
            };
            sum += (1.0 - smoothing) * loss + smoothing * even;
        }
        sum
    }

    /// Starts from the chunk's losses, each times its sample's share: leaves their gradients by the logits in `d_logits`.
    pub(super) fn start_from_losses(&mut self, chunk: Chunk<'_>, shares: Lanes<L>) {
        let (n_logits, answers) = (self.architecture.n_logits(), self.answers());
        let of_sample = self.architecture.answers();
        let (is_accurate, smoothing) =
            (self.cross_entropy.is_accurate, self.cross_entropy.smoothing);
        let set = self.instructions;
        let values = &mut *self.values;
        let one_logit = n_logits == 1;
        let classes = if one_logit { 2 } else { n_logits };
        let (kept, even) = (1.0 - smoothing, smoothing / classes as f32);
        let rows = values.d_logits.chunks_exact_mut(n_logits).take(answers);
        for (answer, d_logits) in rows.enumerate() {
            let labels: [u32; L] =
                core::array::from_fn(|lane| chunk.label(lane, answer, of_sample));
            let own = answer * n_logits..(answer + 1) * n_logits;
            let found = (&values.logits[own.clone()], &values.probabilities[own]);
            if smoothing == 0.0 && !is_accurate {
                start_from_answer(set, found.1, labels, chunk.chosen.len(), shares, d_logits);
                continue;
            }
            for (k, d_logit) in d_logits.iter_mut().enumerate() {
                *d_logit = [0.0; L];
                for l in 0..chunk.chosen.len() {
                    if labels[l] == IGNORED {
                        continue;
                    }
                    let target = if one_logit {
                        labels[l] as f32
                    } else {
                        f32::from(u8::from(labels[l] as usize == k))
                    };
                    let gradient = if is_accurate && target > 0.5 {
                        let rest = if one_logit {
                            complement(found.0[0][l])
                        } else {
                            let others = found.1.iter().enumerate();
                            let others = others.filter(|(other, _)| *other != k);
                            others.map(|(_, probability)| probability[l]).sum()
                        };
                        (smoothing - even) - rest
                    } else if smoothing == 0.0 {
                        found.1[k][l] - target
                    } else {
                        found.1[k][l] - (kept * target + even)
                    };
                    d_logit[l] = zero_below(1e-18, gradient * shares[l]);
                }
            }
        }
    }
}

for_each_set! {
    /// The gradient of an answer's loss by its logits, `p - y`, in each of the first `count` lanes that has a label, times its
    /// share.
    fn start_from_answer<'a, L>(
        probabilities: &'a [Lanes<L>],
        labels: [u32; L],
        count: usize,
        shares: Lanes<L>,
        d_logits: &'a mut [Lanes<L>],
    ) {
        let is_one = probabilities.len() == 1;
        let mut counts = [false; L];
        for l in 0..L {
            counts[l] = l < count && labels[l] != IGNORED;
        }
        for (k, (d_logit, probability)) in d_logits.iter_mut().zip(probabilities).enumerate() {
            one_at_a_time();
            let class = if is_one { 1 } else { k as u32 };
            for l in 0..L {
                let target = if labels[l] == class { 1.0 } else { 0.0 };
                let gradient = zero_below(1e-18, (probability[l] - target) * shares[l]);
                d_logit[l] = if counts[l] { gradient } else { 0.0 };
            }
        }
    }
}

for_each_set! {
    /// The probability of class 1 and the loss, from one logit.
    fn assess_one<'a, L>(
        logit: &'a Lanes<L>,
        labels: [u32; L],
        probabilities: &'a mut Lanes<L>,
        losses: &'a mut Lanes<L>,
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

for_each_set! {
    /// The probability of each class and the loss, from a logit for each.
    fn assess_several<'a, L>(
        logits: &'a [Lanes<L>],
        labels: [u32; L],
        is_accurate: bool,
        probabilities: &'a mut [Lanes<L>],
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
        let mut own = [0.0; L];
        for l in 0..L {
            let counts = labels[l] != IGNORED;
            own[l] = if counts { logits[labels[l] as usize][l] } else { 0.0 };
        }
        for l in 0..L {
            let loss = most[l] - own[l] + log(sum[l]);
            losses[l] = if labels[l] == IGNORED { 0.0 } else { loss };
        }
        for l in 0..if is_accurate { L } else { 0 } {
            if labels[l] == IGNORED || own[l] < most[l] {
                continue;
            }
            let others = probabilities.iter().enumerate();
            let others = others.filter(|(k, _)| *k != labels[l] as usize);
            let rest: f32 = others.map(|(_, exponential)| exponential[l]).sum();
            losses[l] = if rest > 1.0 {
                log(1.0 + rest)
            } else {
                log_1p(rest)
            };
        }
        for probability in probabilities {
            one_at_a_time();
            *probability = zip(*probability, sum, |probability, sum| probability / sum);
        }
    }
}

/// `1 / (1 + e^z)`: the probability that class 1 lacks.
fn complement(z: f32) -> f32 {
    let e = exp_of_negative(-z.abs());
    let part = 1.0 / (1.0 + e);
    if z < 0.0 { part } else { e * part }
}
