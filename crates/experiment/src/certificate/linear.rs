//! Matrices of parameters in float64, with what float32 loses in them.

use super::rounding::{SLACK, gamma};

/// Numbers that are known in part.
///
/// Within a region they are `middle + J way + rest`, where the way leads from the region's middle to a sample; `rest` is what is not
/// linear, and what the engine's float32 is off by.
#[derive(Clone, Debug, Default)]
pub(super) struct Vector {
    /// In the middle of the region.
    pub(super) middle: Vec<f64>,
    /// How far each goes from there.
    pub(super) radius: Vec<f64>,
    /// How far all of them together go, as a Euclidean length.
    pub(super) ball: f64,
    /// `J`, and the length of `rest` at most. `[number, way]`; empty where nobody asks for it
    pub(super) slopes: Vec<f64>,
    pub(super) rest: f64,
    /// How far the engine's float32 can be from them, besides.
    pub(super) error: Vec<f64>,
    /// A bound of all terms that they are a sum of.
    pub(super) size: Vec<f64>,
}

impl Vector {
    /// Numbers that the engine has without an error.
    pub(super) fn exact(values: &[f64]) -> Self {
        Self {
            middle: values.to_vec(),
            size: values.iter().map(|value| value.abs()).collect(),
            ..Self::zeros(values.len())
        }
    }

    pub(super) fn zeros(len: usize) -> Self {
        Self {
            middle: vec![0.0; len],
            radius: vec![0.0; len],
            error: vec![0.0; len],
            size: vec![0.0; len],
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.middle.len()
    }

    /// The largest size of a number, or of the engine's.
    pub(super) fn largest(&self, i: usize) -> f64 {
        self.middle[i].abs() + self.radius[i] + self.error[i]
    }

    /// Adds another vector, in float32: one by one the `terms` that it is the sum of.
    pub(super) fn add(&mut self, other: &Self, terms: usize) {
        let gamma = gamma(terms);
        for i in 0..self.len() {
            let sizes = self.largest(i) + other.largest(i);
            self.middle[i] += other.middle[i];
            self.radius[i] += other.radius[i];
            self.error[i] += other.error[i] + gamma * sizes;
            self.size[i] = self.largest(i);
        }
        for (slope, other) in self.slopes.iter_mut().zip(&other.slopes) {
            *slope += other;
        }
        self.ball += other.ball;
        self.rest += other.rest;
    }

    /// Counts the engine's errors, which become `rounding`, as a part of the rest: from here on the vector is the engine's.
    pub(super) fn settle(&mut self, rounding: &mut Vec<f64>) {
        rounding.clone_from(&self.error);
        let numbers = self.radius.iter_mut().zip(&mut self.size);
        for ((radius, size), error) in numbers.zip(&self.error) {
            *radius += error;
            *size += error;
        }
        let length = norm(&self.error);
        self.rest += length;
        self.ball += length;
        self.error.fill(0.0);
    }

    /// The rows of `J`, one for each number.
    pub(super) fn rows(&self) -> core::slice::ChunksExact<'_, f64> {
        self.slopes
            .chunks_exact((self.slopes.len() / self.len().max(1)).max(1))
    }

    /// Makes radius, ball and slopes agree: none is above what follows from the others, for ways no longer than `reach`.
    pub(super) fn tighten(&mut self, reach: f64) {
        if !self.slopes.is_empty() {
            let length = operator_norm(&self.slopes, self.slopes.len() / self.len());
            self.ball = self.ball.min(length * reach + self.rest);
            let mut radius = core::mem::take(&mut self.radius);
            for (radius, row) in radius.iter_mut().zip(self.rows()) {
                *radius = radius.min(norm(row) * reach + self.rest);
            }
            self.radius = radius;
        }
        self.ball = self.ball.min(norm(&self.radius));
        for radius in &mut self.radius {
            *radius = radius.min(self.ball);
        }
    }
}

