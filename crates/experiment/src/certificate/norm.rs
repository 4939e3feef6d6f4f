//! Layer norm and RMS norm of numbers that are known in part.

use super::linear::{Slope, Vector, norm};
use super::rounding::{UNIT, gamma};

/// `gamma ⊙ (x - mean(x)) / s + beta`, with `s = sqrt(variance(x) + eps)`; RMS norm does not subtract the mean.
#[derive(Clone, Debug)]
pub(super) struct Norm {
    pub(super) gain: Vec<f64>,
    pub(super) bias: Vec<f64>,
    pub(super) eps: f64,
    pub(super) is_rms: bool,
}

/// Of second derivatives: the largest length is `2 / sqrt(3)`, where `a` and `t` are parallel and `‖t‖² = 1/3`, for example.
const BEND: f64 = 1.155;

/// What the backward pass needs of a forward pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Normalized {
    values: Vec<f64>,
    /// `s` in the middle, and the least of the region.
    s: f64,
    least: f64,
    /// That of the input.
    ball: f64,
}

impl Norm {
    /// In place, for plain numbers.
    pub(super) fn value(&self, x: &mut [f64]) {
        let share = 1.0 / x.len() as f64;
        if !self.is_rms {
            let mean = x.iter().sum::<f64>() * share;
            for x in x.iter_mut() {
                *x -= mean;
            }
        }
        let square = x.iter().map(|x| x * x).sum::<f64>() * share;
        let inverse = 1.0 / (square + self.eps).sqrt();
        for ((x, gain), bias) in x.iter_mut().zip(&self.gain).zip(&self.bias) {
            *x = *x * inverse * gain + bias;
        }
    }

    /// In place, for ways no longer than `reach`.
    pub(super) fn forward(&self, x: &mut Vector, reach: f64, kept: &mut Normalized) {
        let n = x.len();
        let share = 1.0 / n as f64;
        if !self.is_rms {
            centre(x);
        }
        let root = |square: f64| (square * share + self.eps).sqrt();
        let s = root(x.middle.iter().map(|c| c * c).sum());
        // `s` changes by at most the root mean square of the changes.
        x.tighten(reach);
        let change = x.ball * share.sqrt();
        let least = (s - change).max(self.eps.sqrt());
        let (low, high) = (1.0 / (s + change), 1.0 / least);
        (kept.s, kept.least, kept.ball) = (s, least, x.ball);
        let largest = |i: usize| x.middle[i].abs() + x.radius[i];
        let (mut squares, mut along, mut errors) = (0.0, 0.0, 0.0);
        for (i, error) in x.error.iter().enumerate() {
            squares += largest(i) * largest(i);
            along += largest(i) * error;
            errors += error * error;
        }
        let of_squares = 2.0 * along + errors;
        let of_square = share * (of_squares + gamma(n + 3) * (squares + of_squares));
        let relative = of_square / (least * least);
        // A root is off by half as much; more where that is not small.
        let of_inverse = if relative < 0.5 {
            relative / (1.0 - relative) + 4.0 * UNIT
        } else {
            f64::INFINITY
        };
        // What is normalised is not above this, nor what the engine makes of it: then twice as much is what they can differ by.
        let most = 2.0 * (n as f64).sqrt() * (1.0 + gamma(n + 8));
        kept.values.clear();
        for i in 0..n {
            let c = x.middle[i];
            let value = c / s;
            let radius = x.radius[i] * high + c.abs() * (high - 1.0 / s).max(1.0 / s - low);
            let radius = radius.min(x.ball * high);
            kept.values.push(value);
            let (gain, bias) = (self.gain[i], self.bias[i]);
            let size = value.abs() + radius;
            let error = (x.error[i] * high + size * (of_inverse + 2.0 * UNIT)) * (1.0 + of_inverse);
            let error = error.min(most) * gain.abs();
            x.middle[i] = value * gain + bias;
            x.radius[i] = radius * gain.abs();
            x.size[i] = size * gain.abs() + bias.abs() + error;
            x.error[i] = error + 3.0 * UNIT * x.size[i];
        }
        self.turn_slopes(kept, x);
        let gain = self.largest_gain();
        x.rest = gain * (high * x.rest + kept.bend());
        x.ball *= high * gain;
    }

    fn largest_gain(&self) -> f64 {
        self.gain
            .iter()
            .fold(0.0, |most, gain| gain.abs().max(most))
    }

    /// The slopes of what is normalised, from those of the centred input.
    fn turn_slopes(&self, kept: &Normalized, x: &mut Vector) {
        if x.slopes.is_empty() {
            return;
        }
        let width = x.slopes.len() / kept.values.len();
        let mut along = vec![0.0; width];
        for (row, value) in x.slopes.chunks_exact(width).zip(&kept.values) {
            for (along, slope) in along.iter_mut().zip(row) {
                *along += value * slope / kept.values.len() as f64;
            }
        }
        for ((row, value), gain) in x
            .slopes
            .chunks_exact_mut(width)
            .zip(&kept.values)
            .zip(&self.gain)
        {
            for (slope, along) in row.iter_mut().zip(&along) {
                *slope = (*slope - value * along) * gain / kept.s;
            }
        }
    }

