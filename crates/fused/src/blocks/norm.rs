//! Layer norm of each row: `gamma ⊙ n + beta`, `n = (r - mean(r)) rho`, `rho = 1 / sqrt(variance(r) + eps)`.

use super::values::NormValues;
use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, ZERO, sqrt};

for_each_set! {
    /// Normalises the first rows of `norm.normalized` in place, and writes them scaled and shifted to `norm.output`.
    pub(super) fn forward<'a>(
        norm: &'a mut NormValues,
        rows: usize,
        width: usize,
        gamma: &'a [f32],
        beta: &'a [f32],
        d: usize,
        eps: f32,
    ) {
        let share = 1.0 / d as f32;
        let (gamma, beta) = (&gamma[..d], &beta[..d]);
        for row in 0..rows {
            let values = &mut norm.normalized[row * width..][..d];
            let mut mean = ZERO;
            for value in values.iter() {
                for l in 0..LANES {
                    mean[l] += value[l];
                }
            }
            for l in 0..LANES {
                mean[l] *= share;
            }
            let mut variance = ZERO;
            for value in values.iter_mut() {
                for l in 0..LANES {
                    value[l] -= mean[l];
                    variance[l] += value[l] * value[l];
                }
            }
            let mut rstd = ZERO;
            for l in 0..LANES {
                rstd[l] = 1.0 / sqrt(variance[l] * share + eps);
            }
            norm.rstd[row] = rstd;
            let output = &mut norm.output[row * width..][..d];
            for i in 0..d {
                for l in 0..LANES {
                    values[i][l] *= rstd[l];
                    output[i][l] = values[i][l] * gamma[i] + beta[i];
                }
            }
        }
    }
}

for_each_set! {
    /// From the gradient of the output to that of the input, in place; adds those of gamma and beta.
    ///
    /// `dr = rho (dn - mean(dn) - n mean(dn · n))` with `dn = gamma ⊙ dy`.
    pub(super) fn backward<'a>(
        norm: &'a NormValues,
        rows: usize,
        width: usize,
        gamma: &'a [f32],
        d: usize,
        gradient: &'a mut [Lanes],
        d_gamma: &'a mut [f32],
        d_beta: &'a mut [f32],
    ) {
        let share = 1.0 / d as f32;
        let gamma = &gamma[..d];
        for i in 0..d {
            let (mut along, mut across) = (ZERO, ZERO);
            for row in 0..rows {
                let (dy, n) = (gradient[row * width + i], norm.normalized[row * width + i]);
                for l in 0..LANES {
                    along[l] += dy[l] * n[l];
                    across[l] += dy[l];
                }
            }
            for l in 0..LANES {
                d_gamma[i] += along[l];
                d_beta[i] += across[l];
            }
        }
        for row in 0..rows {
            let normalized = &norm.normalized[row * width..][..d];
            let gradient = &mut gradient[row * width..][..d];
            let (mut mean, mut along) = (ZERO, ZERO);
            for i in 0..d {
                for l in 0..LANES {
                    gradient[i][l] *= gamma[i];
                    mean[l] += gradient[i][l];
                    along[l] += gradient[i][l] * normalized[i][l];
                }
            }
            let rstd = norm.rstd[row];
            for l in 0..LANES {
                mean[l] *= share;
                along[l] *= share;
            }
            for i in 0..d {
                for l in 0..LANES {
                    gradient[i][l] = rstd[l] * (gradient[i][l] - mean[l] - normalized[i][l] * along[l]);
                }
            }
        }
    }
}