/// A Euclidean length.
pub(super) fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// `x W + b`.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    /// `[in, out]`
    pub(super) weight: Vec<f64>,
    /// `[out]`
    pub(super) bias: Vec<f64>,
    /// No vector gets longer by more than this factor.
    norm: f64,
    /// The same for each output. `[out]`
    norms: Vec<f64>,
}

impl Linear {
    /// From parameters: a matrix with `out` columns, and a bias or none.
    pub(super) fn new(weight: &[f32], out: usize, bias: Option<&[f32]>) -> Self {
        let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        Self::of(wide(weight), bias.map_or_else(|| vec![0.0; out], wide))
    }

    fn of(weight: Vec<f64>, bias: Vec<f64>) -> Self {
        let mut squares = vec![0.0; bias.len()];
        for row in weight.chunks_exact(bias.len()) {
            for (square, weight) in squares.iter_mut().zip(row) {
                *square += weight * weight;
            }
        }
        Self {
            norm: operator_norm(&weight, bias.len()),
            norms: squares.into_iter().map(f64::sqrt).collect(),
            weight,
            bias,
        }
    }

    /// What changes nothing.
    pub(super) fn identity(size: usize) -> Self {
        let cell = |index: usize| f64::from(u8::from(index.is_multiple_of(size + 1)));
        Self::of((0..size * size).map(cell).collect(), vec![0.0; size])
    }

    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// `x W + b`, for plain numbers.
    pub(super) fn value(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(&self.bias);
        for (x, row) in x.iter().zip(self.weight.chunks_exact(self.outputs())) {
            for (out, weight) in out.iter_mut().zip(row) {
                *out += x * weight;
            }
        }
    }

    pub(super) fn forward(&self, x: &Vector, out: &mut Vector) {
        let count = self.outputs();
        *out = Vector::zeros(count);
        out.middle.copy_from_slice(&self.bias);
        for (size, bias) in out.size.iter_mut().zip(&self.bias) {
            *size = bias.abs();
        }
        for (i, row) in self.weight.chunks_exact(count).enumerate() {
            let (middle, radius, error, size) = (x.middle[i], x.radius[i], x.error[i], x.size[i]);
            for (o, &weight) in row.iter().enumerate() {
                let factor = weight.abs();
                out.middle[o] += middle * weight;
                out.radius[o] += radius * factor;
                out.error[o] += error * factor;
                out.size[o] += size * factor;
            }
        }
        // The terms and the bias; and where the engine multiplies by a norm's gain first, three more roundings.
        let gamma = gamma(x.len() + 4);
        for o in 0..count {
            out.error[o] += gamma * out.size[o];
            out.radius[o] = out.radius[o].min(self.norms[o] * x.ball);
            out.size[o] = out.largest(o);
        }
        out.ball = self.norm * x.ball;
        out.rest = self.norm * x.rest;
        let width = x.slopes.len() / x.len().max(1);
        out.slopes.resize(count * width, 0.0);
        for (row, weights) in x.rows().zip(self.weight.chunks_exact(count)) {
            for (out, weight) in out.slopes.chunks_exact_mut(width.max(1)).zip(weights) {
                for (out, slope) in out.iter_mut().zip(row) {
                    *out += weight * slope;
                }
            }
        }
    }

    /// The slope by the input, from the slope by the output.
    pub(super) fn backward(&self, slope: &Slope, out: &mut Slope) {
        out.middle.clear();
        for row in self.weight.chunks_exact(self.outputs()) {
            let products = row
                .iter()
                .zip(&slope.middle)
                .map(|(weight, slope)| weight * slope);
            out.middle.push(products.sum());
        }
        out.rest = slope.rest;
    }
}