    /// The slope by the input, from the slope by the output, in place.
    ///
    /// `dx = (dn - mean(dn) - n mean(dn · n)) / s` with `dn = gamma ⊙ dy`.
    pub(super) fn backward(&self, kept: &Normalized, slope: &mut Slope) {
        let n = slope.len();
        let share = 1.0 / n as f64;
        let (mut mean, mut along) = (0.0, 0.0);
        for i in 0..n {
            slope.middle[i] *= self.gain[i];
            mean += slope.middle[i] * share;
            along += slope.middle[i] * kept.values[i] * share;
        }
        if self.is_rms {
            mean = 0.0;
        }
        for slope in &mut slope.middle {
            *slope -= mean;
        }
        slope.rest += norm(&slope.middle) * kept.bend();
        for (slope, value) in slope.middle.iter_mut().zip(&kept.values) {
            *slope = (*slope - value * along) / kept.s;
        }
    }
}

impl Normalized {
    /// How far what is normalised, without the gain, can be off its slopes: half of its second derivative times the square of the
    /// way, in any direction of length 1. With `t = c / (s sqrt(d))`, which is not longer than 1, the second derivative of `a · n` is
    ///
    /// ```text
    /// (-(a tᵀ + t aᵀ) - (a · t)(I - 3 t tᵀ)) / (s² sqrt(d))
    /// ```
    ///
    /// and no longer than `BEND ‖a‖ / (s² sqrt(d))`.
    fn bend(&self) -> f64 {
        let share = 1.0 / self.values.len() as f64;
        BEND / 2.0 * share.sqrt() * (self.ball / self.least) * (self.ball / self.least)
    }
}

/// Subtracts the mean.
fn centre(x: &mut Vector) {
    let width = x.slopes.len() / x.len();
    for column in 0..width {
        let column = || (0..x.middle.len()).map(move |row| row * width + column);
        let mean = column().map(|cell| x.slopes[cell]).sum::<f64>() / x.middle.len() as f64;
        column().for_each(|cell| x.slopes[cell] -= mean);
    }
    let n = x.len();
    let share = 1.0 / n as f64;
    let mean = x.middle.iter().sum::<f64>() * share;
    let radius = x.radius.iter().sum::<f64>() * share;
    let error =
        x.error.iter().sum::<f64>() * share + gamma(n + 1) * x.size.iter().sum::<f64>() * share;
    for i in 0..n {
        x.middle[i] -= mean;
        // Its own share of the mean moves with it.
        x.radius[i] = x.radius[i] * (1.0 - 2.0 * share) + radius;
        x.error[i] += error;
        x.error[i] += gamma(1) * x.largest(i);
    }
}

#[cfg(test)]
mod tests {
    use super::{BEND, Vector, centre};

    /// The numbers at all corners of a box, less their means: the farthest of them are known exactly.
    #[test]
    fn centring_moves_a_box_to_the_least_box_around_it() {
        let (middle, radius) = ([1.0, -3.0, 0.5, 6.0], [1.0, 2.0, 0.0, 4.0]);
        let mut x = Vector::zeros(4);
        x.middle.copy_from_slice(&middle);
        x.radius.copy_from_slice(&radius);
        centre(&mut x);
        let mut farthest = [0.0_f64; 4];
        for corner in 0..16 {
            let side = |i: usize| if corner >> i & 1 == 0 { -1.0 } else { 1.0 };
            let at: Vec<f64> = (0..4).map(|i| middle[i] + side(i) * radius[i]).collect();
            let mean = at.iter().sum::<f64>() / 4.0;
            for i in 0..4 {
                farthest[i] = farthest[i].max(at[i] - mean - (middle[i] - 1.125));
            }
        }
        for i in 0..4 {
            assert!((x.middle[i] - (middle[i] - 1.125)).abs() < 1e-12);
            assert!(
                (x.radius[i] - farthest[i]).abs() < 1e-12,
                "{i}: {} {}",
                x.radius[i],
                farthest[i]
            );
        }
    }

    /// The length of the matrix of `bend` for a vector `a` of length 1, and `t` at an angle from it. It maps the plane of both to itself,
    /// and takes what is across to `-(a · t)` times itself.
    fn length(t: f64, angle: f64) -> f64 {
        let (x, y) = (t * angle.cos(), t * angle.sin());
        // In the plane, where `a` is (1, 0) and `t` is (x, y).
        let [xx, xy, yy] = [
            -2.0 * x - x * (1.0 - 3.0 * x * x),
            -y + 3.0 * x * x * y,
            -x * (1.0 - 3.0 * y * y),
        ];
        let (middle, radius) = (f64::midpoint(xx, yy), f64::hypot((xx - yy) / 2.0, xy));
        (middle.abs() + radius).max(x.abs())
    }

    #[test]
    fn second_derivatives_of_norms_are_no_longer_than_their_bound() {
        let steps = 2000;
        let share = |step: i32| f64::from(step) / f64::from(steps);
        let mut largest = 0.0_f64;
        for t in 0..=steps {
            for angle in 0..=steps {
                let (t, angle) = (share(t), share(angle) * core::f64::consts::PI);
                largest = largest.max(length(t, angle));
            }
        }
        assert!((1.1546..BEND).contains(&largest), "{largest}");
    }
}
