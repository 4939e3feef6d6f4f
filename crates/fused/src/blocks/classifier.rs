//! The classifier of two classes: from the vectors that it reads to one logit each. Its weights are `[d_model, 1]`. With more
//! classes, it is a projection like any other.

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, map, one_at_a_time, zip};
use crate::vectors::rows_of_samples;

for_each_set! {
    /// `logit = bias + Σ_i output[i] weight[i]` of each row of `outputs`.
    pub(super) fn forward<'a, L>(
        outputs: &'a [Lanes<L>],
        width: usize,
        weight: &'a [f32],
        bias: f32,
        logits: &'a mut [Lanes<L>],
    ) {
        for (output, logit) in outputs.chunks_exact(width).zip(logits) {
            *logit = [bias; L];
            for (output, weight) in output.iter().zip(weight) {
                for l in 0..L {
                    logit[l] += weight * output[l];
                }
            }
        }
    }
}

for_each_set! {
    vectors,
    /// The gradient of each output; adds those of weight and bias. Rows are padded.
    pub(super) fn backward<'a, L>(
        outputs: &'a [Lanes<L>],
        width: usize,
        weight: &'a [f32],
        d_logits: &'a [Lanes<L>],
        gradients: &'a mut [Lanes<L>],
        d_weight: &'a mut [f32],
        d_bias: &'a mut f32,
    ) {
        for (gradient, d_logit) in gradients.chunks_exact_mut(width).zip(d_logits) {
            for (gradient, &weight) in gradient.iter_mut().zip(weight) {
                one_at_a_time();
                // A sum, which is never -0.
                *gradient = map(*d_logit, |d_logit| 0.0 + weight * d_logit);
            }
        }
        for part in 0..L / LANES {
            for (output, d_logit) in outputs.chunks_exact(width).zip(d_logits) {
                for (tile, output) in output.chunks_exact(LANES).enumerate() {
                    let mut products = [[0.0; L]; LANES];
                    for (product, output) in products.iter_mut().zip(output) {
                        *product = zip(*output, *d_logit, |output, d_logit| output * d_logit);
                    }
                    let mut sums = ZERO;
                    for row in rows_of_samples(vectors, &products, part) {
                        for i in 0..LANES {
                            sums[i] += row[i];
                        }
                    }
                    for (own, sum) in d_weight[tile * LANES..].iter_mut().zip(sums) {
                        *own += sum;
                    }
                }
                for d_logit in &d_logit[part * LANES..][..LANES] {
                    *d_bias += d_logit;
                }
            }
        }
    }
}
