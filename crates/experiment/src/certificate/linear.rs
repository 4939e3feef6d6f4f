//! Matrices of parameters in float64, with what float32 loses in them.

use super::rounding::{SLACK, gamma};

/// Numbers that are known in part: what they are at the middle of a region, how far they go from there within it, how far the engine's
/// float32 can be from either, and a bound of all terms that they are a sum of.
#[derive(Clone, Debug, Default)]
pub(super) struct Vector {
    pub(super) middle: Vec<f64>,
    pub(super) radius: Vec<f64>,
    pub(super) error: Vec<f64>,
    pub(super) size: Vec<f64>,
    /// How far all of them together go from the middle, as a Euclidean length.
    pub(super) ball: f64,
}

impl Vector {
    /// Numbers that the engine has without an error.
    pub(super) fn exact(values: &[f64]) -> Self {
        Self {
            middle: values.to_vec(),
            radius: vec![0.0; values.len()],
            error: vec![0.0; values.len()],
            size: values.iter().map(|value| value.abs()).collect(),
            ball: 0.0,
        }
    }

    pub(super) fn zeros(len: usize) -> Self {
        Self {
            middle: vec![0.0; len],
            radius: vec![0.0; len],
            error: vec![0.0; len],
            size: vec![0.0; len],
            ball: 0.0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.middle.len()
    }

    /// Adds another vector, in float32.
    pub(super) fn add(&mut self, other: &Self) {
        for i in 0..self.len() {
            self.middle[i] += other.middle[i];
            self.radius[i] += other.radius[i];
            let size = self.middle[i].abs() + self.radius[i];
            self.error[i] += other.error[i] + gamma(1) * size;
            self.size[i] = size + self.error[i];
        }
        self.ball += other.ball;
    }

    /// Makes radius and ball agree: neither is above what follows from the other.
    pub(super) fn tighten(&mut self) {
        let squares: f64 = self.radius.iter().map(|radius| radius * radius).sum();
        self.ball = self.ball.min(squares.sqrt());
        for radius in &mut self.radius {
            *radius = radius.min(self.ball);
        }
    }
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
            out.size[o] = out.middle[o].abs() + out.radius[o] + out.error[o];
        }
        out.ball = self.norm * x.ball;
        out.tighten();
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
        out.smooth = self.norm * slope.smooth;
        out.rough = self.norm * slope.rough;
    }
}

/// The largest factor by which a matrix lengthens vectors, or a little more.
///
/// Of the Gram matrix `G`, `‖G‖ <= ‖G^8‖_F^(1/8)`.
fn operator_norm(weight: &[f64], columns: usize) -> f64 {
    let rows = weight.len() / columns.max(1);
    let n = rows.min(columns);
    let cell = |i: usize, j: usize| {
        let pair = |k: usize| match rows < columns {
            true => weight[i * columns + k] * weight[j * columns + k],
            false => weight[k * columns + i] * weight[k * columns + j],
        };
        (0..rows.max(columns)).map(pair).sum::<f64>()
    };
    let mut gram: Vec<f64> = (0..n * n).map(|index| cell(index / n, index % n)).collect();
    let length = |matrix: &[f64]| matrix.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (mut norm, mut power) = (1.0, 1.0);
    for _ in 0..3 {
        let size = length(&gram);
        if size == 0.0 {
            return 0.0;
        }
        norm *= size.powf(power);
        power /= 2.0;
        let scaled: Vec<f64> = gram.iter().map(|x| x / size).collect();
        let cell = |i: usize, j: usize| -> f64 {
            (0..n).map(|k| scaled[i * n + k] * scaled[k * n + j]).sum()
        };
        gram = (0..n * n).map(|index| cell(index / n, index % n)).collect();
    }
    (norm * length(&gram).powf(power)).sqrt() * (1.0 + SLACK)
}

/// The slope of a number by others within a region.
#[derive(Clone, Debug, Default)]
pub(super) struct Slope {
    /// In the middle.
    pub(super) middle: Vec<f64>,
    /// How far it can be from there, as Euclidean lengths: what grows with the way from the middle, and what may jump.
    pub(super) smooth: f64,
    pub(super) rough: f64,
}

impl Slope {
    pub(super) fn len(&self) -> usize {
        self.middle.len()
    }
}
