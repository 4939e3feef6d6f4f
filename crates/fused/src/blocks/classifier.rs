//! The classifier: from the output of `[CLS]` to logits. Its weights are `[d_model, logits]`.

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, one_at_a_time};

for_each_set! {
    /// `logits[k] = bias[k] + Σ_i output[i] weight[i, k]`
    pub(super) fn forward<'a>(
        output: &'a [Lanes],
        weight: &'a [f32],
        bias: &'a [f32],
        logits: &'a mut [Lanes],
    ) {
        let count = logits.len();
        for k in 0..count {
            let mut logit = [bias[k]; LANES];
            for (output, weight) in output.iter().zip(weight[k..].iter().step_by(count)) {
                for l in 0..LANES {
                    logit[l] += weight * output[l];
                }
            }
            logits[k] = logit;
        }
    }
}

for_each_set! {
    transpose,
    /// The gradient of the output; adds those of weight and bias. `gradient` has a padded row.
    pub(super) fn backward<'a>(
        output: &'a [Lanes],
        weight: &'a [f32],
        d_logits: &'a [Lanes],
        gradient: &'a mut [Lanes],
        d_weight: &'a mut [f32],
        d_bias: &'a mut [f32],
    ) {
        let count = d_logits.len();
        gradient.fill(ZERO);
        for (k, d_logit) in d_logits.iter().enumerate() {
            let (outputs, gradients) = (output.chunks(LANES), gradient.chunks_mut(LANES));
            for (tile, (output, gradient)) in outputs.zip(gradients).enumerate() {
                let mut products = [ZERO; LANES];
                for (i, output) in output.iter().enumerate() {
                    one_at_a_time();
                    let weight = weight[(tile * LANES + i) * count + k];
                    let mut sum = gradient[i];
                    for l in 0..LANES {
                        sum[l] += weight * d_logit[l];
                        products[i][l] = output[l] * d_logit[l];
                    }
                    gradient[i] = sum;
                }
                let mut sums = ZERO;
                for row in transpose(products) {
                    for i in 0..LANES {
                        sums[i] += row[i];
                    }
                }
                for (i, sum) in sums[..output.len()].iter().enumerate() {
                    d_weight[(tile * LANES + i) * count + k] += sum;
                }
            }
            for d_logit in d_logit {
                d_bias[k] += d_logit;
            }
        }
    }
}
