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
//! With label smoothing `s`, the target of each of `K` classes is `s / K`, plus `1 - s` for the true one.

use super::Chunk;
use super::pass::Pass;
use crate::lanes::{LANES, ZERO, exp_of_negative, log, log_1p, zero_below};

impl Pass<'_> {
    /// Probabilities, and losses without smoothing.
    pub(super) fn assess(&mut self, chunk: Chunk<'_>) {
        let values = &mut *self.values;
        if values.logits.len() == 1 {
            let labels = chunk.labels().map(|label| label as f32);
            let logit = values.logits[0];
            for l in 0..LANES {
                let z = logit[l];
                let e = exp_of_negative(-z.abs());
                let part = 1.0 / (1.0 + e);
                values.probabilities[0][l] = if z < 0.0 { e * part } else { part };
                let positive = if z > 0.0 { z } else { 0.0 };
                let loss = positive - z * labels[l] + log_1p(e);
                values.losses[l] = loss;
            }
            return;
        }
        let mut most = values.logits[0];
        for logit in &values.logits {
            for l in 0..LANES {
                most[l] = if logit[l] > most[l] {
                    logit[l]
                } else {
                    most[l]
                };
            }
        }
        let mut sum = ZERO;
        for (logit, probability) in values.logits.iter().zip(&mut values.probabilities) {
            for l in 0..LANES {
                probability[l] = exp_of_negative(logit[l] - most[l]);
                sum[l] += probability[l];
            }
        }
        let labels = chunk.labels().map(|label| label as usize);
        for l in 0..LANES {
            let own = values.logits[labels[l]][l];
            values.losses[l] = if self.cross_entropy.is_accurate && own >= most[l] {
                let others = values.probabilities.iter().enumerate();
                let others = others.filter(|(k, _)| *k != labels[l]);
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
        for probability in &mut values.probabilities {
            for l in 0..LANES {
                probability[l] /= sum[l];
            }
        }
    }

    /// The loss of a lane that training lowers.
    pub(super) fn training_loss(&self, chunk: Chunk<'_>, lane: usize) -> f32 {
        let (loss, smoothing) = (self.values.losses[lane], self.cross_entropy.smoothing);
        if smoothing == 0.0 {
            return loss;
        }
        let label = chunk.labels()[lane];
        // The mean over classes of the loss that each would have if it were the true one.
        let even = match &self.values.logits[..] {
            [logit] if label == 1 => loss + 0.5 * logit[lane],
            [logit] => loss - 0.5 * logit[lane],
            logits => {
                let own = logits[label as usize][lane];
                let sum: f32 = logits.iter().map(|logit| own - logit[lane]).sum();
                loss + sum / logits.len() as f32
            }
        };
        (1.0 - smoothing) * loss + smoothing * even
    }

    /// Starts from the chunk's losses, each times `share`: leaves their gradients by the logits in `d_logits`.
    pub(super) fn start_from_losses(&mut self, chunk: Chunk<'_>, share: f32) {
        let values = &mut *self.values;
        let labels = chunk.labels();
        let one_logit = values.d_logits.len() == 1;
        let (is_accurate, smoothing) =
            (self.cross_entropy.is_accurate, self.cross_entropy.smoothing);
        let classes = if one_logit { 2 } else { values.d_logits.len() };
        let (kept, even) = (1.0 - smoothing, smoothing / classes as f32);
        for k in 0..values.d_logits.len() {
            values.d_logits[k] = ZERO;
            for l in 0..chunk.chosen.len() {
                let target = if one_logit {
                    labels[l] as f32
                } else {
                    f32::from(u8::from(labels[l] as usize == k))
                };
                let probability = values.probabilities[k][l];
                let gradient = if is_accurate && target > 0.5 {
                    let rest = if one_logit {
                        complement(values.logits[0][l])
                    } else {
                        let others = values.probabilities.iter().enumerate();
                        let others = others.filter(|(other, _)| *other != k);
                        others.map(|(_, probability)| probability[l]).sum()
                    };
                    (smoothing - even) - rest
                } else if smoothing == 0.0 {
                    probability - target
                } else {
                    probability - (kept * target + even)
                };
                values.d_logits[k][l] = zero_below(1e-18, gradient * share);
            }
        }
    }
}

/// `1 / (1 + e^z)`: the probability that class 1 lacks.
fn complement(z: f32) -> f32 {
    let e = exp_of_negative(-z.abs());
    let part = 1.0 / (1.0 + e);
    if z < 0.0 { part } else { e * part }
}
