//! Layer norm of each row: `gamma ⊙ n + beta`, `n = (r - mean(r)) rho`, `rho = 1 / sqrt(variance(r) + eps)`. RMS norm is
//! the same with a mean of 0, in both directions.

use headlight_architecture::NormKind;

use crate::aligned::Aligned;
use crate::gradients::Gradients;
use crate::instructions::for_each_isa;
use crate::kernel::Kernel;
use crate::lanes::{LANES, Lanes, map, one_at_a_time, zip};
use crate::parameters::Norm;
use crate::vectors::rows_of_samples;

/// The values of a norm.
#[derive(Clone, Debug)]
pub(crate) struct NormValues<const L: usize> {
    /// Before the norm; then normalised, before gain and bias. `[position, d_model]`
    pub(crate) normalized: Aligned<L>,
    /// One over the standard deviation. `[position]`
    rstd: Aligned<L>,
    /// `[position, d_model]`
    pub(crate) output: Aligned<L>,
}

impl<const L: usize> NormValues<L> {
    /// Room for rows of a padded width.
    pub(crate) fn new(rows: usize, width: usize) -> Self {
        Self {
            normalized: Aligned::zeros(rows * width),
            rstd: Aligned::zeros(rows),
            output: Aligned::zeros(rows * width),
        }
    }

    /// Normalises rows.
    pub(crate) fn forward_of(&mut self, k: Kernel<'_>, slots: Norm, input: &[Lanes<L>]) {
        self.normalized[..input.len()].copy_from_slice(input);
        self.forward(k, slots, input.len() / slots.gamma.stride);
    }

    /// Normalises the first rows of `normalized`.
    pub(crate) fn forward(&mut self, k: Kernel<'_>, slots: Norm, rows: usize) {
        normalize(k.isa, k, slots, rows, self);
    }

    /// From the gradient of the output to that of the input, in place; adds that of gamma and beta.
    pub(crate) fn backward(
        &self,
        k: Kernel<'_>,
        slots: Norm,
        gradient: &mut [Lanes<L>],
        gradients: &mut Gradients<'_>,
    ) {
        gradients.rows(L, [slots.gamma, slots.beta], |rows| {
            backward_parameters(k.isa, self, slots.gamma.stride, gradient, rows);
        });
        backward(k.isa, k, slots, self, gradient);
    }
}

for_each_isa! {
    /// Normalises the first rows of `norm.normalized` in place, and writes them with gain and bias to `norm.output`.
    fn normalize<'a, L>(k: Kernel<'a>, slots: Norm, rows: usize, norm: &'a mut NormValues<L>) {
        let (d, width, eps) = (slots.gamma.columns, slots.gamma.stride, k.eps);
        let share = 1.0 / d as f32;
        let (gamma, beta) = (&k.numbers(slots.gamma)[..d], &k.numbers(slots.beta)[..d]);
        for row in 0..rows {
            let values = &mut norm.normalized[row * width..][..d];
            let mut mean = [0.0; L];
            for value in values.iter() {
                mean = zip(mean, *value, |mean, value| mean + value);
            }
            let mean = match k.norm_kind {
                NormKind::Layer => map(mean, |mean| mean * share),
                NormKind::Rms => [0.0; L],
            };
            let mut variance = [0.0; L];
            for value in values.iter_mut() {
                let centred = zip(*value, mean, |value, mean| value - mean);
                variance = zip(variance, centred, |variance, centred| variance + centred * centred);
                *value = centred;
            }
            let rstd = map(variance, |variance| 1.0 / (variance * share + eps).sqrt());
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

for_each_isa! {
    vectors,
    /// `dgamma = Σ dy ⊙ n` and `dbeta = Σ dy` over positions, a row for each sample: all rows of one, then those of the other.
    fn backward_parameters<'a, L>(
        norm: &'a NormValues<L>, width: usize, gradient: &'a [Lanes<L>], samples: &'a mut [f32],
    ) {
        let rows = gradient.len() / width;
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
                    let rows = rows[part * LANES * width..].chunks_exact_mut(width);
                    for (row, sample) in rows.zip(rows_of_samples(vectors, &lanes, part)) {
                        row[column..][..LANES].copy_from_slice(&sample);
                    }
                }
            }
        }
    }
}

for_each_isa! {
    /// From the gradient of the output to that of the input, in place.
    ///
    /// `dr = rho (dn - mean(dn) - n mean(dn · n))` with `dn = gamma ⊙ dy`.
    fn backward<'a, L>(k: Kernel<'a>, slots: Norm, norm: &'a NormValues<L>, gradient: &'a mut [Lanes<L>]) {
        let (d, width) = (slots.gamma.columns, slots.gamma.stride);
        let rows = gradient.len() / width;
        let share = 1.0 / d as f32;
        let gamma = &k.numbers(slots.gamma)[..d];
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
            let mean = match k.norm_kind {
                NormKind::Layer => map(mean, |mean| mean * share),
                NormKind::Rms => [0.0; L],
            };
            let along = map(along, |along| along * share);
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
