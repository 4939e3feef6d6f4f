//! Sums, shifts and the rectifier, element by element.

use crate::instructions::for_each_set;
use crate::lanes::{LANES, Lanes};

for_each_set! {
    pub(super) fn add<'a>(sum: &'a mut [Lanes], other: &'a [Lanes]) {
        for (sum, other) in sum.iter_mut().zip(other) {
            for l in 0..LANES {
                sum[l] += other[l];
            }
        }
    }
}

for_each_set! {
    /// `output[row, i] = input[row, i] + bias[i]`
    pub(super) fn shift<'a>(input: &'a [Lanes], bias: &'a [f32], output: &'a mut [Lanes], width: usize) {
        let rows = input.chunks_exact(width).zip(output.chunks_exact_mut(width));
        for (input, output) in rows {
            for i in 0..width {
                for l in 0..LANES {
                    output[i][l] = input[i][l] + bias[i];
                }
            }
        }
    }
}

for_each_set! {
    pub(super) fn rectify<'a>(values: &'a mut [Lanes]) {
        for value in values {
            for l in 0..LANES {
                value[l] = if value[l] > 0.0 { value[l] } else { 0.0 };
            }
        }
    }
}

for_each_set! {
    pub(super) fn through_rectifier<'a>(values: &'a [Lanes], gradient: &'a mut [Lanes]) {
        for (gradient, value) in gradient.iter_mut().zip(values) {
            for l in 0..LANES {
                gradient[l] = if value[l] > 0.0 { gradient[l] } else { 0.0 };
            }
        }
    }
}

for_each_set! {
    /// Adds all rows to `sum`.
    pub(super) fn add_rows<'a>(rows: &'a [f32], width: usize, sum: &'a mut [f32]) {
        let sum = &mut sum[..width];
        for row in rows.chunks_exact(width) {
            for i in 0..width {
                sum[i] += row[i];
            }
        }
    }
}
