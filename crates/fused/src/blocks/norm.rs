//! Layer norm of each row: `gamma ⊙ n + beta`, `n = (r - mean(r)) rho`, `rho = 1 / sqrt(variance(r) + eps)`. RMS norm is
//! the same with a mean of 0, in both directions.

use super::additions::Gradients;
use super::kernel::Kernel;
use super::values::NormValues;
use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes, map, one_at_a_time, zip};
use crate::places::Norm;
use crate::vectors::rows_of_samples;

/// Normalises the first rows of `input`, or those that the values of the norm already have.
pub(super) fn normalize<const L: usize>(
    k: Kernel<'_>,
    values: &mut NormValues<L>,
    input: Option<&[Lanes<L>]>,
    rows: usize,
    place: Norm,
) {
    if let Some(input) = input {
        values.normalized[..input.len()].copy_from_slice(input);
    }
    let [gamma, beta] = [place.gamma, place.beta].map(|place| k.numbers(place));
    forward(
        k.set,
        values,
        [rows, k.width, k.d],
        gamma,
        beta,
        k.eps,
        k.is_rms,
    );
}

/// From the gradient of a norm's output to that of its input, in place; adds that of its parameters.
pub(super) fn through<const L: usize>(
    k: Kernel<'_>,
    values: &NormValues<L>,
    place: Norm,
    gradient: &mut [Lanes<L>],
    gradients: &mut Gradients<'_>,
) {
    let sizes = [gradient.len() / k.width, k.width, k.d];
    gradients.samples(L, [place.gamma, place.beta], |samples| {
        of_parameters(k.set, values, sizes, gradient, samples);
    });
    backward(
        k.set,
        values,
        sizes,
        k.numbers(place.gamma),
        gradient,
        k.is_rms,
    );
}

for_each_set! {
    /// Normalises the first rows of `norm.normalized` in place, and writes them scaled and shifted to `norm.output`.
    fn forward<'a, L>(
        norm: &'a mut NormValues<L>,
        sizes: [usize; 3],
        gamma: &'a [f32],
        beta: &'a [f32],
        eps: f32,
        is_rms: bool,
    ) {
        let [rows, width, d] = sizes;
        let share = 1.0 / d as f32;
        let (gamma, beta) = (&gamma[..d], &beta[..d]);
        for row in 0..rows {
            let values = &mut norm.normalized[row * width..][..d];
            let mut mean = [0.0; L];
            for value in values.iter() {
                for l in 0..L {
                    mean[l] += value[l];
                }
            }
            for l in 0..L {
                mean[l] = if is_rms { 0.0 } else { mean[l] * share };
            }
            let mut variance = [0.0; L];
            for value in values.iter_mut() {
                let centred = zip(*value, mean, |value, mean| value - mean);
                for l in 0..L {
                    variance[l] += centred[l] * centred[l];
                }
                *value = centred;
            }
            let mut rstd = [0.0; L];
            for l in 0..L {
                rstd[l] = 1.0 / (variance[l] * share + eps).sqrt();
            }
            norm.rstd[row] = rstd;
            let output = &mut norm.output[row * width..][..d];
            for i in 0..d {
                one_at_a_time();
                let (gamma, beta) = (gamma[i], beta[i]);
                let normalized = zip(values[i], rstd, |value, rstd| value * rstd);
                values[i] = normalized;
                output[i] = map(normalized, |n| n * gamma + beta);
            }
        }
    }
}

for_each_set! {
    vectors,
    /// The gradients of gamma and beta, a row for each sample: all rows of one, then those of the other.
    fn of_parameters<'a, L>(
        norm: &'a NormValues<L>,
        sizes: [usize; 3],
        gradient: &'a [Lanes<L>],
        samples: &'a mut [f32],
    ) {
        let [rows, width, _] = sizes;
        let (d_gamma, d_beta) = samples.split_at_mut(L * width);
        for column in (0..width).step_by(LANES) {
            let (mut along, mut across) = ([[0.0; L]; LANES], [[0.0; L]; LANES]);
            for i in 0..LANES {
                let normalized = norm.normalized[column + i..].iter().step_by(width);
                let gradient = gradient[column + i..].iter().step_by(width);
                for (dy, n) in gradient.zip(normalized).take(rows) {
                    for l in 0..L {
                        along[i][l] += dy[l] * n[l];
                        across[i][l] += dy[l];
                    }
                }
            }
            for (rows, lanes) in [(&mut *d_gamma, along), (&mut *d_beta, across)] {
                for part in 0..L / LANES {
                    let own = rows[part * LANES * width..].chunks_exact_mut(width);
                    for (own, sample) in own.zip(rows_of_samples(vectors, &lanes, part)) {
                        own[column..][..LANES].copy_from_slice(&sample);
                    }
                }
            }
        }
    }
}

for_each_set! {
    /// From the gradient of the output to that of the input, in place.
    ///
    /// `dr = rho (dn - mean(dn) - n mean(dn · n))` with `dn = gamma ⊙ dy`.
    fn backward<'a, L>(
        norm: &'a NormValues<L>,
        sizes: [usize; 3],
        gamma: &'a [f32],
        gradient: &'a mut [Lanes<L>],
        is_rms: bool,
    ) {
        let [rows, width, d] = sizes;
        let share = 1.0 / d as f32;
        let gamma = &gamma[..d];
        for row in 0..rows {
            let normalized = &norm.normalized[row * width..][..d];
            let gradient = &mut gradient[row * width..][..d];
            let (mut mean, mut along) = ([0.0; L], [0.0; L]);
            for i in 0..d {
                let gamma = gamma[i];
                let dn = map(gradient[i], |dy| dy * gamma);
                for l in 0..L {
                    mean[l] += dn[l];
                    along[l] += dn[l] * normalized[i][l];
                }
                gradient[i] = dn;
            }
            let rstd = norm.rstd[row];
            for l in 0..L {
                mean[l] = if is_rms { 0.0 } else { mean[l] * share };
                along[l] *= share;
            }
            for (gradient, n) in gradient.iter_mut().zip(normalized) {
                one_at_a_time();
                let (dn, n) = (*gradient, *n);
                for l in 0..L {
                    gradient[l] = rstd[l] * (dn[l] - mean[l] - n[l] * along[l]);
                }
            }
        }
    }
}