/// The largest factor by which a matrix lengthens vectors, or a little more.
///
/// Of the Gram matrix `G`, `‖G‖ <= ‖G^8‖_F^(1/8)`; of large matrices `‖G‖_F`, which takes less time.
fn operator_norm(weight: &[f64], columns: usize) -> f64 {
    /// Rows of a Gram matrix that is multiplied by itself.
    const SMALL: usize = 16;
    let rows = weight.len() / columns.max(1);
    let n = rows.min(columns);
    if n > SMALL {
        return norm(weight) * (1.0 + SLACK);
    }
    let cell = |i: usize, j: usize| {
        let pair = |k: usize| {
            let [a, b] = if rows < columns {
                [i * columns + k, j * columns + k]
            } else {
                [k * columns + i, k * columns + j]
            };
            weight[a] * weight[b]
        };
        (0..rows.max(columns)).map(pair).sum::<f64>()
    };
    let mut gram: Vec<f64> = (0..n * n).map(|index| cell(index / n, index % n)).collect();
    let (mut product, mut power) = (1.0, 1.0);
    for _ in 0..3 {
        let size = norm(&gram);
        if size == 0.0 {
            return 0.0;
        }
        product *= size.powf(power);
        power /= 2.0;
        for x in &mut gram {
            *x /= size;
        }
        let cell = |i: usize, j: usize| -> f64 {
            let pairs = gram[i * n..(i + 1) * n]
                .iter()
                .zip(&gram[j * n..(j + 1) * n]);
            pairs.map(|(a, b)| a * b).sum()
        };
        gram = (0..n * n).map(|index| cell(index / n, index % n)).collect();
    }
    (product * norm(&gram).powf(power)).sqrt() * (1.0 + SLACK)
}

/// The slope of a number by others, in the middle of a region.
#[derive(Clone, Debug, Default)]
pub(super) struct Slope {
    pub(super) middle: Vec<f64>,
    /// How far the number can be off what all slopes on the way to it say.
    pub(super) rest: f64,
}

impl Slope {
    /// Adds what comes of a rest of each number.
    pub(super) fn add_rests<'r>(&mut self, rests: impl IntoIterator<Item = &'r f64>) {
        let rests = self.middle.iter().zip(rests);
        self.rest += rests.map(|(slope, rest)| slope.abs() * rest).sum::<f64>();
    }

    pub(super) fn len(&self) -> usize {
        self.middle.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_have_a_size() {
        assert_eq!(Vector::exact(&[-2.0, 0.5]).size, [2.0, 0.5]);
    }

    /// The largest factor by iteration from a start that has a part of every direction.
    fn iterated(weight: &[f64], columns: usize) -> f64 {
        let mut x: Vec<f64> = (0..columns).map(|i| 1.0 + (i as f64).sin()).collect();
        let mut factor = 0.0;
        for _ in 0..5000 {
            let y = weight
                .chunks_exact(columns)
                .map(|row| row.iter().zip(&x).map(|(a, b)| a * b).sum());
            let y: Vec<f64> = y.collect();
            factor = norm(&y) / norm(&x);
            let back = |column: usize| {
                y.iter()
                    .zip(weight[column..].iter().step_by(columns))
                    .map(|(a, b)| a * b)
                    .sum()
            };
            x = (0..columns).map(back).collect();
            let length = norm(&x);
            for x in &mut x {
                *x /= length;
            }
        }
        factor
    }

    #[test]
    fn matrices_lengthen_vectors_by_no_more_than_their_norm() {
        let mut looseness = 1.0_f64;
        for (rows, columns) in [
            (1, 1),
            (1, 5),
            (7, 1),
            (3, 4),
            (8, 8),
            (12, 5),
            (16, 40),
            (24, 24),
        ] {
            for seed in 0..20 {
                let cell = |i: usize| (((seed * 977 + i * 131 + i * i) % 1009) as f64 + 0.5).sin();
                let weight: Vec<f64> = (0..rows * columns).map(cell).collect();
                let (bound, largest) =
                    (operator_norm(&weight, columns), iterated(&weight, columns));
                assert!(
                    bound >= largest * (1.0 - 1e-9),
                    "{rows} {columns}: {bound} is below {largest}"
                );
                if rows.min(columns) <= 16 {
                    looseness = looseness.max(bound / largest);
                }
            }
        }
        // Of 16 directions that are all as long, `16^(1/16)`.
        assert!(looseness < 1.19, "{looseness}");
        assert!(operator_norm(&[0.0; 6], 3).abs() < 1e-300);
    }
}
