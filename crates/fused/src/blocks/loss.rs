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

use super::Chunk;
use super::pass::Pass;
use crate::lanes::{Lanes, exp_of_negative, log, log_1p, zero_below};
use crate::samples::IGNORED;

impl<const L: usize> Pass<'_, L> {
    /// Probabilities, and losses without smoothing, of every answer.
    pub(super) fn assess(&mut self, chunk: Chunk<'_>) {
        let (n_logits, answers) = (self.architecture.n_logits(), self.answers());
        let of_sample = self.architecture.answers();
        let is_accurate = self.cross_entropy.is_accurate;
        let values = &mut *self.values;
        let logits = values.logits.chunks_exact(n_logits).take(answers);
        let probabilities = values.probabilities.chunks_exact_mut(n_logits);
        let outputs = logits.zip(probabilities).zip(values.losses.iter_mut());
        for (answer, ((logits, probabilities), losses)) in outputs.enumerate() {
            let labels: [u32; L] =
                core::array::from_fn(|lane| chunk.label(lane, answer, of_sample));
            match logits {
                [logit] => assess_one(logit, labels, &mut probabilities[0], losses),
                _ => assess_several(logits, labels, is_accurate, probabilities, losses),
            }
            for l in 0..L {
                losses[l] = if labels[l] == IGNORED { 0.0 } else { losses[l] };
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
        let values = &mut *self.values;
        let one_logit = n_logits == 1;
        let classes = if one_logit { 2 } else { n_logits };
        let (kept, even) = (1.0 - smoothing, smoothing / classes as f32);
        let rows = values.d_logits.chunks_exact_mut(n_logits).take(answers);
        for (answer, d_logits) in rows.enumerate() {
            let labels: [u32; L] =
                core::array::from_fn(|lane| chunk.label(lane, answer, of_sample));
            let probabilities = &values.probabilities[answer * n_logits..][..n_logits];
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
                    let probability = probabilities[k][l];
                    let gradient = if is_accurate && target > 0.5 {
                        let rest = if one_logit {
                            complement(values.logits[answer][l])
                        } else {
                            let others = probabilities.iter().enumerate();
                            let others = others.filter(|(other, _)| *other != k);
                            others.map(|(_, probability)| probability[l]).sum()
                        };
                        (smoothing - even) - rest
                    } else if smoothing == 0.0 {
                        probability - target
                    } else {
                        probability - (kept * target + even)
                    };
                    d_logit[l] = zero_below(1e-18, gradient * shares[l]);
                }
            }
        }
    }
}

/// The probability of class 1 and the loss, from one logit.
fn assess_one<const L: usize>(
    logit: &Lanes<L>,
    labels: [u32; L],
    probabilities: &mut Lanes<L>,
    losses: &mut Lanes<L>,
) {
    let labels = labels.map(|label| label as f32);
    for l in 0..L {
        let z = logit[l];
        let e = exp_of_negative(-z.abs());
        let part = 1.0 / (1.0 + e);
        probabilities[l] = if z < 0.0 { e * part } else { part };
        let positive = if z > 0.0 { z } else { 0.0 };
        losses[l] = positive - z * labels[l] + log_1p(e);
    }
}

/// The probability of each class and the loss, from a logit for each.
fn assess_several<const L: usize>(
    logits: &[Lanes<L>],
    labels: [u32; L],
    is_accurate: bool,
    probabilities: &mut [Lanes<L>],
    losses: &mut Lanes<L>,
) {
    let mut most = logits[0];
    for logit in logits {
        for l in 0..L {
            most[l] = if logit[l] > most[l] {
                logit[l]
            } else {
                most[l]
            };
        }
    }
    let mut sum = [0.0; L];
    for (logit, probability) in logits.iter().zip(&mut *probabilities) {
        for l in 0..L {
            probability[l] = exp_of_negative(logit[l] - most[l]);
            sum[l] += probability[l];
        }
    }
    for l in 0..L {
        if labels[l] == IGNORED {
            continue;
        }
        let label = labels[l] as usize;
        let own = logits[label][l];
        losses[l] = if is_accurate && own >= most[l] {
            let others = probabilities.iter().enumerate();
            let others = others.filter(|(k, _)| *k != label);
            let rest: f32 = others.map(|(_, exponential)| exponential[l]).sum();
            if rest > 1.0 {
                log(1.0 + rest)
            } else {
                log_1p(rest)
            }
        } else {
            most[l] - own + log(sum[l])
        };
    }
    for probability in probabilities {
        for l in 0..L {
            probability[l] /= sum[l];
        }
    }
}

/// `1 / (1 + e^z)`: the probability that class 1 lacks.
fn complement(z: f32) -> f32 {
    let e = exp_of_negative(-z.abs());
    let part = 1.0 / (1.0 + e);
    if z < 0.0 { part } else { e * part }
}
